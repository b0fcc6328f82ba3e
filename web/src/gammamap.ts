/** The Gamma Map: P against gamma with stable and unstable rows, the table by class, and how the map does. */
import * as Plot from "@observablehq/plot";
import { counted, figure, grouped, h, interval, percent, section, short, table } from "./dom";
import { plot, redrawAll } from "./plots";
import { fields, list, number, text, type Fields, type Result, type Value } from "./read";
import type { Theme } from "./theme";

const style = { fontSize: "12px", background: "transparent", overflow: "visible" };
const levels = [0.1, 0.5, 0.9];
const listedRows = 20;

interface Point {
  name: string;
  gamma: number;
  odds: number;
  stable: boolean | null;
  answer: number | null;
}

interface Fit {
  floor: number;
  /** Log-odds of being stable = at + byOdds · logit P + byGamma · log gamma, further variables at their means. */
  at: number;
  byOdds: number;
  byGamma: number;
}

interface Density {
  from: number;
  to: number;
  bottom: number;
  top: number;
  across: number;
  up: number;
  stable: number[];
  unstable: number[];
}

function readFit(result: Result): Fit | null {
  const map = fields(fields(result.frame.summary).map);
  const inputs = list(map.inputs).map(fields);
  const c = list(map.coefficients).map((v) => number(v) ?? 0);
  const slope = number(map.slope) ?? 1;
  const [p, g] = [inputs[0], inputs[1]];
  const floor = number(map.floor);
  if (p === undefined || g === undefined || floor === null) return null;
  const per = (k: number, input: Fields): number => (slope * (c[k] ?? 0)) / (number(input.scale) ?? 1);
  const [byOdds, byGamma] = [per(1, p), per(2, g)];
  return { floor, byOdds, byGamma, at: (number(map.intercept) ?? 0) + slope * (c[0] ?? 0) - byOdds * (number(p.mean) ?? 0) - byGamma * (number(g.mean) ?? 0) };
}

function readPoints(result: Result): Point[] {
  return list(result.frame.rows).flatMap((v) => {
    const row = fields(v);
    const [gamma, odds] = [number(row.gamma), number(row.logit_p)];
    if (gamma === null || odds === null) return [];
    return [{ name: text(row.id) ?? String(number(row.row) ?? ""), gamma, odds, stable: typeof row.stable === "boolean" ? row.stable : null, answer: number(row.stable_probability) }];
  });
}

function readDensity(result: Result): Density | null {
  const d = fields(result.frame.density);
  const at = (key: string): number => number(d[key]) ?? 0;
  const counts = (key: string): number[] => list(d[key]).map((v) => number(v) ?? 0);
  if (at("across") < 1) return null;
  return { from: at("from"), to: at("to"), bottom: at("bottom"), top: at("top"), across: at("across"), up: at("up"), stable: counts("stable"), unstable: counts("unstable") };
}

const logistic = (odds: number): number => 1 / (1 + Math.exp(-odds));
const logit = (p: number): number => Math.log(p / (1 - p));

/** Places of round probabilities on an axis of log-odds, and what they are called. */
function oddsTicks(bottom: number, top: number): Map<number, string> {
  const powers = ["⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"];
  const raised = (k: number): string => [...String(k)].map((c) => powers[Number(c)] ?? "").join("");
  const all: [number, string][] = [[0, "50 %"]];
  for (let k = 1; k * Math.log(10) < Math.max(Math.abs(bottom), Math.abs(top)) + 3; k++) {
    const near = k <= 3 ? `${Number((100 - 10 ** (2 - k)).toFixed(1))} %` : `1 − 10⁻${raised(k)}`;
    const at = Math.log(10) * k + Math.log1p(-(10 ** -k));
    all.push([at, near], [-at, k <= 3 ? `${10 ** (2 - k)} %` : `10⁻${raised(k)}`]);
  }
  const shown = all.filter(([at]) => at >= bottom && at <= top).sort((a, b) => a[0] - b[0]);
  const step = Math.max(1, Math.ceil(shown.length / 8));
  return new Map(shown.filter((_, i) => i % step === 0));
}

