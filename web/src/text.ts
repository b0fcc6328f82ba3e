/** How steady a language model's answers are: gamma of prompts, by model and family of changes. */
import * as Plot from "@observablehq/plot";
import { brackets } from "./charts";
import { counted, figure, grouped, h, interval, percent, section, short, table } from "./dom";
import { plot } from "./plots";
import { fields, list, number, text, type Fields, type Result } from "./read";
import type { Theme } from "./theme";

const style = { fontSize: "12px", background: "transparent", overflow: "visible" };
const bands = ["probably trustworthy", "possible hallucination", "likely hallucination"];
const shownPrompts = 12;

interface Row {
  group: string;
  gamma: number;
  band: string;
  prompt: string;
}

/** One model needs no name beside every number. */
function groupOf(several: boolean, row: Fields): string {
  return several ? `${text(row.model) ?? ""}, ${text(row.family) ?? ""}` : (text(row.family) ?? "");
}

function measured(result: Result, several: boolean): Row[] {
  return list(result.frame.rows).flatMap((value) => {
    const row = fields(value);
    const gamma = number(row.gamma);
    if (gamma === null) return [];
    return [{ group: groupOf(several, row), gamma, band: text(row.band) ?? "", prompt: text(row.prompt) ?? "" }];
  });
}

/** A dot a prompt; its colour is the authors' band. */
function distribution(rows: Row[], groups: string[], unit: string): (width: number, theme: Theme) => Element {
  return (width, theme) => {
    const colours = [theme.classes[2] ?? "", theme.classes[1] ?? "", theme.classes[5] ?? ""];
    return Plot.plot({
      width,
      height: 60 * groups.length + 70,
      marginLeft: Math.min(220, 16 + 7 * Math.max(...groups.map((g) => g.length))),
      marginTop: 10,
      marginBottom: 40,
      style,
      x: { label: `γ (${unit})`, zero: true, nice: true, grid: true, ticks: width < 500 ? 4 : 8 },
      y: { label: null, domain: groups, type: "band" },
      color: { domain: bands, range: colours, legend: true },
      marks: [
        Plot.dot(rows, { x: "gamma", y: "group", fill: "band", fillOpacity: 0.7, r: 4.5, stroke: theme.background, strokeWidth: 0.7, title: (r: Row) => `${short(r.gamma)}: ${r.prompt}` }),
        Plot.tickX(rows, Plot.groupY({ x: "median" }, { x: "gamma", y: "group", stroke: theme.text, strokeWidth: 2 })),
      ],
    });
  };
}

/** Mean gamma with the first so many variants. */
function settling(lines: { group: string; variants: number; gamma: number }[]): (width: number, theme: Theme) => Element {
  return (width, theme) =>
    Plot.plot({
      width,
      height: 240,
      marginLeft: 56,
      marginBottom: 40,
      style,
      x: { label: "variants", ticks: width < 500 ? 4 : 8, tickFormat: (d: number) => (Number.isInteger(d) ? String(d) : "") },
      y: { label: "mean γ (radians)", zero: true, grid: true, ticks: 5 },
      color: { legend: true, range: theme.classes },
      marks: [Plot.lineY(lines, { x: "variants", y: "gamma", stroke: "group", strokeWidth: 2 }), Plot.dot(lines, { x: "variants", y: "gamma", fill: "group", r: 2.5 })],
    });
}

function meanCells(value: Fields): (Node | string)[] {
  return [figure(number(value.mean)), interval(number(value.low), number(value.high), false)];
}

function families(result: Result, several: boolean): HTMLElement {
  const entries = list(fields(result.frame.summary).families).map(fields);
  const rows = entries.map((entry) => [
    groupOf(several, entry),
    ...meanCells(fields(entry.gamma)),
    figure(number(fields(entry.floor).mean)),
    figure(number(fields(entry.excess).mean)),
    figure(number(fields(entry.resultant).mean)),
    percent(number(entry.changed_share) ?? 0),
    ...bands.map((band) => grouped(number(fields(entry.bands)[band]) ?? 0)),
    grouped(number(entry.marked) ?? 0),
    figure(number(fields(entry.isotropy).mean), 3),
  ]);
  const head = [several ? "model, changes" : "changes", "mean γ", `${percent(result.confidence)} interval`, "floor", "excess", "resultant", "answers changed", "trustworthy", "possible", "likely", "no value", "isotropy"];
  return table("Means over prompts, and prompts by the authors' bands", head, rows, head.map((_, i) => i > 0));
}

