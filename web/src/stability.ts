/** The classes around rows: how often each is met as the noise grows. */
import * as Plot from "@observablehq/plot";
import { counted, figure, grouped, h, interval, percent, section, short, table } from "./dom";
import { plot, redrawAll } from "./plots";
import { fields, list, number, text, type Fields, type Result } from "./read";
import type { Theme } from "./theme";

const style = { fontSize: "12px", background: "transparent", overflow: "visible" };

interface Point {
  sigma: number;
  probability: number;
  low: number;
  high: number;
  samples: number;
  certified: number | null;
  outcome: string;
  exact: [number, number];
  shares: Map<number, number>;
}

interface Row {
  number: number;
  name: string;
  label: string | null;
  class: number;
  points: Point[];
  background: number | null;
  takeover: number | null;
}

interface MeanPoint {
  sigma: number;
  mean: number;
  low: number;
  high: number;
  rows: number;
  holding: number;
}

interface Sample {
  sigma: number;
  class: number | null;
  pixels: number[];
}

/** The rows that the page was given, whole ones alone. */
function readRows(result: Result): Row[] {
  const rows = new Map<number, Row>();
  for (const value of list(result.frame.rows)) {
    const r = fields(value);
    const [place, own, sigma, probability] = [number(r.row), number(r.class), number(r.sigma), number(r.probability)];
    if (place === null || own === null || sigma === null || probability === null) continue;
    const samples = number(r.samples) ?? 0;
    const shares = new Map<number, number>();
    for (const [name, count] of Object.entries(fields(r.frequencies))) shares.set(Number(name), (number(count) ?? 0) / Math.max(1, samples));
    const row = rows.get(place) ?? { number: place, name: text(r.id) ?? String(place), label: text(r.label), class: own, points: [], background: null, takeover: null };
    row.points.push({ sigma, probability, low: number(r.low) ?? probability, high: number(r.high) ?? probability, samples, certified: number(r.certified_radius), outcome: text(r.outcome) ?? "", exact: [number(r.exact_low) ?? 0, number(r.exact_high) ?? 1], shares });
    rows.set(place, row);
  }
  for (const value of list(fields(result.frame.summary).takeovers)) {
    const t = fields(value);
    const row = rows.get(number(t.row) ?? -1);
    if (row === undefined) continue;
    row.background = number(t.background);
    row.takeover = number(t.sigma);
  }
  const whole = Math.max(0, ...[...rows.values()].map((r) => r.points.length));
  return [...rows.values()].filter((r) => r.points.length === whole);
}

function readCurve(result: Result): MeanPoint[] {
  return list(fields(result.frame.summary).curve).flatMap((value) => {
    const p = fields(value);
    const [sigma, mean] = [number(p.sigma), number(p.mean)];
    if (sigma === null || mean === null) return [];
    return [{ sigma, mean, low: number(p.low) ?? mean, high: number(p.high) ?? mean, rows: number(p.rows) ?? 0, holding: number(p.holding) ?? 0 }];
  });
}

function readSamples(result: Result): { height: number; width: number; rows: Map<number, Sample[]> } {
  const pictures = fields(result.frame.pictures);
  const rows = new Map<number, Sample[]>();
  for (const value of list(pictures.rows)) {
    const samples = list(fields(value).samples).map((s) => {
      const sample = fields(s);
      return { sigma: number(sample.sigma) ?? 0, class: number(sample.class), pixels: list(sample.pixels).map((p) => number(p) ?? 0) };
    });
    rows.set(number(fields(value).row) ?? -1, samples);
  }
  return { height: number(pictures.height) ?? 0, width: number(pictures.width) ?? 0, rows };
}

/** Sigmas that were taken evenly in the logarithm are drawn so. */
function logarithmic(sigmas: number[]): boolean {
  const [first, second] = [sigmas[0] ?? 1, sigmas[1] ?? 1];
  const [last, before] = [sigmas[sigmas.length - 1] ?? 1, sigmas[sigmas.length - 2] ?? 1];
  return sigmas.length > 2 && last - before > 3 * (second - first);
}

function axes(width: number, sigmas: number[]): Plot.PlotOptions {
  return {
    width,
    height: Math.min(400, Math.max(260, 0.5 * width)),
    marginLeft: 48,
    marginRight: 72,
    marginBottom: 40,
    style,
    x: { type: logarithmic(sigmas) ? "log" : "linear", label: "σ of the noise", tickFormat: (d: number) => short(d, 3), ticks: width < 500 ? 4 : 8 },
    y: { label: "share of the noise samples", domain: [0, 1], grid: true, ticks: 5, tickFormat: (d: number) => percent(d) },
  };
}

interface Line {
  class: number;
  points: { sigma: number; share: number }[];
  most: number;
}

