/** How large the noise around rows may grow before their class is lost. */
import * as Plot from "@observablehq/plot";
import { brackets } from "./charts";
import { counted, figure, grouped, h, interval, percent, section, short, table } from "./dom";
import { plot, redrawAll } from "./plots";
import { fields, list, number, text, type Fields, type Result, type Value } from "./read";
import type { Theme } from "./theme";

const style = { fontSize: "12px", background: "transparent", overflow: "visible" };

interface Row {
  name: string;
  label: string | null;
  t: number | null;
  class: number | null;
  gamma: number;
  sigma: number | null;
  low: number | null;
  high: number | null;
  samples: number;
  certified: number | null;
  outcome: string;
  natural: boolean;
}

interface Group {
  lost: number;
  kept: number;
  missing: number;
  counts: number[];
}

interface Distribution {
  gamma: number;
  from: number | null;
  to: number | null;
  natural: Group | null;
  against: Group | null;
}

function readRow(value: Value): Row[] {
  const r = fields(value);
  const [row, gamma] = [number(r.row), number(r.gamma)];
  if (row === null || gamma === null) return [];
  return [{ name: text(r.id) ?? String(row), label: text(r.label), t: number(r.t), class: number(r.class), gamma, sigma: number(r.sigma), low: number(r.low), high: number(r.high), samples: number(r.samples) ?? 0, certified: number(r.certified_radius), outcome: text(r.outcome) ?? "", natural: text(r.group) !== "against" }];
}

function readGroup(value: Value | undefined): Group | null {
  const g = fields(value);
  if (!Array.isArray(g.counts)) return null;
  return { lost: number(g.lost) ?? 0, kept: number(g.kept) ?? 0, missing: number(g.missing) ?? 0, counts: g.counts.map((c) => number(c) ?? 0) };
}

function readDistributions(result: Result): Distribution[] {
  return list(result.frame.distributions).flatMap((value) => {
    const d = fields(value);
    const gamma = number(d.gamma);
    return gamma === null ? [] : [{ gamma, from: number(d.from), to: number(d.to), natural: readGroup(d.natural), against: readGroup(d.against) }];
  });
}

interface Bar {
  from: number;
  to: number;
  count: number;
}

/** Bars of equal width in the logarithm; those whose class is lost at once or never stand apart at the ends. */
function bars(group: Group, from: number, to: number): Bar[] {
  const wide = to > from ? to - from : 0.2;
  const start = to > from ? from : from - wide / 2;
  const width = wide / group.counts.length;
  const at = (low: number, high: number, count: number): Bar => ({ from: 10 ** low, to: 10 ** high, count });
  const inside = to > from ? group.counts.map((count, i) => at(start + i * width, start + (i + 1) * width, count)) : [at(start, start + wide, group.counts.reduce((a, b) => a + b, 0))];
  const end = start + wide;
  return [at(start - 4 * width, start - 2 * width, group.lost), ...inside, at(end + 2 * width, end + 4 * width, group.kept)];
}

/** What is drawn as natural and as the others where both are there. */
function legend(): HTMLElement {
  return h("ul", { class: "legend" }, h("li", {}, h("span", { class: "swatch c0" }), "the rows, upwards"), h("li", {}, h("span", { class: "swatch c5" }), "the others, downwards"));
}

function drawDistribution(d: Distribution, width: number, theme: Theme): Element {
  const [from, to] = [d.from ?? 0, d.to ?? 0];
  const up = d.natural === null ? [] : bars(d.natural, from, to);
  const down = d.against === null ? [] : bars(d.against, from, to);
  const most = Math.max(1, ...up.map((b) => b.count));
  const deep = Math.max(0, ...down.map((b) => b.count));
  // Of unlike sizes, groups are compared by their shares.
  const all = (group: Bar[]): number => Math.max(1, group.reduce((a, b) => a + b.count, 0));
  const shares = down.length > 0;
  const high = shares ? most / all(up) : most;
  const low = shares ? deep / all(down) : 0;
  const end = (i: number): { x: number; name: string; y: number }[] => {
    const [a, b] = [up[i] ?? down[i], down[i]];
    const count = (up[i]?.count ?? 0) + (b?.count ?? 0);
    return a === undefined || count === 0 ? [] : [{ x: Math.sqrt(a.from * a.to), name: i === 0 ? "lost" : "kept", y: shares ? (up[i]?.count ?? 0) / all(up) : (up[i]?.count ?? 0) }];
  };
  const ends = [...end(0), ...end(Math.max(up.length, down.length) - 1)];
  const common = { x1: "from", x2: "to", inset: 0.5, filter: (b: Bar) => b.count > 0 } as const;
  return Plot.plot({
    width,
    height: shares ? 340 : 270,
    marginLeft: 52,
    marginBottom: 40,
    marginTop: 28,
    style,
    x: { type: "log", label: "σ*, the noise that a row bears", tickFormat: (v: number) => short(v, 2), ticks: width < 500 ? 3 : 7 },
    y: { label: shares ? "share of the group" : "rows", grid: true, ticks: 5, domain: [-low, high], tickFormat: (v: number) => (shares ? percent(Math.abs(v)) : Number.isInteger(v) ? grouped(v) : "") },
    marks: [
      Plot.rectY(up, { ...common, y1: 0, y2: (b: Bar) => (shares ? b.count / all(up) : b.count), fill: theme.classes[0] ?? theme.accent }),
      Plot.rectY(down, { ...common, y1: 0, y2: (b: Bar) => -b.count / all(down), fill: theme.classes[5] ?? theme.muted }),
      Plot.text(ends, { x: "x", y: "y", dy: -9, text: "name", fill: theme.muted }),
      Plot.ruleY([0], { stroke: theme.muted }),
    ],
  });
}

