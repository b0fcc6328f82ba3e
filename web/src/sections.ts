/** The parts of a result that are words and tables. */
import { brackets } from "./charts";
import { counted, figure, grouped, h, interval, percent, section, short, table } from "./dom";
import { allExact, fields, type Fields, type Result, type Statistics, type Value } from "./read";

const outcomeWords: { [name: string]: string } = {
  exact: "every point of the ball was asked: γ is exact",
  sampled: "a part of the ball was asked; the interval is for the whole ball",
  floor: "stopped, because the interval was as narrow as the floor",
  sparse: "too few of the directions drawn carry γ to say how large it is: no upper end",
  budget: "the evaluations ran out before these were done",
  unmoved: "no feature may be moved: no value",
  crossing: "the class changes there, and the boundary's normal was found if it was asked for",
  partial: "in some directions no boundary was found: the angle is at most what is said",
  flat: "the answers do not change within the step: no normal",
  none: "no class change on the points that were looked at",
  equal: "both ends are the same: no segment",
  undefined: "the angle of a zero vector: no value",
};

function card(label: string, value: Node | string, below: Node | string | null): HTMLElement {
  return h("div", { class: "card" }, h("dt", {}, label), h("dd", {}, h("strong", {}, value), below && h("span", {}, below)));
}

/** The mean with its interval, large, and what goes with it. */
export function summary(result: Result): HTMLElement | null {
  const gamma = result.gamma;
  if (gamma === null || gamma.mean === null) {
    return result.command === "gamma" ? h("p", { class: "lead" }, "No row has a value of γ; the outcomes below say why.") : null;
  }
  const sure = percent(result.confidence);
  const rows = gamma.rows ?? 0;
  const cards = [
    card("mean γ", figure(gamma.mean), h("span", {}, `${sure} interval `, interval(gamma.low, gamma.high, allExact(result.outcomes)))),
    card("root mean square", figure(gamma.rms), gamma.rms === null ? "not known" : "weighs large γ more"),
    card("share of the spread", gamma.relative === null ? "–" : percentOf(gamma.relative), "mean γ over the output's standard deviation"),
    card("rows", h("data", { value: String(rows) }, grouped(rows)), result.evaluations === null ? null : `${grouped(result.evaluations)} evaluations`),
  ];
  return h("div", { class: "summary" }, h("p", { class: "lead" }, sentence(result, gamma)), about(result), h("dl", { class: "cards" }, cards));
}

function percentOf(share: number): HTMLElement {
  return h("data", { value: String(share), title: String(share) }, percent(share));
}

function sentence(result: Result, gamma: Statistics): string {
  const rows = gamma.rows ?? 0;
  const radius = typeof result.options.radius === "number" ? ` within radius ${short(result.options.radius)}` : "";
  const start = `Around ${rows === 1 ? "the row" : `${counted(rows, "row")}`} of ${result.source} the model is ${short(gamma.mean)} from harmonic${rows === 1 ? "" : " on average"}${radius}.`;
  if (rows < 2 || gamma.low === null || result.intervals !== null) return start;
  const to = gamma.high === null ? `is at least ${short(gamma.low)}; an upper end is not known` : `lies between ${short(gamma.low)} and ${short(gamma.high)}`;
  return `${start} If these rows are a random sample of many, the mean of the many ${to} (${percent(result.confidence)}).`;
}

/** What the intervals are about, where the result says it. */
function about(result: Result): HTMLElement | null {
  return result.intervals === null ? null : h("p", { class: "note" }, `Intervals: ${result.intervals}.`);
}

export function warnings(result: Result): HTMLElement | null {
  if (result.warnings.length === 0) return null;
  return h("aside", { class: "warnings" }, h("h3", {}, "Warnings"), h("ul", {}, result.warnings.map((w) => h("li", {}, w))));
}

/** How many rows have a value; how they came about, where not all of them are exact. */
function measured(rows: number | null, outcomes: [string, number][]): string {
  if (outcomes.length > 0 && !allExact(outcomes)) return outcomes.map(([name, count]) => `${grouped(count)} ${name}`).join(", ");
  return rows === null ? "–" : grouped(rows);
}

export function compared(result: Result): HTMLElement | null {
  if (result.command !== "compare") return null;
  const ranked = [...result.models].sort((a, b) => (a.rank ?? Infinity) - (b.rank ?? Infinity));
  const rows = ranked.map((m) => [
    m.rank === null ? "–" : String(m.rank),
    m.name,
    figure(m.gamma.mean),
    interval(m.gamma.low, m.gamma.high, allExact(m.outcomes)),
    figure(m.gamma.rms),
    m.gamma.relative === null ? "–" : percentOf(m.gamma.relative),
    measured(m.gamma.rows, m.outcomes),
  ]);
  const sure = percent(result.confidence);
  const caption = `Models by their mean γ, the least first. Models of the same rank cannot be told apart at ${sure}.`;
  return section(
    "The models compared",
    result.text !== null && h("p", { class: "lead" }, result.text),
    about(result),
    table(caption, ["rank", "model", "mean γ", `${sure} interval`, "rms", "of the output's spread", "rows"], rows, [true, false, true, true, true, true, true]),
    brackets(
      "mean gamma of each model with its interval",
      "mean γ",
      ranked.map((m) => ({ name: m.name, middle: m.gamma.mean, low: m.gamma.low, high: m.gamma.high, detail: "", strong: true })),
      false,
    ),
  );
}