/** The row's own class first, then the others, those that are met most often before. */
function lines(row: Row): Line[] {
  const classes = new Set(row.points.flatMap((p) => [...p.shares.keys()]));
  classes.add(row.class);
  const all = [...classes].map((c) => {
    const points = row.points.map((p) => ({ sigma: p.sigma, share: p.shares.get(c) ?? 0 }));
    return { class: c, points, most: Math.max(...points.map((p) => p.share)) };
  });
  return all.sort((a, b) => Number(b.class === row.class) - Number(a.class === row.class) || b.most - a.most || a.class - b.class);
}

const namedClasses = 6;

/** Labels at the right end, moved apart where lines end together. */
function ends(named: Line[], gap: number): { class: number; y: number }[] {
  const placed = named.map((l) => ({ class: l.class, y: l.points[l.points.length - 1]?.share ?? 0 })).sort((a, b) => a.y - b.y);
  for (let i = 1; i < placed.length; i++) {
    const [below, here] = [placed[i - 1], placed[i]];
    if (below !== undefined && here !== undefined) here.y = Math.max(here.y, below.y + gap);
  }
  const over = (placed[placed.length - 1]?.y ?? 0) - 1;
  if (over > 0) for (const p of placed) p.y -= over;
  return placed;
}

function drawRow(row: Row, width: number, theme: Theme): Element {
  const all = lines(row);
  const named = all.filter((l) => l.class === row.class || l.class === row.background || l.most >= 0.05).slice(0, namedClasses);
  const others = all.filter((l) => !named.includes(l));
  const colour = (c: number): string => {
    if (c === row.class) return theme.text;
    const place = named.filter((l) => l.class !== row.class).findIndex((l) => l.class === c);
    return place < 0 ? theme.muted : (theme.classes[place % theme.classes.length] ?? theme.accent);
  };
  const base = axes(width, row.points.map((p) => p.sigma));
  const last = row.points[row.points.length - 1]?.sigma ?? 1;
  const single = row.points.length === 1;
  const taken = row.takeover === null ? [] : [row.takeover];
  return Plot.plot({
    ...base,
    marks: [
      Plot.ruleX(taken, { stroke: theme.muted, strokeDasharray: "3,3" }),
      Plot.text(taken, { x: (d: number) => d, y: 1, dy: -10, text: () => `class ${row.background} takes over`, fill: theme.muted, textAnchor: "middle" }),
      Plot.areaY(row.points, { x: "sigma", y1: "low", y2: "high", fill: theme.text, fillOpacity: 0.16 }),
      single ? Plot.ruleX(row.points, { x: "sigma", y1: "low", y2: "high", stroke: theme.text, strokeWidth: 2 }) : null,
      ...others.map((l) => Plot.lineY(l.points, { x: "sigma", y: "share", stroke: theme.muted, strokeWidth: 1, strokeOpacity: 0.6 })),
      ...[...named].reverse().map((l) => Plot.lineY(l.points, { x: "sigma", y: "share", stroke: colour(l.class), strokeWidth: l.class === row.class ? 2.4 : 1.8 })),
      single ? Plot.dot(named.flatMap((l) => l.points.map((p) => ({ ...p, class: l.class }))), { x: "sigma", y: "share", fill: (d: { class: number }) => colour(d.class), r: 4 }) : null,
      Plot.text(ends(named, 15 / ((base.height ?? 300) - 60)), { x: () => last, y: "y", dx: 8, text: (d: { class: number }) => `class ${d.class}`, fill: (d: { class: number }) => colour(d.class), textAnchor: "start" }),
      Plot.ruleY([0], { stroke: theme.muted }),
    ],
  });
}

function picture(sample: Sample, height: number, width: number): HTMLElement {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  if (context !== null && width > 0 && height > 0) {
    const image = context.createImageData(width, height);
    sample.pixels.slice(0, width * height).forEach((p, i) => image.data.set([p, p, p, 255], 4 * i));
    context.putImageData(image, 0, 0);
  }
  const said = sample.sigma === 0 ? "the row" : `σ ${short(sample.sigma, 3)}`;
  return h("figure", { class: "sample" }, canvas, h("figcaption", {}, said, h("br"), `class ${sample.class ?? "–"}`));
}

function rowName(row: Row): string {
  return row.label === null ? `row ${row.name}` : `row ${row.name} (${row.label})`;
}

function rowSentence(row: Row, largest: number): string {
  const own = `The model decides on class ${row.class} at ${rowName(row)}`;
  if (row.takeover !== null) return `${own}; from σ ${short(row.takeover)} on another class is met more often, and class ${row.background} is at the largest.`;
  return `${own}, which stays the most frequent up to σ ${short(largest)}.`;
}