/** Buttons that choose one of the gammas. */
function chooser(gammas: number[], choose: (place: number) => void): HTMLElement | null {
  if (gammas.length < 2) return null;
  const buttons: HTMLElement[] = gammas.map((gamma, place) =>
    h("button", { type: "button", "aria-pressed": String(place === 0), click: () => {
      buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(i === place)));
      choose(place);
      redrawAll();
    } }, `γ ${short(gamma)}`),
  );
  return h("div", { class: "choice", role: "group", "aria-label": "gamma" }, buttons);
}

function groupWords(name: string, group: Group | null): string {
  if (group === null) return "";
  const found = group.counts.reduce((a, b) => a + b, 0);
  const parts = [`of ${counted(found + group.lost + group.kept + group.missing, name)} ${grouped(found)} lose their class at some σ`];
  if (group.lost > 0) parts.push(`${grouped(group.lost)} at the least already (lost)`);
  if (group.kept > 0) parts.push(`${grouped(group.kept)} at none (kept)`);
  if (group.missing > 0) parts.push(`${grouped(group.missing)} were not measured for want of evaluations`);
  return parts.join(", ");
}

function distributions(result: Result): HTMLElement | null {
  const all = readDistributions(result);
  const first = all[0];
  const total = (d: Distribution): number => (d.natural?.counts.reduce((a, b) => a + b, 0) ?? 0) + (d.natural?.lost ?? 0) + (d.natural?.kept ?? 0);
  if (first === undefined || total(first) < 2) return null;
  let shown = first;
  const told = h("p", {});
  const tell = (): void => told.replaceChildren(`For γ ${short(shown.gamma)}, ${[groupWords("row", shown.natural), groupWords("other row", shown.against)].filter((w) => w !== "").join("; ")}.`);
  tell();
  return section(
    "How σ* is distributed",
    chooser(all.map((d) => d.gamma), (place) => {
      shown = all[place] ?? first;
      tell();
    }),
    told,
    first.against !== null && legend(),
    plot("histogram of sigma*", "", (width, theme) => drawDistribution(shown, width, theme)),
  );
}

function detector(result: Result): HTMLElement | null {
  const d = fields(fields(result.frame.summary).detector);
  const score = (name: string, value: Value | undefined): { name: string; middle: number | null; low: number | null; high: number | null; detail: string; strong: boolean }[] => {
    const s = fields(value);
    const auroc = number(s.auroc);
    return auroc === null ? [] : [{ name, middle: auroc, low: number(s.low), high: number(s.high), detail: short(auroc, 3), strong: name.startsWith("persistence") }];
  };
  const items = [
    ...list(d.persistence).flatMap((p) => score(`persistence, γ ${short(number(fields(p).gamma))}`, p)),
    ...score(text(d.confidence_form) === "softmax" ? "largest output, after softmax" : "largest output", d.confidence),
    ...score(`− gamma, radius ${short(number(result.options.radius))}`, d.gamma),
  ];
  if (items.length === 0) return null;
  const against = fields(result.frame.against);
  return section(
    "Telling the rows from the others",
    h("p", {}, `The probability that a row of ${result.source} scores higher than one of ${text(against.source) ?? "the others"} (AUROC), with its ${percent(result.confidence)} interval: 1 tells them apart without a mistake, 0.5 is a coin.`),
    brackets("AUROC of each score with its interval", "AUROC", items, false),
  );
}

interface Segment {
  from: number;
  to: number;
  class: number | null;
}