function settlingLines(result: Result, several: boolean): { group: string; variants: number; gamma: number }[] {
  return list(fields(result.frame.summary).families).flatMap((value) => {
    const entry = fields(value);
    return list(entry.settling_radians).flatMap((v, i) => {
      const gamma = number(v);
      return gamma === null ? [] : [{ group: groupOf(several, entry), variants: i + 2, gamma }];
    });
  });
}

function rankings(result: Result): HTMLElement | null {
  const all = list(fields(result.frame.summary).rankings).map(fields);
  if (all.length === 0) return null;
  return section(
    "Which model is steadier",
    h("p", { class: "note" }, `Differences of γ over the same prompts and the same changes of them; the intervals of a family hold together with ${percent(result.confidence)}.`),
    ...all.map((ranking) => {
      const order = list(ranking.ranking).map((group) => list(group).map((name) => text(name) ?? "").join(" and "));
      return h(
        "div",
        {},
        h("p", { class: "lead" }, `${text(ranking.family) ?? ""}: ${order.join(", then ")}${order.length === 1 ? ", which cannot be ordered" : ""}.`),
        brackets(
          `differences of gamma, ${text(ranking.family) ?? ""}`,
          `difference of mean γ (${text(ranking.convention) ?? text(result.options.convention) ?? "angle"})`,
          list(ranking.pairs).map((value) => {
            const pair = fields(value);
            return { name: `${text(pair.a) ?? ""} − ${text(pair.b) ?? ""}`, middle: number(pair.difference), low: number(pair.low), high: number(pair.high), detail: counted(number(pair.rows) ?? 0, "prompt"), strong: text(pair.verdict) !== "indistinguishable" };
          }),
          true,
        ),
      );
    }),
  );
}

function judged(result: Result): HTMLElement | null {
  const scores = list(fields(result.frame.summary).labels).map(fields);
  const ratings = list(fields(result.frame.summary).ratings).map(fields);
  if (scores.length === 0 && ratings.length === 0) return null;
  return section(
    "Does it tell wrong answers from right ones?",
    scores.length > 0 &&
      table(
        "AUROC: the probability that a wrong answer has the larger number; 0.5 is chance",
        ["model", "number", "AUROC", `${percent(result.confidence)} interval`, "γ's minus this", "wrong", "right"],
        scores.map((s) => {
          const less = fields(s.gamma_minus_this);
          const difference = s.gamma_minus_this === undefined ? "" : h("span", {}, figure(number(less.difference)), " ", interval(number(less.low), number(less.high), false));
          return [text(s.model) ?? "", text(s.score) ?? "", figure(number(s.auroc)), interval(number(s.low), number(s.high), false), difference, grouped(number(s.wrong) ?? 0), grouped(number(s.right) ?? 0)];
        }),
        [false, false, true, true, true, true, true],
      ),
    ratings.length > 0 &&
      table(
        "Ratings: rank correlation with γ, below 0 where steady answers are rated better, and mean rating by band",
        ["model", "domain", "correlation", `${percent(result.confidence)} interval`, ...bands],
        ratings.map((r) => {
          const found = fields(r.rank_correlation);
          const byBand = bands.map((band) => list(r.bands).map(fields).find((b) => text(b.band) === band));
          return [text(r.model) ?? "", text(r.domain) ?? "all", figure(number(found.value)), interval(number(found.low), number(found.high), false), ...byBand.map((b) => (b === undefined ? "–" : h("span", {}, figure(number(b.mean)), ` (${grouped(number(b.prompts) ?? 0)})`)))];
        }),
        [false, false, true, true, true, true, true],
      ),
  );
}

