/** The Gamma Map with the rows that were measured last, and how stable the rows of every window are. */
import * as Plot from "@observablehq/plot";
import { counted, h, percent, short } from "./dom";
import { answerColours, answerRange, axes, boxOf, curves, logistic, padded, type Box } from "./map_plot";
import type { Theme } from "./theme";
import type { MapPoint, Model, Window } from "./watched";
import { alarm, said, spans, style, timeAxis } from "./watched_plots";

/** Around what the map was fitted on, and the points. */
function boxAround(m: Model): Box | null {
  if (m.map === null) return null;
  const { fitted, fit } = m.map;
  return m.points.length === 0 ? fitted : together(fitted, boxOf(m.points, fit.floor));
}

function together(a: Box, b: Box): Box {
  return { from: Math.min(a.from, b.from), to: Math.max(a.to, b.to), bottom: Math.min(a.bottom, b.bottom), top: Math.max(a.top, b.top) };
}

/** Those of alerts last, so that they are on top. */
function dots(m: Model, theme: Theme, width: number): Plot.Markish[] {
  const floor = m.map?.fit.floor ?? 0;
  const small = width < 300;
  const size = small ? 1.6 : width < 500 ? 2.2 : 3;
  const common = { x: (p: MapPoint) => Math.max(p.gamma, floor), y: "odds", fill: "probability" };
  return [
    Plot.dot(m.points.filter((p) => !p.alert), { ...common, r: size, fillOpacity: 0.8, stroke: theme.muted, strokeWidth: small ? 0 : 0.6, className: "points" }),
    Plot.dot(m.points.filter((p) => p.alert), { ...common, symbol: "diamond", r: 1.6 * size, stroke: theme.text, strokeWidth: small ? 0.8 : 0.5 * size, className: "alerted" }),
  ];
}

function words(p: MapPoint): string {
  return `${p.name}${p.alert ? ", of an alert" : ""}\nP ${short(logistic(p.odds))}, γ ${short(p.gamma)}\n${percent(p.probability)} stable [${percent(p.low)}, ${percent(p.high)}]${p.outside ? "\noutside of what the map was fitted on" : ""}`;
}

/** The measured rows by their P and gamma, with the curves of the map. */
export function mapPlot(model: () => Model): (width: number, theme: Theme) => Element {
  return (width, theme) => {
    const m = model();
    const around = boxAround(m);
    if (m.map === null || around === null) return h("div", {});
    const { fit, fitted } = m.map;
    const box = padded(around);
    const floor = fit.floor;
    return Plot.plot({
      width,
      height: Math.min(460, Math.max(300, 0.5 * width)),
      marginLeft: 74,
      marginRight: 48,
      marginTop: 26,
      marginBottom: 40,
      style,
      color: answerColours(theme),
      ...axes(box, width),
      marks: [
        Plot.rect([fitted], { x1: (d: Box) => 10 ** d.from, x2: (d: Box) => 10 ** d.to, y1: "bottom", y2: "top", fill: theme.muted, fillOpacity: 0.07, stroke: theme.muted, strokeOpacity: 0.6, strokeWidth: 0.8 }),
        ...curves(fit, box, theme),
        ...dots(m, theme, width),
        Plot.tip(m.points, Plot.pointer({ x: (p: MapPoint) => Math.max(p.gamma, floor), y: "odds", fill: theme.background, stroke: theme.line, lineHeight: 1.35, title: (p: MapPoint) => words(p) })),
      ],
    });
  };
}

/** A small one for an overview. All models have the same axes, so that they can be compared. */
export function smallMap(model: () => Model, others: () => Model[]): (width: number, theme: Theme) => Element {
  return (width, theme) => {
    const m = model();
    const around = others().reduce<Box | null>((all, other) => {
      const box = boxAround(other);
      return all === null || box === null ? (all ?? box) : together(all, box);
    }, null);
    if (m.map === null || around === null) return h("div", {});
    const box = padded(around);
    const { x, y } = axes(box, width);
    return Plot.plot({
      width,
      height: 0.6 * width,
      margin: 4,
      style,
      color: answerColours(theme),
      x: { ...x, axis: null },
      y: { ...y, axis: null, grid: false },
      marks: [Plot.frame({ stroke: theme.line }), ...curves(m.map.fit, box, theme, false), ...dots(m, theme, 0)],
    });
  };
}

