/** gamma of every window beside the baseline's, and regions by windows. */
import * as Plot from "@observablehq/plot";
import { counted, grouped, h, short } from "./dom";
import type { Theme } from "./theme";
import type { Model, Window } from "./watched";

export const style = { fontSize: "12px", background: "transparent", overflow: "visible" };

/** A time of the last day without its date. */
export function clock(time: number): string {
  const at = new Date(1000 * time);
  const day = Math.abs(Date.now() / 1000 - time) < 86400 ? "" : `${at.toLocaleDateString("en-CA")} `;
  return `${day}${at.toLocaleTimeString("en-GB")}`;
}

interface Point extends Window {
  at: number;
  mean: number;
  low: number;
  high: number;
}

function points(model: Model): Point[] {
  return model.windows.flatMap((w, at) => {
    const { mean, low, high } = w.gamma;
    return mean === null ? [] : [{ ...w, at, mean, low: low ?? mean, high: high ?? mean }];
  });
}

/** The stretch of windows that an alert is about. */
export function spans(model: Model): { from: number; to: number; open: boolean }[] {
  const last = model.windows.length - 1;
  return model.alerts.flatMap((alert) => {
    if (model.windows.every((w) => w.end < alert.since)) return [];
    // By rows: many windows may have come in the same moment.
    const from = model.windows.reduce((found, w, at) => (w.firstNumber <= alert.sinceNumber ? at : found), 0);
    const until = alert.ended === null ? -1 : model.windows.findIndex((w) => w.end >= (alert.ended ?? 0));
    return [{ from: from - 0.5, to: (until < 0 ? last : Math.max(from, until)) + 0.5, open: alert.open }];
  });
}

/** Times under some of the windows, so many that they do not touch; rows, where they came faster than times tell apart. */
export function timeAxis(model: Model, width: number): { ticks: number[]; tickFormat: (at: number) => string } {
  const windows = model.windows;
  const most = Math.max(2, Math.floor(width / 150));
  const step = Math.max(1, Math.ceil(windows.length / most));
  const [first, last] = [windows[0]?.end ?? 0, windows[windows.length - 1]?.end ?? 0];
  const sameDay = new Date(1000 * first).toDateString() === new Date(1000 * last).toDateString();
  const byTime = last - first >= windows.length;
  return {
    ticks: windows.flatMap((_, at) => (at % step === 0 ? [at] : [])),
    tickFormat: (at) => {
      if (!byTime) return `row ${grouped(windows[at]?.next ?? 0)}`;
      const date = new Date(1000 * (windows[at]?.end ?? 0));
      return sameDay ? date.toLocaleTimeString("en-GB") : `${date.toLocaleDateString("en-CA")} ${date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}`;
    },
  };
}

export function said(model: Model, w: Window): string {
  const where = model.windows.some((other) => other.partition !== w.partition) ? ` of partition ${w.partition}` : "";
  return `until ${clock(w.end)}: rows ${w.first} to ${w.next - 1}${where}`;
}

export const alarm = (theme: Theme): string => theme.classes[5] ?? theme.accent;

/** gamma of every window. Room for ten from the beginning, so that the first do not jump. */
export function gammaPlot(model: () => Model): (width: number, theme: Theme) => Element {
  return (width, theme) => {
    const m = model();
    const all = points(m);
    const base = m.baseline;
    const last = Math.max(9, m.windows.length - 1);
    const named = base.mean !== null && width > 500;
    return Plot.plot({
      width,
      height: Math.min(320, Math.max(220, 0.34 * width)),
      marginLeft: 52,
      marginRight: named ? 68 : 12,
      marginTop: 30,
      marginBottom: 34,
      style,
      x: { domain: [-0.5, last + 0.5], label: null, ...timeAxis(m, width) },
      y: { label: "γ", grid: true, ticks: 5, zero: true, nice: true, tickFormat: (d: number) => short(d, 3) },
      marks: [
        Plot.rectX(spans(m), { x1: "from", x2: "to", fill: alarm(theme), fillOpacity: (d: { open: boolean }) => (d.open ? 0.16 : 0.08) }),
        base.mean === null ? null : Plot.rectY([base], { x1: -0.5, x2: last + 0.5, y1: () => base.low ?? base.mean ?? 0, y2: () => base.high ?? base.mean ?? 0, fill: theme.muted, fillOpacity: 0.25 }),
        base.mean === null ? null : Plot.ruleY([base.mean], { stroke: theme.muted, strokeDasharray: "4,3" }),
        named ? Plot.text([base.mean ?? 0], { x: last + 0.5, y: (d: number) => d, dx: 6, text: () => "baseline", textAnchor: "start", fill: theme.muted }) : null,
        Plot.areaY(all, { x: "at", y1: "low", y2: "high", fill: theme.accent, fillOpacity: 0.2 }),
        Plot.ruleX(all.length === 1 ? all : [], { x: "at", y1: "low", y2: "high", stroke: theme.accent, strokeOpacity: 0.5 }),
        Plot.lineY(all, { x: "at", y: "mean", stroke: theme.accent, strokeWidth: 2 }),
        Plot.dot(all, { x: "at", y: "mean", fill: theme.accent, r: all.length > 60 ? 1.5 : 3 }),
        Plot.ruleY([0], { stroke: theme.muted }),
        Plot.tip(all, Plot.pointerX({ x: "at", y: "mean", fill: theme.background, stroke: theme.line, lineHeight: 1.35, title: (d: Point) => `${said(m, d)}\nγ ${short(d.mean)} [${short(d.low)}, ${short(d.high)}], ${counted(d.measured, "row")} measured` })),
      ],
    });
  };
}