/** A prompt's own answer, and beside it every other answer with how many variants had it. */
function answers(row: Fields): HTMLElement {
  const own = text(row.answer) ?? "";
  const counts = new Map<string, number>();
  for (const value of list(row.answers)) {
    const said = text(fields(value).answer) ?? "";
    counts.set(said, (counts.get(said) ?? 0) + 1);
  }
  const others = [...counts].filter(([said]) => said !== own).sort((a, b) => b[1] - a[1]);
  const same = counts.get(own) ?? 0;
  return h(
    "div",
    { class: "answers" },
    h("div", {}, h("h5", {}, same === 0 ? "its own answer" : `its own answer, and that of ${counted(same, "variant")}`), h("blockquote", {}, own)),
    h("div", {}, h("h5", {}, counted(others.length, "other answer")), others.map(([said, count]) => h("blockquote", {}, h("b", {}, `${count} × `), said))),
  );
}

function worstPrompts(result: Result, several: boolean): HTMLElement | null {
  const rows = list(result.frame.rows)
    .map(fields)
    .filter((row) => (number(row.gamma) ?? 0) > 0 && list(row.answers).length > 0)
    .sort((a, b) => (number(b.gamma) ?? 0) - (number(a.gamma) ?? 0))
    .slice(0, shownPrompts);
  if (rows.length === 0) return null;
  return section(
    "The least steady answers",
    ...rows.map((row, i) =>
      h(
        "details",
        { class: "prompt", open: i < 3 },
        h("summary", {}, figure(number(row.gamma)), " ", interval(number(row.low), number(row.high), false), ` ${text(row.prompt) ?? ""} `, h("span", { class: "kind" }, groupOf(several, row))),
        answers(row),
      ),
    ),
  );
}

function marked(result: Result): HTMLElement | null {
  const rows = list(result.frame.rows).map(fields).filter((row) => number(row.gamma) === null);
  if (rows.length === 0) return null;
  return section(
    "Prompts without a value",
    table("What became of them", ["prompt", "model", "outcome", "why"], rows.slice(0, 50).map((row) => [text(row.prompt) ?? "", text(row.model) ?? "", text(row.outcome) ?? "", text(row.reason) ?? ""]), [false, false, false, false]),
  );
}

export function textAnswers(result: Result): HTMLElement | null {
  if (result.command !== "text") return null;
  const several = result.models.length > 1;
  const rows = measured(result, several);
  const groups = [...new Set(rows.map((row) => row.group))];
  const unit = text(result.options.convention) === "angle" ? "radians" : (text(result.options.convention) ?? "");
  const lines = settlingLines(result, several);
  return h(
    "div",
    {},
    h("p", { class: "note" }, `${counted(number(result.options.variants) ?? 0, "variant")} of each prompt and family, ${counted(number(result.options.repeats) ?? 0, "repeat")}; embeddings by ${text(result.options.embedder) ?? "?"}; convention ${text(result.options.convention) ?? "?"}.`),
    rows.length > 0 && section("γ of the prompts", plot("gamma of every prompt", "A dot a prompt, in the colour of the authors' band; the line is the median.", distribution(rows, groups, unit)), families(result, several)),
    rankings(result),
    judged(result),
    lines.length > 0 && section("How many variants are enough", plot("mean gamma against the number of variants", "Mean over the prompts of γ with the first so many variants. Where it is level, more would change little.", settling(lines))),
    worstPrompts(result, several),
    marked(result),
    result.rowCount > list(result.frame.rows).length && h("p", { class: "note" }, `The page shows ${grouped(list(result.frame.rows).length)} of ${grouped(result.rowCount)} rows; the result has all.`),
  );
}

export function textMeaning(): HTMLElement {
  return section(
    "What γ of an answer means, and what not",
    h(
      "ul",
      {},
      h("li", {}, "γ is the angle between the embedding of the answer and the mean of those to small changes of the prompt, less what a finite number of changes scatters. 0: the answer stays the same."),
      h("li", {}, "A steady answer can be wrong, and two right answers in other words are some way apart: labels or ratings of your own prompts tell how much γ is worth there."),
      h("li", {}, "The floor is what repeats of the unchanged prompt scatter; the excess is what is left of γ without it."),
      h("li", {}, "A resultant near 0 means that answers point apart: the angle to their mean then says little."),
      h("li", {}, "An isotropy below 1 means that the changes move the prompt's own embedding to one side: their ball does not lie around it."),
    ),
  );
}
