/** The Gamma Map: P against gamma with stable and unstable rows, the table by class, and how the map does. */
import * as Plot from "@observablehq/plot";
import { counted, figure, grouped, h, interval, percent, section, short, table } from "./dom";
import { answerColours, axes, boxOf, curves, logistic, padded, readFit, type Box, type Fit } from "./map_plot";
import { plot, redrawAll } from "./plots";
import { fields, list, number, text, type Fields, type Result, type Value } from "./read";
import type { Theme } from "./theme";

const style = { fontSize: "12px", background: "transparent", overflow: "visible" };
const listedRows = 20;

interface Point {
  name: string;
  gamma: number;
  odds: number;
  stable: boolean | null;
  answer: number | null;
}

interface Density extends Box {
  across: number;
  up: number;
  stable: number[];
  unstable: number[];
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

function draw(points: Point[], density: Density | null, fit: Fit | null, floor: number, dense: () => boolean): (width: number, theme: Theme) => Element {
  return (width, theme) => {
    const colour = (stable: boolean | null): string => (stable === null ? theme.muted : stable ? (theme.dark ? "#3d9fdc" : "#0072b2") : "#d55e00");
    const inner = density ?? { ...boxOf(points, floor), across: 0, up: 0, stable: [], unstable: [] };
    const box = padded(inner);
    const most = Math.max(1, ...inner.stable.map((s, i) => s + (inner.unstable[i] ?? 0)));
    const cells = inner.stable.flatMap((s, i) => {
      const all = s + (inner.unstable[i] ?? 0);
      if (all === 0) return [];
      const [column, row] = [i % inner.across, Math.floor(i / inner.across)];
      const x = (k: number): number => 10 ** (inner.from + (k / inner.across) * (inner.to - inner.from));
      const y = (k: number): number => inner.bottom + (k / inner.up) * (inner.top - inner.bottom);
      return [{ x1: x(column), x2: x(column + 1), y1: y(row), y2: y(row + 1), share: s / all, all, opacity: 0.3 + (0.7 * Math.log1p(all)) / Math.log1p(most) }];
    });
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
      color: dense() || answered ? answerColours(theme) : { type: "identity" },
      ...axes(box, width),
      marks: [
        ...marks,
        ...(fit === null ? [] : curves(fit, box, theme)),
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
  const fit = readFit(fields(fields(result.frame.summary).map));
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