/** Powers of ten between two of them, no more than fit; of less than two decades the axis finds its own. */
function decades(from: number, to: number, most: number): number[] | number {
  const [first, last] = [Math.ceil(from), Math.floor(to)];
  if (last - first < 1) return Math.min(4, most);
  const step = Math.max(1, Math.ceil((last - first + 1) / most));
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => 10 ** (first + i * step));
}

/** Where the map says 10, 50 and 90 %: straight lines in log gamma and logit P. */
function contours(fit: Fit, box: Density): { level: number; gamma: number; odds: number }[] {
  const steps = Array.from({ length: 101 }, (_, i) => i / 100);
  return levels.flatMap((level) => {
    const goal = logit(level) - fit.at;
    const line =
      Math.abs(fit.byOdds) * (box.top - box.bottom) >= Math.abs(fit.byGamma) * (box.to - box.from)
        ? steps.map((s) => {
            const x = box.from + s * (box.to - box.from);
            return { level, gamma: 10 ** x, odds: (goal - fit.byGamma * x * Math.LN10) / fit.byOdds };
          })
        : steps.map((s) => {
            const odds = box.bottom + s * (box.top - box.bottom);
            return { level, gamma: Math.exp((goal - fit.byOdds * odds) / fit.byGamma), odds };
          });
    return line.filter((d) => Number.isFinite(d.gamma) && d.gamma >= 10 ** box.from && d.gamma <= 10 ** box.to && d.odds >= box.bottom && d.odds <= box.top);
  });
}

function boxOf(points: Point[], floor: number): Density {
  const ends = (values: number[]): [number, number] => {
    let [low, high] = [Infinity, -Infinity];
    for (const v of values) [low, high] = [Math.min(low, v), Math.max(high, v)];
    return low < high ? [low, high] : [low - 0.5, low + 0.5];
  };
  const [from, to] = ends(points.map((p) => Math.log10(Math.max(p.gamma, floor))));
  const [bottom, top] = ends(points.map((p) => p.odds));
  return { from, to, bottom, top, across: 0, up: 0, stable: [], unstable: [] };
}

function padded(box: Density): Density {
  const [x, y] = [0.04 * (box.to - box.from), 0.05 * (box.top - box.bottom)];
  return { ...box, from: box.from - x, to: box.to + x, bottom: box.bottom - y, top: box.top + y };
}

