/** Rows of another class near given ones: how many, after how many steps, and what was changed in them. */
import * as Plot from "@observablehq/plot";
import { counted, figure, grouped, h, interval, percent, section, short, table } from "./dom";
import { plot } from "./plots";
import { fields, list, number, text, type Fields, type Result } from "./read";
import type { Theme } from "./theme";

const style = { fontSize: "12px", background: "transparent", overflow: "visible" };

interface CurvePoint {
  method: string;
  step: number;
  share: number;
  low: number;
  high: number;
}

function curveOf(method: Fields): CurvePoint[] {
  const name = text(method.method) ?? "";
  return list(method.curve).flatMap((value) => {
    const p = fields(value);
    const [step, share] = [number(p.step), number(p.share)];
    return step === null || share === null ? [] : [{ method: name, step, share, low: number(p.low) ?? share, high: number(p.high) ?? share }];
  });
}

function colours(methods: Fields[], theme: Theme): Map<string, string> {
  return new Map(methods.map((m, i) => [text(m.method) ?? "", i === 0 ? theme.accent : (theme.classes[5] ?? theme.muted)]));
}

function curves(result: Result, methods: Fields[]): HTMLElement | null {
  const lines = methods.map(curveOf).filter((line) => line.length > 0);
  if (lines.length === 0) return null;
  const done = text(fields(result.options.gradient).target) === null ? "rows whose class has changed" : "rows that came to their target";
  const draw = (width: number, theme: Theme): Element => {
    const colour = colours(methods, theme);
    const of = (p: CurvePoint): string => colour.get(p.method) ?? theme.text;
    const ends = lines.flatMap((line) => line.slice(-1)).sort((a, b) => a.share - b.share);
    const [below, above] = ends;
    if (below !== undefined && above !== undefined && above.share - below.share < 0.06) ends[1] = { ...above, share: below.share + 0.06 };
    return Plot.plot({
      width,
      height: Math.min(380, Math.max(240, 0.45 * width)),
      marginLeft: 48,
      marginRight: 76,
      marginBottom: 40,
      style,
      x: { label: "step", tickFormat: (d: number) => String(d), ticks: width < 500 ? 5 : 10 },
      y: { label: done, domain: [0, 1], grid: true, ticks: 5, tickFormat: (d: number) => percent(d) },
      marks: [
        ...lines.map((line) => Plot.areaY(line, { x: "step", y1: "low", y2: "high", fill: of, fillOpacity: 0.14, curve: "step-after" })),
        ...lines.map((line) => Plot.lineY(line, { x: "step", y: "share", stroke: of, strokeWidth: 2.2, curve: "step-after" })),
        ...lines.filter((line) => line.length === 1).map((line) => Plot.ruleX(line, { x: "step", y1: "low", y2: "high", stroke: of, strokeOpacity: 0.5, strokeWidth: 2.2 })),
        ...lines.filter((line) => line.length === 1).map((line) => Plot.dot(line, { x: "step", y: "share", fill: of, r: 4 })),
        Plot.text(ends, { x: "step", y: "share", dx: 8, text: "method", fill: of, textAnchor: "start" }),
        Plot.ruleY([0], { stroke: theme.muted }),
      ],
    });
  };
  const median = (m: Fields, name: string): (Node | string)[] => {
    const value = fields(m[name]);
    return [figure(number(value.median)), number(value.low) === null ? "–" : interval(number(value.low), number(value.high), false)];
  };
  return section(
    "Success by step",
    plot(`share of ${done} against the step`, "", draw),
    h("p", { class: "note" }, `Bands are Wilson's ${percent(result.confidence)} intervals of each share.`),
    table(
      "Shares over all rows that were attacked; medians over those whose class changed",
      ["method", "rows", "changed", "share", `${percent(result.confidence)} interval`, "steps", "", "features", "", "l2", "", "evaluations"],
      methods.map((m) => [
        text(m.method) ?? "",
        grouped(number(m.rows) ?? 0),
        grouped(number(m.changed) ?? 0),
        figure(number(m.share)),
        interval(number(m.low), number(m.high), false),
        ...median(m, "steps"),
        ...median(m, "features"),
        ...median(m, "distortion_l2"),
        grouped(number(m.evaluations) ?? 0),
      ]),
      [false, true, true, true, true, true, true, true, true, true, true, true],
    ),
  );
}