interface Mean {
  at: number;
  mean: number;
  low: number;
  high: number;
  window: Window;
}

interface Cell {
  at: number;
  low: number;
  high: number;
  share: number;
}

/** Mean stability of every window, before how the rows' stability is distributed. */
export function stabilityPlot(model: () => Model): (width: number, theme: Theme) => Element {
  return (width, theme) => {
    const m = model();
    const known = m.windows.flatMap((window, at) => (window.stability === null ? [] : [{ window, at, stability: window.stability }]));
    const means = known.map(({ window, at, stability: s }): Mean => ({ at, window, mean: s.mean ?? 0, low: s.low ?? s.mean ?? 0, high: s.high ?? s.mean ?? 0 }));
    const cells = known.flatMap(({ at, stability: s }) => s.bins.flatMap((count, i): Cell[] => (count === 0 ? [] : [{ at, low: i / s.bins.length, high: (i + 1) / s.bins.length, share: count / s.rows }])));
    const last = Math.max(9, m.windows.length - 1);
    return Plot.plot({
      width,
      height: Math.min(260, Math.max(200, 0.28 * width)),
      marginLeft: 56,
      marginRight: 12,
      marginTop: 26,
      marginBottom: 34,
      style,
      x: { domain: [-0.5, last + 0.5], label: null, ...timeAxis(m, width) },
      y: { domain: [0, 1], label: "stable", grid: true, ticks: 5, tickFormat: (d: number) => percent(d) },
      marks: [
        Plot.rectX(spans(m), { x1: "from", x2: "to", fill: alarm(theme), fillOpacity: (d: { open: boolean }) => (d.open ? 0.16 : 0.08) }),
        Plot.rect(cells, { x1: (d: Cell) => d.at - 0.45, x2: (d: Cell) => d.at + 0.45, y1: "low", y2: "high", fill: theme.muted, fillOpacity: (d: Cell) => 0.05 + 0.6 * Math.sqrt(d.share) }),
        Plot.areaY(means, { x: "at", y1: "low", y2: "high", fill: theme.accent, fillOpacity: 0.25 }),
        Plot.lineY(means, { x: "at", y: "mean", stroke: theme.accent, strokeWidth: 2 }),
        Plot.dot(means, { x: "at", y: "mean", fill: theme.accent, r: means.length > 60 ? 1.5 : 3 }),
        Plot.tip(means, Plot.pointerX({ x: "at", y: "mean", fill: theme.background, stroke: theme.line, lineHeight: 1.35, title: (d: Mean) => `${said(m, d.window)}\n${percent(d.mean)} stable on average [${percent(d.low)}, ${percent(d.high)}]\n${counted(d.window.stability?.outside ?? 0, "row")} outside of what the map was fitted on` })),
      ],
    });
  };
}

/** What the marks of mapPlot() say. */
export function mapLegend(theme: Theme): HTMLElement {
  const item = (mark: string, words: string, colour = ""): HTMLElement => {
    const shown = h("span", { class: `mapmark ${mark}` });
    shown.style.background = colour;
    return h("li", {}, shown, words);
  };
  const [unstable, , stable] = answerRange(theme);
  return h("ul", { class: "legend" }, item("row", "stable, by the map", stable), item("row", "unstable", unstable), item("ofalert", "row of an alert"), item("fitted", "what the map was fitted on"));
}

/** What the picture shows, in a sentence or two. */
export function mapWords(m: Model): string {
  const further = m.map?.further ?? [];
  const steps = counted(m.map?.steps ?? 0, "step");
  return `${counted(m.points.length, "row")}: those measured last, and those of open alerts; by the probability P of the row's class, and γ in its logit. Dashed lines are where the map says that 10, 50 and 90 % of rows keep their class through ${steps} of its search${further.length > 0 ? `, ${further.join(" and ")} at the mean` : ""}.`;
}