function draw(points: Point[], density: Density | null, fit: Fit | null, floor: number, dense: () => boolean): (width: number, theme: Theme) => Element {
  return (width, theme) => {
    const colour = (stable: boolean | null): string => (stable === null ? theme.muted : stable ? (theme.dark ? "#3d9fdc" : "#0072b2") : "#d55e00");
    const inner = density ?? boxOf(points, floor);
    const box = padded(inner);
    const ticks = oddsTicks(box.bottom, box.top);
    const most = Math.max(1, ...inner.stable.map((s, i) => s + (inner.unstable[i] ?? 0)));
    const cells = inner.stable.flatMap((s, i) => {
      const all = s + (inner.unstable[i] ?? 0);
      if (all === 0) return [];
      const [column, row] = [i % inner.across, Math.floor(i / inner.across)];
      const x = (k: number): number => 10 ** (inner.from + (k / inner.across) * (inner.to - inner.from));
      const y = (k: number): number => inner.bottom + (k / inner.up) * (inner.top - inner.bottom);
      return [{ x1: x(column), x2: x(column + 1), y1: y(row), y2: y(row + 1), share: s / all, all, opacity: 0.3 + (0.7 * Math.log1p(all)) / Math.log1p(most) }];
    });
    const lines = fit === null ? [] : contours(fit, box);
    const labels = levels.flatMap((level) => lines.filter((d) => d.level === level).slice(-1));
    const answered = points.some((p) => p.answer !== null);
    const marks = dense()
      ? [Plot.rect(cells, { x1: "x1", x2: "x2", y1: "y1", y2: "y2", fill: "share", fillOpacity: "opacity", title: (d: (typeof cells)[0]) => `${counted(d.all, "row")}, ${percent(d.share)} stable` })]
      : [
          Plot.dot(points, {
            x: (p: Point) => Math.max(p.gamma, floor),
            y: "odds",
            symbol: (p: Point) => (p.stable === false ? "times" : "circle"),
            stroke: answered ? "answer" : (p: Point) => colour(p.stable),
            fill: answered ? "answer" : (p: Point) => (p.stable === false ? "none" : colour(p.stable)),
            fillOpacity: 0.55,
            strokeWidth: 1.3,
            r: points.length > 500 ? 2.2 : 3.5,
            title: (p: Point) => `${p.name}: P ${short(logistic(p.odds))}, γ ${short(p.gamma)}${p.answer === null ? "" : `, ${percent(p.answer)} stable by the map`}`,
          }),
        ];
    return Plot.plot({
      width,
      height: Math.min(520, Math.max(300, 0.62 * width)),
      marginLeft: 74,
      marginRight: 48,
      marginBottom: 40,
      style,
      symbol: { type: "identity" } as Plot.ScaleOptions,
      color: dense() || answered ? { type: "linear", domain: [0, 0.5, 1], range: ["#d55e00", theme.dark ? "#8a8f96" : "#d9d4c3", "#0072b2"], interpolate: "rgb" } : { type: "identity" },
      x: { type: "log", domain: [10 ** box.from, 10 ** box.to], label: "γ", tickFormat: (d: number) => short(d, 2), ticks: decades(box.from, box.to, width < 500 ? 3 : 8) },
      y: { domain: [box.bottom, box.top], label: "P", ticks: [...ticks.keys()], tickFormat: (d: number) => ticks.get(d) ?? "", grid: true },
      marks: [
        ...marks,
        Plot.line(lines, { x: "gamma", y: "odds", z: "level", stroke: theme.text, strokeWidth: (d: { level: number }) => (d.level === 0.5 ? 2 : 1.2), strokeDasharray: "5,3" }),
        Plot.text(labels, { x: "gamma", y: "odds", text: (d: { level: number }) => percent(d.level), dx: 8, textAnchor: "start", fill: theme.text, stroke: theme.background, strokeWidth: 4 }),
      ],
    });
  };
}

function ranged(value: Value | undefined, key = "mean", show = figure): HTMLElement {
  const v = fields(value);
  const middle = number(v[key]);
  if (middle === null) return h("span", { class: "none" }, "–");
  const [low, high] = [number(v.low), number(v.high)];
  return h("span", {}, show(middle), " ", low === null && high === null ? h("span", { class: "none", title: "too few rows for an interval" }, "[?, ?]") : h("span", { class: "none" }, interval(low, high, false)));
}

function share(value: Value | undefined): HTMLElement {
  const v = fields(value);
  const s = number(v.share);
  if (s === null) return h("span", { class: "none" }, "–");
  const percents = (x: Value | undefined): string => percent(number(x) ?? 0);
  return h("span", {}, h("data", { value: String(s) }, percent(s)), " ", h("span", { class: "none" }, `[${percents(v.low)}, ${percents(v.high)}]`));
}

function classTables(result: Result): HTMLElement | null {
  const found = fields(fields(result.frame.summary).table);
  const groups = [...list(found.classes), ...(found.all === undefined ? [] : [found.all])].map(fields);
  if (groups.length === 0) return null;
  const steps = number(result.options.steps) ?? 0;
  const name = text(found.by) === "label" ? "label" : "class";
  const title = (g: Fields): HTMLElement => h("span", {}, text(g.class) ?? "", g.few === true && h("span", { class: "none" }, " few rows"));
  const rows = (g: Fields): string => grouped(number(g.rows) ?? 0);
  const two = groups.length > 2 ? "Each class's intervals hold for itself. " : "";
  return section(
    "Class by class",
    table(
      `${two}P is the softmax probability of the row's class; γ is measured in its logit; a row is stable if its class outlasts ${counted(steps, "step")} of the search.`,
      [name, "rows", "P", "γ", `P·e^(−${steps}γ)`, "accuracy", "stable"],
      groups.map((g) => [title(g), rows(g), ranged(g.probability), ranged(g.gamma), ranged(g.score), share(g.accuracy), share(g.stability)]),
      [false, true, true, true, true, true, true],
    ),
    table(
      `The logits, both forms with two exponentials, and how far the class's logit moved over the search beside ${steps}γ.`,
      [name, "class logit", "mean logit", "two exponentials", "softmax", "logit drift", `${steps}γ`],
      groups.map((g) => [title(g), ranged(g.logit), ranged(g.mean_logit), ranged(g.two_exponential), ranged(g.softmax), ranged(g.drift), figure(number(g.steps_gamma))]),
      [false, true, true, true, true, true, true],
    ),
  );
}