function rowNumbers(row: Row, result: Result): HTMLElement {
  const rest = (p: Point): string =>
    [...p.shares]
      .filter(([c]) => c !== row.class)
      .sort((a, b) => b[1] - a[1])
      .slice(0, 4)
      .map(([c, share]) => `${c}: ${percent(share)}`)
      .join(", ");
  return table(
    `Noise samples around ${rowName(row)}; the certified radius, of Gaussian noise that is the same in every feature, is the distance within which the most probable class under the noise cannot change`,
    ["σ", `class ${row.class}`, `${percent(result.confidence)} interval`, "certified radius", "samples", "other classes"],
    row.points.map((p) => [figure(p.sigma), figure(p.probability), interval(p.low, p.high, false), figure(p.certified), grouped(p.samples), rest(p)]),
    [true, true, true, true, true, false],
  );
}

const shownButtons = 12;
const shownRows = 500;

/** The curves of one row, which is chosen. */
function curves(result: Result, rows: Row[]): HTMLElement | null {
  const first = rows[0];
  if (first === undefined) return null;
  const samples = readSamples(result);
  let row = first;
  const told = h("p", {});
  const strip = h("div", { class: "strip" });
  const numbers = h("div", {});
  const buttons: HTMLElement[] = [];
  const choose = (chosen: Row): void => {
    row = chosen;
    buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(rows[i] === row)));
    told.replaceChildren(rowSentence(row, row.points[row.points.length - 1]?.sigma ?? 0));
    strip.replaceChildren(...(samples.rows.get(row.number) ?? []).map((s) => picture(s, samples.height, samples.width)));
    numbers.replaceChildren(rowNumbers(row, result));
    redrawAll();
  };
  const offered = rows.slice(0, shownRows);
  if (rows.length <= shownButtons) buttons.push(...rows.map((r) => h("button", { type: "button", "aria-pressed": "false", click: () => choose(r) }, rowName(r))));
  const chooser =
    rows.length === 1
      ? null
      : buttons.length > 0
        ? h("div", { class: "choice", role: "group", "aria-label": "row" }, buttons)
        : h("label", { class: "choice" }, "row", h("select", { change: (event) => choose(offered[(event.target as HTMLSelectElement).selectedIndex] ?? first) }, offered.map((r) => h("option", {}, rowName(r)))));
  const built = section(
    rows.length === 1 ? "The classes around the row" : "The classes around a row",
    chooser,
    told,
    plot("share of the noise samples by class against sigma", "", (width, theme) => drawRow(row, width, theme)),
    h("p", { class: "note" }, `The row's own class is drawn in the colour of the text, with its ${percent(result.confidence)} band (Wilson); classes that are rarely met are grey.`),
    samples.rows.size > 0 && h("p", { class: "note" }, "The row and one noise sample as σ grows: the same displacement, larger and larger, and the class that the model gives it."),
    samples.rows.size > 0 && strip,
    h("details", {}, h("summary", {}, "The numbers"), numbers),
  );
  choose(first);
  return built;
}

function means(result: Result, curve: MeanPoint[]): HTMLElement | null {
  if (curve.length === 0 || (curve[0]?.rows ?? 0) < 2) return null;
  const sure = percent(result.confidence);
  const draw = (width: number, theme: Theme): Element => {
    const last = curve[curve.length - 1];
    const holding = curve.map((p) => ({ sigma: p.sigma, share: p.holding / Math.max(1, p.rows) }));
    const labels = [
      { y: last?.mean ?? 0, text: "mean", colour: theme.text },
      { y: holding[holding.length - 1]?.share ?? 0, text: "rows holding", colour: theme.accent },
    ].sort((a, b) => a.y - b.y);
    const [below, above] = labels;
    if (below !== undefined && above !== undefined && above.y - below.y < 0.06) above.y = below.y + 0.06;
    return Plot.plot({
      ...axes(width, curve.map((p) => p.sigma)),
      marginRight: 96,
      y: { label: "share", domain: [0, 1], grid: true, ticks: 5, tickFormat: (d: number) => percent(d) },
      marks: [
        Plot.areaY(curve, { x: "sigma", y1: "low", y2: "high", fill: theme.text, fillOpacity: 0.16 }),
        Plot.lineY(holding, { x: "sigma", y: "share", stroke: theme.accent, strokeWidth: 1.8 }),
        Plot.lineY(curve, { x: "sigma", y: "mean", stroke: theme.text, strokeWidth: 2.4 }),
        Plot.text(labels, { x: () => last?.sigma ?? 1, y: "y", dx: 8, text: "text", fill: (d: { colour: string }) => d.colour, textAnchor: "start" }),
        Plot.ruleY([0], { stroke: theme.muted }),
      ],
    });
  };
  return section(
    "All rows",
    h("p", {}, `The mean over ${counted(curve[0]?.rows ?? 0, "row")} of the share of noise samples that keep the row's class, with its ${sure} band, and the share of rows whose own class is still the most frequent.`),
    plot("mean share of the rows' own class against sigma", "", draw),
    h(
      "details",
      {},
      h("summary", {}, "The numbers"),
      table("Over all rows", ["σ", "mean share", `${sure} interval`, "rows", "rows holding"], curve.map((p) => [figure(p.sigma), figure(p.mean), interval(p.low, p.high, false), grouped(p.rows), grouped(p.holding)]), [true, true, true, true, true]),
    ),
  );
}

