/** The histogram, gamma against the radius, and intervals. */
import * as Plot from "@observablehq/plot";
import { grouped, h, percent, section, short } from "./dom";
import { plot, redrawAll } from "./plots";
import type { Bins, Result, SweepPoint } from "./read";
import type { Theme } from "./theme";

const style = { fontSize: "12px", background: "transparent", overflow: "visible" };

interface Bar {
  from: number;
  to: number;
  count: number;
}

function bars(bins: Bins, power: boolean): Bar[] {
  const width = (bins.to - bins.from) / bins.counts.length;
  const edge = (i: number): number => (power ? 10 ** (bins.from + i * width) : bins.from + i * width);
  if (width === 0) {
    const count = bins.counts.reduce((a, b) => a + b, 0);
    const at = power ? 10 ** bins.from : bins.from;
    return [{ from: at * 0.95, to: at * 1.05, count }];
  }
  return bins.counts.map((count, i) => ({ from: edge(i), to: edge(i + 1), count }));
}

export function histogram(result: Result): HTMLElement | null {
  const all = result.histogram;
  if (all === null || all.entries === 0) return null;
  const what = result.columns.length > 0 ? "entries (a row has one an output)" : "rows";
  const words = [`Of ${grouped(all.entries)} ${what}, `];
  if (all.zeros > 0) words.push(`${grouped(all.zeros)} (${percent(all.zeros / all.entries)}) have γ = 0: there the model is harmonic within the radius. `);
  else words.push("none has γ = 0. ");
  if (all.missing > 0) words.push(`${grouped(all.missing)} (${percent(all.missing / all.entries)}) have no value. `);
  const { linear, logarithmic } = all;
  const title = "How γ is distributed";
  if (linear === null || logarithmic === null) return section(title, h("p", {}, words.join("")));
  words.push(`The plot shows the ${grouped(all.entries - all.zeros - all.missing)} others.`);
  // A few decades are best seen by the logarithm.
  let power = logarithmic.to - logarithmic.from > 1.5;
  const buttons = [false, true].map((value) =>
    h(
      "button",
      {
        type: "button",
        "aria-pressed": String(value === power),
        click: () => {
          power = value;
          buttons.forEach((b, i) => b.setAttribute("aria-pressed", String((i === 1) === power)));
          redrawAll();
        },
      },
      value ? "logarithmic" : "linear",
    ),
  );
  const draw = (width: number, theme: Theme): Element =>
    Plot.plot({
      width,
      height: 260,
      marginLeft: 48,
      marginBottom: 40,
      style,
      x: { type: power ? "log" : "linear", label: "γ", tickFormat: power ? (d: number) => short(d, 3) : undefined, ticks: width < 500 ? 4 : 8, nice: !power },
      y: { label: what.startsWith("rows") ? "rows" : "entries", grid: true, ticks: 5, tickFormat: (d: number) => (Number.isInteger(d) ? grouped(d) : "") },
      marks: [
        Plot.rectY(power ? bars(logarithmic, true) : bars(linear, false), {
          x1: "from",
          x2: "to",
          y: "count",
          fill: theme.accent,
          inset: 0.5,
          filter: (d: Bar) => d.count > 0,
        }),
        Plot.ruleY([0], { stroke: theme.muted }),
      ],
    });
  return section(
    title,
    h("p", {}, words.join("")),
    h("div", { class: "choice", role: "group", "aria-label": "scale of γ" }, buttons),
    plot("histogram of gamma", "", draw),
  );
}

