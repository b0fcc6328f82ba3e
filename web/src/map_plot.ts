/** What pictures of a Gamma Map have in common: P against gamma, and where the map says 10, 50 and 90 %. */
import * as Plot from "@observablehq/plot";
import { percent, short } from "./dom";
import { fields, list, number, type Fields } from "./read";
import type { Theme } from "./theme";

const levels = [0.1, 0.5, 0.9];

export interface Fit {
  floor: number;
  /** Log-odds of being stable = at + byOdds · logit P + byGamma · log gamma, further variables at their means. */
  at: number;
  byOdds: number;
  byGamma: number;
}

/** Powers of ten of gamma, and log-odds of P, that a picture shows. */
export interface Box {
  from: number;
  to: number;
  bottom: number;
  top: number;
}

/** From the members that a result's map and a monitor's have alike. */
export function readFit(map: Fields): Fit | null {
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

export const logistic = (odds: number): number => 1 / (1 + Math.exp(-odds));
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
function contours(fit: Fit, box: Box): { level: number; gamma: number; odds: number }[] {
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

/** Just around the points. */
export function boxOf(points: { gamma: number; odds: number }[], floor: number): Box {
  const ends = (values: number[]): [number, number] => {
    let [low, high] = [Infinity, -Infinity];
    for (const v of values) [low, high] = [Math.min(low, v), Math.max(high, v)];
    return low < high ? [low, high] : [low - 0.5, low + 0.5];
  };
  const [from, to] = ends(points.map((p) => Math.log10(Math.max(p.gamma, floor))));
  const [bottom, top] = ends(points.map((p) => p.odds));
  return { from, to, bottom, top };
}

export function padded<B extends Box>(box: B): B {
  const [x, y] = [0.04 * (box.to - box.from), 0.05 * (box.top - box.bottom)];
  return { ...box, from: box.from - x, to: box.to + x, bottom: box.bottom - y, top: box.top + y };
}

/** Both axes of a picture of this width. */
export function axes(box: Box, width: number): { x: Plot.ScaleOptions; y: Plot.ScaleOptions } {
  const ticks = oddsTicks(box.bottom, box.top);
  return {
    x: { type: "log", domain: [10 ** box.from, 10 ** box.to], label: "γ", tickFormat: (d: number) => short(d, 2), ticks: decades(box.from, box.to, width < 500 ? 3 : 8) },
    y: { domain: [box.bottom, box.top], label: "P", ticks: [...ticks.keys()], tickFormat: (d: number) => ticks.get(d) ?? "", grid: true },
  };
}

/** Colours of the map's answers: orange is unstable, blue is stable. */
export function answerRange(theme: Theme): [string, string, string] {
  return theme.dark ? ["#d55e00", "#8a8f96", "#3d9fdc"] : ["#d55e00", "#d9d4c3", "#0072b2"];
}

export function answerColours(theme: Theme): Plot.ScaleOptions {
  return { type: "linear", domain: [0, 0.5, 1], range: answerRange(theme), interpolate: "rgb" };
}

/** Labels that would cover each other go apart, by a line's height each; the middle one stays. */
function apart<L extends { gamma: number; odds: number }>(labels: L[], box: Box): L[] {
  const gap = 0.05 * (box.top - box.bottom);
  const middle = labels[Math.floor(labels.length / 2)];
  if (middle === undefined) return labels;
  const near = (l: L): boolean => Math.abs(Math.log10(l.gamma / middle.gamma)) < 0.08 * (box.to - box.from) && Math.abs(l.odds - middle.odds) < gap;
  return labels.map((l) => (l === middle || !near(l) ? l : { ...l, odds: middle.odds + (l.odds < middle.odds ? -gap : gap) }));
}

/** The curves of constant probability; `named`: with what they say. */
export function curves(fit: Fit, box: Box, theme: Theme, named = true): Plot.Markish[] {
  const lines = contours(fit, box);
  const labels = named ? apart(levels.flatMap((level) => lines.filter((d) => d.level === level).slice(-1)), box) : [];
  return [
    Plot.line(lines, { x: "gamma", y: "odds", z: "level", stroke: theme.text, strokeWidth: (d: { level: number }) => (d.level === 0.5 ? 2 : 1.2), strokeDasharray: "5,3" }),
    Plot.text(labels, { x: "gamma", y: "odds", text: (d: { level: number }) => percent(d.level), dx: 8, textAnchor: "start", fill: theme.text, stroke: theme.background, strokeWidth: 4 }),
  ];
}