function verdict(a: string, b: string, word: string): string {
  if (word === "a_lower") return `${a} is lower`;
  if (word === "b_lower") return `${b} is lower`;
  return word.replaceAll("_", " ");
}

export function differences(result: Result): HTMLElement | null {
  if (result.pairs.length === 0) return null;
  const sure = percent(result.confidence);
  const left = result.rowCount > result.rowsKept ? ` The first ${grouped(result.rowsKept)} of ${grouped(result.rowCount)} pairs are shown.` : "";
  const rows = result.pairs.map((p) => [p.a, p.b, figure(p.difference), interval2(p.low, p.high), verdict(p.a, p.b, p.verdict)]);
  const drawn = result.pairs.slice(0, 40);
  return section(
    "Pair by pair",
    h("p", { class: "note" }, `Differences of mean γ over the same rows, with ${sure} intervals. An interval that holds 0 leaves open which of the two is lower.${left}`),
    brackets(
      "differences of mean gamma, pair by pair",
      "γ of the first − γ of the second",
      drawn.map((p) => ({ name: `${p.a} − ${p.b}`, middle: p.difference, low: p.low, high: p.high, detail: verdict(p.a, p.b, p.verdict), strong: p.verdict.endsWith("lower") })),
      true,
    ),
    h("details", {}, h("summary", {}, "The numbers"), table("Differences of mean γ", ["first", "second", "difference", `${sure} interval`, "verdict"], rows, [false, false, true, true, false])),
  );
}

function interval2(low: number | null, high: number | null): HTMLElement {
  return h("span", { class: "interval" }, "[", low === null ? "?" : figure(low), ", ", high === null ? "?" : figure(high), "]");
}

/** With other sweeps on the page the numbers fold away: the plot that they share says more. */
export function sweepTable(result: Result, folded: boolean): HTMLElement | null {
  if (result.sweep.length === 0) return null;
  const sure = percent(result.confidence);
  const rows = result.sweep.map((p) => [figure(p.radius), figure(p.mean), interval(p.low, p.high, allExact(p.outcomes)), figure(p.rms), p.relative === null ? "–" : percentOf(p.relative), measured(p.rows, p.outcomes)]);
  const numbers = table(`γ of ${result.model} by radius`, ["radius", "mean γ", `${sure} interval`, "rms", "of the output's spread", "rows"], rows, [true, true, true, true, true, true]);
  return section("The radii", result.text !== null && h("p", { class: "lead" }, result.text), folded ? h("details", {}, h("summary", {}, "The numbers"), about(result), numbers) : [about(result), numbers]);
}

export function segments(result: Result): HTMLElement | null {
  if (result.segments === null || result.segments.values.length === 0) return null;
  const { by, values } = result.segments;
  const drawn = values.slice(0, 40);
  const sure = percent(result.confidence);
  return section(
    `By ${by}`,
    values.length > drawn.length && h("p", { class: "note" }, `The first ${drawn.length} of ${values.length} are drawn; the table has all.`),
    brackets(
      `mean gamma by ${by}`,
      "mean γ",
      drawn.map((s) => ({ name: s.value, middle: s.mean, low: s.low, high: s.high, detail: s.rows === null ? "" : counted(s.rows, "row"), strong: true })),
      false,
    ),
    h(
      "details",
      {},
      h("summary", {}, "The numbers"),
      table(`γ by ${by}`, [by, "rows", "mean γ", `${sure} interval`], values.map((s) => [s.value, s.rows === null ? "–" : grouped(s.rows), figure(s.mean), interval(s.low, s.high, allExact(result.outcomes))]), [false, true, true, true]),
    ),
  );
}

export function columns(result: Result): HTMLElement | null {
  if (result.columns.length === 0) return null;
  const shown = result.columns.slice(0, 40);
  return section(
    "Output by output",
    shown.length < result.columns.length && h("p", { class: "note" }, `The first ${shown.length} of ${result.columns.length}.`),
    brackets("mean gamma of each output", "mean γ", shown.map((s, k) => ({ name: `output ${k}`, middle: s.mean, low: s.low, high: s.high, detail: "", strong: true })), false),
  );
}

export function explained(result: Result): HTMLElement | null {
  if (result.explain.length === 0) return null;
  return section(
    "The features that weigh most",
    table("Features by their mean absolute contribution to γ, in the rows that name them", ["feature", "contribution"], result.explain.map(([name, value]) => [name, figure(value)]), [false, true]),
  );
}