/** All sweeps of the page in one plot: what is compared belongs side by side. */
export function sweeps(results: Result[]): HTMLElement | null {
  // A model that was swept twice, with other data or options, has a line for each.
  const seen = new Map<string, number>();
  const points = results.flatMap((r) => {
    const name = r.sweep[0]?.model ?? "";
    const times = (seen.get(name) ?? 0) + (r.sweep.length > 0 ? 1 : 0);
    seen.set(name, times);
    return times > 1 ? r.sweep.map((p) => ({ ...p, model: `${p.model} (${times})` })) : r.sweep;
  });
  if (points.length === 0) return null;
  const names = [...new Set(points.map((p) => p.model))];
  const sources = new Set(results.filter((r) => r.sweep.length > 0).map((r) => r.source));
  const confidence = results.find((r) => r.sweep.length > 0)?.confidence ?? 0.95;
  const draw = (width: number, theme: Theme): Element => {
    const color = { type: "ordinal" as const, domain: names, range: names.map((_, i) => theme.classes[i % theme.classes.length] ?? theme.accent) };
    const whole = points.filter((p) => p.mean !== null);
    const banded = whole.filter((p) => p.low !== null && p.high !== null);
    const positive = whole.every((p) => (p.mean ?? 0) > 0);
    const common = { x: "radius", stroke: "model", sort: "radius" } as const;
    return Plot.plot({
      width,
      height: Math.min(420, Math.max(260, 0.55 * width)),
      marginLeft: 56,
      marginBottom: 40,
      style,
      x: { type: "log", label: "radius", tickFormat: (d: number) => short(d, 3), ticks: width < 500 ? 4 : 8 },
      y: { type: positive ? "log" : "linear", label: "mean γ", grid: true, tickFormat: (d: number) => short(d, 3), ticks: 6 },
      color,
      marks: [
        Plot.areaY(banded, { x: "radius", y1: (p: SweepPoint) => (positive ? Math.max(p.low ?? 0, (p.mean ?? 0) / 1000) : p.low), y2: "high", fill: "model", fillOpacity: 0.18, z: "model", sort: "radius" }),
        Plot.lineY(whole, { ...common, y: "mean", strokeWidth: 1.8, z: "model" }),
        Plot.dot(whole, { ...common, y: "mean", fill: theme.background, strokeWidth: 1.6, r: 3 }),
      ],
    });
  };
  const legend =
    names.length > 1 &&
    h("ul", { class: "legend" }, names.map((name, i) => h("li", {}, h("span", { class: `swatch line c${i % 7}` }), name)));
  return section(
    "γ against the radius",
    h("p", { class: "note" }, `The mean of γ over the rows${sources.size > 1 ? " of each result's data" : ""}; bands are ${percent(confidence)} intervals.`),
    legend,
    plot("mean gamma against the radius", "", draw),
  );
}

export interface Bracket {
  name: string;
  middle: number | null;
  low: number | null;
  high: number | null;
  detail: string;
  strong: boolean;
}

/** Intervals below each other, each with its name above it: long names fit, on a phone too. */
export function brackets(label: string, axis: string, items: Bracket[], zero: boolean): HTMLElement {
  const rows = items.map((item, place) => ({ ...item, place }));
  const known = rows.filter((r) => r.middle !== null);
  const ends = known.flatMap((r) => [r.low ?? r.middle ?? 0, r.high ?? r.middle ?? 0, r.middle ?? 0]);
  return plot(label, "", (width, theme) => {
    const letters = Math.max(16, Math.floor((width - 24) / 7));
    const cut = (text: string): string => (text.length > letters ? `${text.slice(0, letters - 1)}…` : text);
    const colour = (r: Bracket): string => (r.strong ? theme.accent : theme.muted);
    const y = (r: { place: number }): number => r.place;
    return Plot.plot({
      width,
      height: 46 * rows.length + 50,
      marginLeft: 28,
      marginRight: 28,
      marginTop: 8,
      marginBottom: 40,
      style,
      x: { label: axis, grid: true, zero: true, nice: true, ticks: width < 500 ? 4 : 8, domain: undefined, tickFormat: (d: number) => short(d, 3) },
      y: { axis: null, domain: [-0.6, rows.length - 0.6], reverse: true },
      marks: [
        zero ? Plot.ruleX([0], { stroke: theme.muted, strokeDasharray: "3,3" }) : null,
        Plot.ruleX(ends, { x: Plot.identity, strokeOpacity: 0 }),
        Plot.link(known.filter((r) => r.low !== null && r.high !== null), { x1: "low", x2: "high", y1: y, y2: y, stroke: colour, strokeWidth: 3, strokeOpacity: 0.55, strokeLinecap: "round" }),
        Plot.link(known.filter((r) => r.low !== null && r.high === null), { x1: "low", x2: "middle", y1: y, y2: y, stroke: colour, strokeWidth: 3, strokeOpacity: 0.35, strokeDasharray: "4,4" }),
        Plot.dot(known, { x: "middle", y, fill: colour, r: 4.5, stroke: theme.background, strokeWidth: 1 }),
        Plot.text(rows, { frameAnchor: "left", y, dy: -16, text: (r: Bracket) => cut(r.detail === "" ? r.name : `${r.name}  ·  ${r.detail}`), fill: theme.text, textAnchor: "start", stroke: theme.background, strokeWidth: 6 }),
      ],
    });
  });
}