const outcomeWords: { [name: string]: string } = {
  stable: "the row's class has at least the probability γ",
  unstable: "it has less",
  borderline: "γ lies in the interval, which is as narrow as was asked for",
  budget: "the evaluations ran out before these were done",
};

/** Which rows are (gamma, sigma)-stable. */
function question(result: Result, rows: Row[], gamma: number): HTMLElement {
  const drawn = rows
    .flatMap((r) => r.points.slice(0, 1).map((p) => ({ ...p, low: p.exact[0], high: p.exact[1], name: r.name, class: r.class })))
    .sort((a, b) => a.probability - b.probability)
    .map((p, place) => ({ ...p, place }));
  const draw = (width: number, theme: Theme): Element => {
    const colour = (p: { outcome: string }): string => (p.outcome === "stable" ? (theme.classes[0] ?? "") : p.outcome === "unstable" ? (theme.classes[5] ?? "") : theme.muted);
    return Plot.plot({
      width,
      height: 300,
      marginLeft: 48,
      marginRight: 48,
      style,
      x: { axis: null, domain: [-0.5, Math.max(1, drawn.length) - 0.5] },
      y: { label: "probability of the row's class", domain: [0, 1], grid: true, ticks: 5, tickFormat: (d: number) => percent(d) },
      marks: [
        Plot.ruleY([gamma], { stroke: theme.text, strokeDasharray: "4,3" }),
        Plot.text([gamma], { frameAnchor: "right", y: (d: number) => d, dx: 44, text: () => `γ ${short(gamma)}`, fill: theme.text }),
        Plot.ruleX(drawn, { x: "place", y1: "low", y2: "high", stroke: colour, strokeWidth: 2, strokeOpacity: 0.5 }),
        Plot.dot(drawn, { x: "place", y: "probability", fill: colour, r: drawn.length > 150 ? 2 : 3.5, title: (p: { name: string; outcome: string }) => `row ${p.name}: ${p.outcome}` }),
        drawn.length <= 30 ? Plot.text(drawn, { x: "place", y: 0, dy: 12, text: "name", fill: theme.muted }) : null,
      ],
    });
  };
  const shown = drawn.slice(0, 200);
  return section(
    "Stable or not",
    plot("probability of each row's class with its interval, sorted", "", draw),
    h("p", { class: "note" }, "Rows from the least stable to the most; blue rows are stable, orange ones are not, grey ones are borderline."),
    h("ul", { class: "outcomes" }, result.outcomes.map(([name, count]) => h("li", {}, h("strong", {}, counted(count, "row")), ` ${name}: ${outcomeWords[name] ?? ""}.`))),
    h(
      "details",
      {},
      h("summary", {}, "The numbers"),
      table(`The ${shown.length} least stable rows`, ["row", "class", "probability", `${percent(result.confidence)} interval`, "samples", "outcome"], shown.map((p) => [p.name, String(p.class), figure(p.probability), interval(p.low, p.high, false), grouped(p.samples), p.outcome]), [false, true, true, true, true, false]),
    ),
  );
}

export function stability(result: Result): HTMLElement | null {
  if (result.command !== "stability") return null;
  const rows = readRows(result);
  const options: Fields = result.options;
  const gamma = number(options.gamma);
  const left = result.rowCount > result.rowsKept ? ` The page has the first ${counted(rows.length, "row")}.` : "";
  return h(
    "div",
    { class: "stability" },
    h("div", { class: "summary" }, result.text !== null && h("p", { class: "lead" }, `${result.text[0]?.toUpperCase() ?? ""}${result.text.slice(1)}.${left}`), result.intervals !== null && h("p", { class: "note" }, `Intervals: ${result.intervals}.`)),
    gamma === null ? [means(result, readCurve(result)), curves(result, rows)] : question(result, rows, gamma),
  );
}

/** What goes with a page of stability. */
export function stabilityMeaning(): HTMLElement {
  return section(
    "What the shares do not mean",
    h(
      "ul",
      {},
      h("li", {}, "A class that stays does not say that it is right. A constant model keeps its class for ever."),
      h("li", {}, "Noise meets what is common around a row, not what is worst: an attack may find another class much nearer."),
      h("li", {}, "The certified radius is about the model under the noise, which answers by the most frequent class, not about the model itself."),
      h("li", {}, "Each row's interval holds for itself; the same displacements serve all rows."),
    ),
  );
}