function compared(result: Result): HTMLElement | null {
  const c = fields(fields(result.frame.summary).comparison);
  const [a, b, rows] = [text(c.a), text(c.b), number(c.rows)];
  if (a === null || b === null || rows === null) return null;
  return section(
    `${a} against ${b}`,
    h("p", {}, `Of ${counted(rows, "row")} that both attacked, both changed ${grouped(number(c.both) ?? 0)}, ${a} alone ${grouped(number(c.a_alone) ?? 0)} and ${b} alone ${grouped(number(c.b_alone) ?? 0)}.`),
    table("The difference of the two shares on the same rows", ["difference", `${percent(result.confidence)} interval`, "p of no difference"], [[figure(number(c.difference)), interval(number(c.low), number(c.high), false), figure(number(c.p_value), 2)]], [true, true, true]),
    h("p", { class: "note" }, "The interval is Tango's, for shares of the same rows; p is McNemar's exact test. Both methods had the same options; random had as many calls at most as gamma."),
  );
}

interface Shown {
  name: string;
  method: string;
  success: boolean;
  fields: Fields;
}

function readShown(result: Result): Shown[] {
  return list(result.frame.shown).flatMap((value) => {
    const s = fields(value);
    const row = number(s.row);
    return row === null ? [] : [{ name: text(s.id) ?? String(row), method: text(s.method) ?? "", success: s.success === true, fields: s }];
  });
}

/** In which order rows are drawn, and how many of each method are not. */
function leftOut(result: Result, drawn: Shown[]): string {
  const methods = list(fields(result.frame.summary).methods).map(fields);
  const said = methods.map((m) => {
    const name = text(m.method) ?? "";
    const own = drawn.filter((shown) => shown.method === name);
    const [first, changed] = [own.filter((shown) => shown.success).length, number(m.changed) ?? 0];
    const [further, kept] = [own.length - first, (number(m.rows) ?? 0) - changed];
    const of = (few: number, all: number): string => `${few === all ? "all" : few === 0 ? "none" : grouped(few)} of the ${grouped(all)}`;
    const parts = [...(changed > 0 ? [`${of(first, changed)} whose class changed`] : []), ...(kept > 0 ? [`${of(further, kept)} that kept it`] : [])];
    return `${name}, ${parts.join(" and ") || "none, as no row was attacked"}`;
  });
  return `Rows whose class changed come first, then others, each in the data's order. Rows shown: of ${said.join("; of ")}.`;
}

const base64 = /^[A-Za-z0-9+/=]*$/;

function picture(png: string | null, said: (string | Node)[], marks: HTMLElement | null): HTMLElement | null {
  if (png === null || !base64.test(png)) return null;
  return h("figure", { class: "sample" }, h("div", { class: "marked" }, h("img", { src: `data:image/png;base64,${png}`, alt: said.filter((s) => typeof s === "string").join(" ") }), marks), h("figcaption", {}, said));
}

const mostMarks = 200;

/** A frame around every pixel that was changed. */
function marks(shown: Fields, width: number, height: number): HTMLElement | null {
  const pixels = [...new Set(list(shown.path).flatMap((step) => number(fields(step).feature) ?? []))];
  if (pixels.length === 0 || pixels.length > mostMarks) return null;
  const frames = pixels.map((p) => {
    const frame = h("i", {});
    frame.style.left = `${(100 * ((p % width) + 0.5)) / width}%`;
    frame.style.top = `${(100 * (Math.floor(p / width) + 0.5)) / height}%`;
    return frame;
  });
  return h("span", { class: "marks", "aria-hidden": "true" }, frames);
}

/** Originals beside what became of them. */
function images(result: Result): HTMLElement | null {
  const [height, width] = list(result.options.image).map((v) => number(v) ?? 0);
  if (height === undefined || width === undefined) return null;
  const drawn: Shown[] = [];
  const blocks = readShown(result).flatMap((shown) => {
    const first = picture(text(shown.fields.png), ["the row", h("br"), `class ${number(shown.fields.class) ?? "–"}`], null);
    const last = picture(text(shown.fields.adversarial_png), [`${counted(number(shown.fields.changed) ?? 0, "pixel")} changed`, h("br"), `class ${number(shown.fields.new_class) ?? "–"}`], marks(shown.fields, width, height));
    if (first === null || last === null) return [];
    const strip = list(shown.fields.strip).flatMap((value) => {
      const s = fields(value);
      return picture(text(s.png), [`step ${number(s.step) ?? ""}`, h("br"), `class ${number(s.class) ?? "–"}`], null) ?? [];
    });
    drawn.push(shown);
    return [h("h4", {}, `Row ${shown.name}, ${shown.method}`), h("div", { class: "strip" }, first, strip, last)];
  });
  if (blocks.length === 0) return null;
  return section(
    "What was changed",
    h("p", { class: "note" }, leftOut(result, drawn)),
    h("p", { class: "note" }, `Frames mark the pixels that steps changed, where these are at most ${mostMarks}; between the row and what it became, the image after some of the steps, with the class that the model gives it.`),
    blocks,
  );
}