const shownFeatures = 8;

export function worst(result: Result): HTMLElement | null {
  if (result.worst.length === 0) return null;
  const first = result.worst[0]?.values.map(([name]) => name) ?? [];
  const names = first.slice(0, shownFeatures);
  const labelled = result.worst.some((r) => r.label !== null);
  const decided = result.worst.some((r) => r.class !== null);
  const head = ["row", ...(labelled ? ["label"] : []), ...(decided ? ["class"] : []), "γ", `${percent(result.confidence)} interval`, "output", ...names];
  const rows = result.worst.map((r) => {
    const values = new Map(r.values);
    return [
      h("span", { title: r.outcome }, r.name),
      ...(labelled ? [r.label ?? "–"] : []),
      ...(decided ? [r.class === null ? "–" : String(r.class)] : []),
      figure(r.gamma),
      interval(r.low, r.high, r.outcome === "exact"),
      figure(r.value),
      ...names.map((name) => figure(values.get(name) ?? null)),
    ];
  });
  const numeric = head.map((_, i) => i > (labelled ? 1 : 0));
  const inputs = typeof result.data.inputs === "number" ? result.data.inputs : first.length;
  const left = inputs > names.length && names.length > 0 ? ` The first ${names.length} of ${grouped(inputs)} features are shown.` : "";
  const valued = names.length > 0 ? (result.worst.length === 1 ? ", with its values" : ", with their values") : "";
  const text = result.worst.length === 1 ? "The row that was measured" + valued + "." : `The ${result.worst.length} rows of largest γ, largest first${valued}.${left}`;
  return section("The rows of largest γ", table(text, head, rows, numeric));
}

export function outcomes(result: Result): HTMLElement | null {
  if (result.outcomes.length === 0) return null;
  return section(
    "How the numbers came about",
    h("ul", { class: "outcomes" }, result.outcomes.map(([name, count]) => h("li", {}, h("strong", {}, counted(count, "row")), ` ${name}: ${outcomeWords[name] ?? "see the documentation"}.`))),
  );
}

export function meaning(): HTMLElement {
  return section(
    "What the numbers do not mean",
    h(
      "ul",
      {},
      h("li", {}, "A small γ does not say that the model is right. A constant has γ = 0, and so has every linear function."),
      h("li", {}, "A large γ does not say that it is wrong. It says that the model bends within the radius."),
      h("li", {}, "γ of different models compares only at the same radius, scale, ball and output."),
      h("li", {}, "Intervals of the mean take the rows as a random sample. For a grid, or rows that somebody chose, they say less."),
    ),
  );
}

function optionText(value: Value): string {
  if (value === null) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function facts(caption: string, entries: [string, string][]): HTMLElement {
  return table(caption, ["", ""], entries, [false, false]);
}

function described(source: Fields, skip: string[] = []): [string, string][] {
  return Object.entries(source)
    .filter(([name, value]) => !skip.includes(name) && value !== null && value !== false)
    .map(([name, value]) => [name.replaceAll("_", " "), optionText(value)]);
}

export function repeat(result: Result): HTMLElement {
  const said = h("span", { class: "said", role: "status" });
  const line = h("code", { tabindex: 0 }, result.commandLine);
  const copy = h(
    "button",
    {
      type: "button",
      click: () => {
        const done = (): void => {
          said.textContent = "copied";
          setTimeout(() => (said.textContent = ""), 2000);
        };
        const select = (): void => {
          getSelection()?.selectAllChildren(line);
          said.textContent = "selected: copy it with the keyboard";
        };
        if (navigator.clipboard === undefined) select();
        else navigator.clipboard.writeText(result.commandLine).then(done, select);
      },
    },
    "Copy",
  );
  const schema = Object.keys(fields(result.options.schema)).length > 0;
  const entries: [string, string][] = [
    ...described(result.options, ["schema"]),
    ...described(result.modelFields).map(([name, value]): [string, string] => [`model ${name}`, value]),
    ...described(result.data, ["features"]).map(([name, value]): [string, string] => [`data ${name}`, value]),
    ...(result.seconds === null ? [] : ([["time", `${short(result.seconds, 3)} s`]] as [string, string][])),
    ["version", `harmonia ${result.version}`],
  ];
  return section(
    "To repeat it",
    result.commandLine !== "" && h("div", { class: "command" }, h("pre", {}, line), h("div", {}, copy, said)),
    h("p", { class: "note" }, "The same command and seed give the same numbers, with any number of threads. Values of headers are left out of it."),
    h("details", {}, h("summary", {}, "Options, model and data"), facts("What was asked, of what", entries)),
    schema &&
      h(
        "details",
        {},
        h("summary", {}, "How features were moved"),
        facts("Scale and limits of each feature", Object.entries(fields(result.options.schema)).slice(0, 1000).map(([name, value]) => [name, described(fields(value)).map(([k, v]) => `${k} ${v}`).join(", ")])),
      ),
  );
}