/** A small line of gamma for an overview. */
export function sparkline(model: () => Model): (width: number, theme: Theme) => Element {
  return (width, theme) => {
    const m = model();
    const all = points(m);
    const base = m.baseline;
    return Plot.plot({
      width,
      height: 56,
      margin: 4,
      style,
      x: { axis: null, domain: [-0.5, Math.max(9, m.windows.length - 1) + 0.5] },
      y: { axis: null, zero: true },
      marks: [
        Plot.rectX(spans(m), { x1: "from", x2: "to", fill: alarm(theme), fillOpacity: 0.2 }),
        base.mean === null ? null : Plot.ruleY([base.mean], { stroke: theme.muted, strokeDasharray: "4,3" }),
        Plot.lineY(all, { x: "at", y: "mean", stroke: theme.accent, strokeWidth: 1.5 }),
        Plot.dot(all.slice(-1), { x: "at", y: "mean", fill: theme.accent, r: 2.5 }),
      ],
    });
  };
}

interface Cell {
  at: number;
  region: number;
  ratio: number;
  rows: number;
  mean: number;
  before: number | null;
}

/** How often gamma is doubled against the baseline; -1 is a half. */
function doublings(mean: number, before: number | null): number {
  if (before === null || mean === before) return 0;
  return mean === 0 ? -Infinity : before === 0 ? Infinity : Math.log2(mean / before);
}

const steps = [-1, -0.5, 0, 0.5, 1];

function heat(theme: Theme): string[] {
  return theme.dark ? ["#7fc4e8", "#2f6f94", "#23272d", "#b3531c", "#ffb27a"] : ["#0b5d8a", "#7fb8d6", "#f1f0ea", "#f0a06a", "#b8400a"];
}

/** gamma of every region in every window against the baseline's. */
export function regionPlot(model: () => Model): (width: number, theme: Theme) => Element {
  return (width, theme) => {
    const m = model();
    const cells = m.windows.flatMap((w, at) =>
      w.regionMeans.flatMap((mean, region): Cell[] => {
        const before = m.regions[region]?.mean ?? null;
        return mean === null ? [] : [{ at, region, mean, before, rows: w.regionRows[region] ?? 0, ratio: Math.max(-1, Math.min(1, doublings(mean, before))) }];
      }),
    );
    const worded = width > 700;
    const letters = worded ? 36 : 0;
    const cut = (words: string): string => (words.length > letters ? `${words.slice(0, letters - 1)}…` : words);
    const last = Math.max(9, m.windows.length - 1);
    return Plot.plot({
      width,
      height: 26 * m.regions.length + 44,
      marginLeft: worded ? 280 : 40,
      marginRight: 12,
      marginTop: 8,
      marginBottom: 34,
      style,
      x: { type: "band", domain: Array.from({ length: last + 1 }, (_, i) => i), label: null, padding: 0, ...timeAxis(m, width - (worded ? 250 : 0)) },
      y: { type: "band", domain: m.regions.map((_, i) => i), label: null, tickSize: 0, tickFormat: (i: number) => (worded ? `${cut(m.regions[i]?.text ?? "")}  ${i + 1}` : String(i + 1)) },
      color: { type: "linear", domain: steps, range: heat(theme), clamp: true },
      marks: [
        Plot.cell(cells, { x: "at", y: "region", fill: "ratio", inset: 0.5, fillOpacity: (d: Cell) => Math.min(1, 0.25 + Math.sqrt(d.rows / 30)) }),
        Plot.tip(
          cells,
          Plot.pointer({
            x: "at",
            y: "region",
            fill: theme.background,
            stroke: theme.line,
            lineHeight: 1.35,
            lineWidth: 26,
            title: (d: Cell) => `${m.regions[d.region]?.text ?? ""}\n${said(m, m.windows[d.at] as Window)}\nγ ${short(d.mean)} of ${counted(d.rows, "row")}, ${short(d.before)} in the baseline`,
          }),
        ),
      ],
    });
  };
}

/** What the colours of regionPlot() say. */
export function heatLegend(theme: Theme): HTMLElement {
  const names = ["half or less", "0.7 times", "as in the baseline", "1.4 times", "double or more"];
  return h(
    "ul",
    { class: "legend" },
    heat(theme).map((colour, i) => {
      const swatch = h("span", { class: "swatch cell" });
      swatch.style.background = colour;
      return h("li", {}, swatch, names[i]);
    }),
  );
}