const columnNames: { [name: string]: string } = { probability: "P", score: "P·e^(−Nγ)", two_exponential: "two exponentials", softmax: "softmax", score_of_means: "mean P·e^(−N·mean γ)", gamma: "γ (AUROC: of less)", accuracy: "accuracy" };

function correlations(result: Result): HTMLElement | null {
  const entries = list(fields(result.frame.summary).correlations).map(fields);
  if (entries.length === 0) return null;
  const counted = (value: Value | undefined): HTMLElement => {
    const n = number(fields(value).count);
    return n === null ? h("span", { class: "none" }, "–") : h("span", {}, ranged(value, "value"), ` n ${grouped(n)}`);
  };
  return section(
    "What goes with stability",
    table(
      "Correlations with stability, row by row (1 for stable, 0 for not) and over the classes' means. AUROC is the chance that a stable row has more of it than another.",
      ["", "r by row", "AUROC by row", "r by class"],
      entries.map((e) => [columnNames[text(e.of) ?? ""] ?? text(e.of) ?? "", counted(e.rows), ranged(e.auroc, "value"), counted(e.classes)]),
      [false, true, true, true],
    ),
  );
}

function reliability(bins: Fields[]): (width: number, theme: Theme) => Element {
  return (full, theme) => {
    const width = Math.min(full, 420);
    const at = bins.map((b) => ({ mean: number(b.mean) ?? 0, share: number(b.share) ?? 0, low: number(b.low) ?? 0, high: number(b.high) ?? 1, rows: number(b.rows) ?? 0 }));
    return Plot.plot({
      width,
      height: width,
      marginLeft: 56,
      marginBottom: 40,
      style,
      x: { domain: [0, 1], label: "answered", tickFormat: (d: number) => percent(d), ticks: 5, grid: true },
      y: { domain: [0, 1], label: "stable", tickFormat: (d: number) => percent(d), ticks: 5, grid: true },
      marks: [
        Plot.line([[0, 0], [1, 1]], { stroke: theme.muted, strokeDasharray: "4,4" }),
        Plot.ruleX(at, { x: "mean", y1: "low", y2: "high", stroke: theme.accent, strokeWidth: 2 }),
        Plot.dot(at, { x: "mean", y: "share", fill: theme.accent, r: 4, stroke: theme.background, title: (d: (typeof at)[0]) => `${counted(d.rows, "row")}: answered ${percent(d.mean)}, ${percent(d.share)} are stable` }),
      ],
    });
  };
}

function validated(result: Result): HTMLElement | null {
  const summary = fields(result.frame.summary);
  const v = fields(summary.validation);
  const map = fields(summary.map);
  const bins = list(v.bins).map(fields);
  if (bins.length === 0) return null;
  const value = (key: string): HTMLElement => ranged(v[key], "value");
  return section(
    "On rows that were held out",
    h("p", {}, `Every row is answered by a map that was fitted on the other of ${counted(number(v.folds) ?? 0, "fold")}. A map that tells the truth lies on the diagonal.${map.recalibrated === true ? " Answers are recalibrated on these rows." : ""}${map.separated === true ? " The map tells all stable rows from all others: the ridge alone bounds its coefficients." : ""}`),
    h(
      "div",
      { class: "pair" },
      plot("share of stable rows against what the map answered", "Bins of equally many rows, with intervals.", reliability(bins)),
      table(
        `AUROC is the chance that a stable row is answered higher than another; intervals at ${percent(result.confidence)}.`,
        ["", ""],
        [
          ["AUROC of the map", value("auroc")],
          ["AUROC of P alone", value("auroc_probability")],
          ["AUROC of γ alone", value("auroc_gamma")],
          ["map − P alone", value("over_probability")],
          ["map − γ alone", value("over_gamma")],
          ["Brier score", ranged(v.brier)],
          ["… of the share of stable rows", figure(number(v.brier_of_share))],
          ["log loss", ranged(v.log_loss)],
          ["calibration slope (1 is right)", value("slope")],
          ["calibration intercept (0 is right)", value("intercept")],
        ],
        [false, true],
      ),
    ),
  );
}