/** Stretches of the path that have one class, which change half-way between two steps. */
function segmentsOf(rows: Row[]): Segment[] {
  const found: Segment[] = [];
  let last: number | null = null;
  for (const row of rows) {
    if (row.t === null) continue;
    const segment = found[found.length - 1];
    if (segment === undefined) found.push({ from: row.t, to: row.t, class: row.class });
    else if (segment.class === row.class) segment.to = row.t;
    else {
      segment.to = ((last ?? row.t) + row.t) / 2;
      found.push({ from: segment.to, to: row.t, class: row.class });
    }
    last = row.t;
  }
  return found;
}

function drawPath(rows: Row[], gammas: number[], width: number, theme: Theme): Element {
  const segments = segmentsOf(rows.filter((r) => r.gamma === gammas[0]));
  const classes = [...new Set(segments.map((s) => s.class))];
  const colour = (c: number | null): string => theme.classes[classes.indexOf(c) % theme.classes.length] ?? theme.muted;
  const top = 1.08 * Math.max(...rows.map((r) => r.high ?? r.sigma ?? 0).filter((_, i) => rows[i]?.outcome === "crossing"), 1e-300);
  // What is lost at the least sigma already stands on the axis; what is never lost at the top.
  const y = (r: Row): number => (r.outcome === "censored_high" ? top : r.outcome === "censored_low" ? 0 : (r.sigma ?? NaN));
  const known = rows.filter((r) => r.t !== null && r.outcome !== "budget");
  // Line and band end where the class is never lost.
  const end = (r: Row, at: number | null): number => (r.outcome === "crossing" ? (at ?? NaN) : r.outcome === "censored_low" ? 0 : NaN);
  const named = segments.filter((s) => (s.to - s.from) * width > 56);
  // Each line is named where it is highest.
  const peaks = gammas.flatMap((gamma) => known.filter((r) => r.gamma === gamma && r.sigma !== null).sort((a, b) => (b.sigma ?? 0) - (a.sigma ?? 0)).slice(0, 1));
  return Plot.plot({
    width,
    height: Math.min(400, Math.max(270, 0.5 * width)),
    marginLeft: 52,
    marginRight: 20,
    marginTop: 34,
    marginBottom: 40,
    style,
    x: { label: "t, from the first row (0) to the second (1)", domain: [0, 1], ticks: width < 500 ? 4 : 10 },
    y: { label: "σ*", domain: [0, top], grid: true, ticks: 5, tickFormat: (v: number) => short(v, 3) },
    marks: [
      Plot.rect(segments, { x1: "from", x2: "to", y1: 0, y2: top, fill: (s: Segment) => colour(s.class), fillOpacity: theme.dark ? 0.22 : 0.13 }),
      Plot.ruleX(segments.slice(1), { x: "from", stroke: theme.muted, strokeDasharray: "3,3" }),
      Plot.text(named, { x: (s: Segment) => (s.from + s.to) / 2, y: () => top, dy: -9, text: (s: Segment) => `class ${s.class ?? "–"}`, fill: theme.text }),
      Plot.areaY(known, { x: "t", y1: (r: Row) => end(r, r.low), y2: (r: Row) => end(r, r.high), z: "gamma", fill: theme.text, fillOpacity: 0.18 }),
      Plot.lineY(known, { x: "t", y: (r: Row) => end(r, r.sigma), z: "gamma", stroke: theme.text, strokeWidth: 2 }),
      Plot.dot(known, { x: "t", y, fill: (r: Row) => (r.outcome === "crossing" ? theme.text : theme.background), stroke: theme.text, r: known.length > 120 ? 1.5 : 2.5, title: (r: Row) => `t ${short(r.t)}: class ${r.class ?? "–"}, σ* ${short(r.sigma)} ${r.outcome}` }),
      gammas.length > 1 ? Plot.text(peaks, { x: "t", y, dy: -10, text: (r: Row) => `γ ${short(r.gamma)}`, textAnchor: "start", fill: theme.text, stroke: theme.background, strokeWidth: 3 }) : null,
      Plot.ruleY([0], { stroke: theme.muted }),
    ],
  });
}

function sigmaText(row: Row): HTMLElement | string {
  if (row.outcome === "censored_low") return row.high === null ? "lost" : `under ${short(row.high)}`;
  if (row.outcome === "censored_high") return row.low === null ? "kept" : `over ${short(row.low)}`;
  return figure(row.sigma);
}