/** Which features were changed in rows that are no images. */
function changes(result: Result): HTMLElement | null {
  if (list(result.options.image).length > 0) return null;
  const names = list(result.data.features).map((v) => text(v) ?? "");
  const drawn: Shown[] = [];
  const rows = readShown(result).flatMap((shown) => {
    const listed = list(shown.fields.changes);
    if (listed.length === 0) return [];
    drawn.push(shown);
    const words = listed.slice(0, 12).map((value) => {
      const c = fields(value);
      const j = number(c.feature) ?? 0;
      return `${names[j] || `x${j}`}: ${short(number(c.from))} → ${short(number(c.to))}`;
    });
    return [[shown.name, shown.method, words.join(", ") + (listed.length > 12 ? ` and ${listed.length - 12} more` : "")]];
  });
  if (rows.length === 0) return null;
  return section("What was changed", h("p", { class: "note" }, leftOut(result, drawn)), table("Features that differ", ["row", "method", "features, before and after"], rows, [true, false, false]));
}

const shownRows = 200;

function rowTable(result: Result, methods: Fields[]): HTMLElement | null {
  const rows = list(result.frame.rows).map(fields);
  if (rows.length === 0) return null;
  // The first rows of the data, the same of each method.
  const each = Math.floor(shownRows / Math.max(1, methods.length));
  const all = result.rowCount / Math.max(1, methods.length);
  const shown = methods.flatMap((m) => rows.filter((r) => r.method === m.method).slice(0, each));
  const whole = (v: number | null): string => (v === null ? "–" : grouped(v));
  const targets = shown.some((r) => number(r.target ?? null) !== null);
  return section(
    "The rows",
    h(
      "details",
      {},
      h("summary", {}, all > each ? `The first ${each} of ${counted(all, "row")}${methods.length > 1 ? ", by each method" : ""}; the result has all` : "The numbers"),
      table(
        "logit: the output of the row's class; l2: root mean square change of a feature",
        ["row", "method", "class", ...(targets ? ["target"] : []), "new class", "steps", "changed", "l2", "largest", "logit before", "after", "evaluations", "outcome"],
        shown.map((r) => [
          text(r.id ?? null) ?? whole(number(r.row ?? null)),
          text(r.method ?? null) ?? "",
          whole(number(r.class ?? null)),
          ...(targets ? [whole(number(r.target ?? null))] : []),
          whole(number(r.new_class ?? null)),
          whole(number(r.steps ?? null)),
          whole(number(r.changed ?? null)),
          figure(number(r.distortion_l2 ?? null)),
          figure(number(r.distortion_linf ?? null)),
          figure(number(r.first_logit ?? null)),
          figure(number(r.last_logit ?? null)),
          whole(number(r.evaluations ?? null)),
          text(r.outcome ?? null) ?? "",
        ]),
        [true, false, true, ...(targets ? [true] : []), true, true, true, true, true, true, true, true, false],
      ),
    ),
  );
}

export function attack(result: Result): HTMLElement | null {
  if (result.command !== "attack") return null;
  const methods = list(fields(result.frame.summary).methods).map(fields);
  const lead = (result.text ?? "").replace(/^((r|mi)?fgsm|bim|pgd(-penalty)?|cw|lbfgs) /, "Attack $1 ");
  return h(
    "div",
    { class: "attack" },
    h("div", { class: "summary" }, lead !== "" && h("p", { class: "lead" }, `${lead[0]?.toUpperCase() ?? ""}${lead.slice(1)}.`), result.intervals !== null && h("p", { class: "note" }, `Intervals: ${result.intervals}.`)),
    curves(result, methods),
    compared(result),
    images(result),
    changes(result),
    rowTable(result, methods),
  );
}

/** What goes with a page of attacks. */
export function attackMeaning(): HTMLElement {
  return section(
    "What the shares do not mean",
    h(
      "ul",
      {},
      h("li", {}, "A row that kept its class is not safe: another method, more steps, a larger radius or ball may change it."),
      h("li", {}, "A changed class says that the model is unstable there, not that its first answer was right."),
      h("li", {}, "Shares of methods compare at equal steps and calls alone; what a call may move differs between them."),
    ),
  );
}