function answers(result: Result): HTMLElement | null {
  const rows = list(result.frame.rows).map(fields).filter((r) => number(r.stable_probability) !== null);
  if (rows.length === 0) return null;
  const least = [...rows].sort((a, b) => (number(a.stable_probability) ?? 0) - (number(b.stable_probability) ?? 0)).slice(0, listedRows);
  return section(
    "The least stable rows, by the map",
    table(
      `No search was made: the map of ${text(result.options.use) ?? ""} answers from P and γ.`,
      ["row", "class", "P", "γ", "stable", ""],
      least.map((r) => [
        text(r.id) ?? String(number(r.row) ?? ""),
        String(number(r.class) ?? "–"),
        figure(number(r.probability)),
        figure(number(r.gamma)),
        h("span", {}, figure(number(r.stable_probability)), " ", interval(number(r.stable_low), number(r.stable_high), false)),
        r.outside === true ? "outside of what the map was fitted on" : "",
      ]),
      [false, true, true, true, true, false],
    ),
  );
}

function picture(result: Result): HTMLElement | null {
  const points = readPoints(result);
  const density = readDensity(result);
  if (points.length === 0) return null;
  const fit = readFit(result);
  const least = points.reduce((low, p) => (p.gamma > 0 ? Math.min(low, p.gamma / 2) : low), Infinity);
  const floor = fit?.floor ?? (Number.isFinite(least) ? least : 1);
  const many = result.rowCount > points.length;
  let dense = many && density !== null;
  const names = ["rows", "density"];
  const buttons = names.map((name, i) =>
    h("button", { type: "button", "aria-pressed": String((i === 1) === dense), click: () => { dense = i === 1; buttons.forEach((b, k) => b.setAttribute("aria-pressed", String((k === 1) === dense))); redrawAll(); } }, name),
  );
  const searched = points.some((p) => p.stable !== null);
  const floored = number(fields(fields(result.frame.summary).map).floored) ?? 0;
  const words = [
    searched ? "Each row by its P and γ: circles kept their class through the search, crosses did not; the density has the share of stable rows in each cell, paler where there are few." : "Each row by its P and γ, coloured by the map's answer: blue is stable.",
    fit === null ? "" : ` Dashed lines are where the fitted map says 10, 50 and 90 % stable${list(fields(fields(result.frame.summary).map).inputs).length > 2 ? ", further variables at their means" : ""}.`,
    floored > 0 ? ` ${counted(floored, "row")} with a γ of no more than rounding stand at ${short(floor)}.` : "",
    many ? ` Rows shows the first ${grouped(points.length)}.` : "",
  ];
  return section(
    "The map",
    h("p", {}, words.join("")),
    density !== null && h("div", { class: "choice", role: "group", "aria-label": "view of the map" }, buttons),
    searched && h("ul", { class: "legend" }, h("li", {}, h("span", { class: "swatch c0" }), "stable"), h("li", {}, h("span", { class: "swatch c5" }), "unstable")),
    plot("P against gamma with stable and unstable rows", "", draw(points, density, fit, floor, () => dense)),
  );
}

export function gammaMap(result: Result): HTMLElement | null {
  if (result.command !== "map") return null;
  const reason = text(fields(fields(result.frame.summary).fit).reason);
  return h(
    "div",
    { class: "gammamap" },
    result.text !== null && h("p", { class: "lead" }, `${result.text}.`),
    result.intervals !== null && h("p", { class: "note" }, `Intervals: ${result.intervals}.`),
    picture(result),
    answers(result),
    validated(result),
    reason !== null && list(fields(fields(result.frame.summary).validation).bins).length === 0 && h("p", { class: "note" }, `${reason}.`),
    classTables(result),
    correlations(result),
  );
}