function rowTable(caption: string, result: Result, rows: Row[]): HTMLElement {
  const path = rows.some((r) => r.t !== null);
  const several = new Set(rows.map((r) => r.gamma)).size > 1;
  const labels = rows.some((r) => r.label !== null);
  const head = [path ? "t" : "row", ...(labels ? ["label"] : []), "class", ...(several ? ["γ"] : []), "σ*", `${percent(result.confidence)} interval`, "certified radius", "samples"];
  return table(
    caption,
    head,
    rows.map((r) => [path ? figure(r.t) : r.name, ...(labels ? [r.label ?? ""] : []), r.class === null ? "–" : String(r.class), ...(several ? [short(r.gamma)] : []), sigmaText(r), r.outcome === "crossing" && r.low !== null ? interval(r.low, r.high, false) : "–", figure(r.certified), grouped(r.samples)]),
    [path, ...(labels ? [false] : []), true, ...(several ? [true] : []), true, true, true, true],
  );
}

function path(result: Result, rows: Row[]): HTMLElement | null {
  const along = rows.filter((r) => r.t !== null);
  if (along.length === 0) return null;
  const gammas = [...new Set(along.map((r) => r.gamma))];
  const ends = along.some((r) => r.outcome.startsWith("censored"));
  return section(
    "Along the path",
    plot("sigma* and class along the path between two rows", "", (width, theme) => drawPath(along, gammas, width, theme)),
    h("p", { class: "note" }, `The band is each step's ${percent(result.confidence)} interval; colours are classes.${ends ? " Hollow points are censored: on the axis the class is lost at the least σ already, at the top it is never lost." : ""}`),
    h("details", {}, h("summary", {}, "The numbers"), rowTable("Every step", result, along)),
  );
}

const shownRows = 200;

function rowLists(result: Result, rows: Row[]): HTMLElement | null {
  if (rows.some((r) => r.t !== null)) return null;
  const least = list(fields(result.frame.summary).least).flatMap(readRow);
  const natural = rows.filter((r) => r.natural);
  const few = natural.length <= 20;
  if (few) return natural.length === 0 ? null : section(natural.length === 1 ? "The row" : "The rows", rowTable("Each row and γ", result, natural));
  return section(
    "The least persistent rows",
    least.length > 0 && rowTable("Rows that lose their class under the least noise", result, least),
    h("details", {}, h("summary", {}, "The rows in their order"), rowTable(natural.length > shownRows || result.rowCount > result.rowsKept ? `The first ${grouped(Math.min(shownRows, natural.length))} entries` : "Each row and γ", result, natural.slice(0, shownRows))),
  );
}

function medians(result: Result): HTMLElement | null {
  const all = list(fields(result.frame.summary).medians).map(fields).filter((m) => (number(m.rows) ?? 0) > 1);
  if (all.length === 0 || result.options.steps !== undefined) return null;
  const end = (m: Fields, key: string, outcome: string): string => {
    const value = number(m[key]);
    if (value !== null) return short(value);
    const word = text(m[outcome]);
    return word === "censored_low" ? "lost" : word === "censored_high" ? "kept" : "?";
  };
  return h(
    "dl",
    { class: "cards" },
    all.map((m) =>
      h(
        "div",
        { class: "card" },
        h("dt", {}, `median σ*, γ ${short(number(m.gamma))}${text(m.group) === "against" ? ", the others" : ""}`),
        h("dd", {}, h("strong", {}, end(m, "median", "outcome")), h("span", {}, `[${end(m, "low", "low_outcome")}, ${end(m, "high", "high_outcome")}] over ${counted(number(m.rows) ?? 0, "row")}`)),
      ),
    ),
  );
}

export function persistence(result: Result): HTMLElement | null {
  if (result.command !== "persistence") return null;
  const rows = list(result.frame.rows).flatMap(readRow);
  const scan = text(fields(fields(result.frame.summary).scan).text);
  return h(
    "div",
    { class: "persistence" },
    h(
      "div",
      { class: "summary" },
      result.text !== null && h("p", { class: "lead" }, `${result.text[0]?.toUpperCase() ?? ""}${result.text.slice(1)}.`),
      medians(result),
    ),
    path(result, rows),
    rows.some((r) => r.t !== null) ? null : distributions(result),
    detector(result),
    rowLists(result, rows),
    section(
      "How sure this is",
      result.intervals !== null && h("p", {}, `Intervals: ${result.intervals}.`),
      scan !== null && h("p", {}, `The scan: ${scan}.`),
    ),
  );
}

/** What goes with a page of persistence. */
export function persistenceMeaning(): HTMLElement {
  return section(
    "What σ* does not mean",
    h(
      "ul",
      {},
      h("li", {}, "A large σ* does not say that the class is right. A constant model keeps its class for ever."),
      h("li", {}, "Noise meets what is common around a row, not what is worst: an attack may find another class much nearer."),
      h("li", {}, "σ* depends on the number of features: noise of deviation σ in n of them lies about σ√n away from the row."),
      h("li", {}, "Rows that are hard to classify have a small σ* too: it tells the ordinary from the odd, not the honest from the attacked."),
    ),
  );
}
