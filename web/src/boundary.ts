/** Crossings of segments with decision boundaries: the angles on a quarter circle, and where they lie along the way. */
import * as Plot from "@observablehq/plot";
import { brackets } from "./charts";
import { counted, figure, grouped, h, interval, percent, section, short, table } from "./dom";
import { plot } from "./plots";
import { fields, list, number, text, type Fields, type Result, type Value } from "./read";
import type { Theme } from "./theme";

const style = { fontSize: "12px", background: "transparent", overflow: "visible" };
const drawnPairs = 40;
const listedRows = 20;
const drawnRays = 300;

interface Crossing {
  row: number;
  name: string;
  t: number | null;
  from: number | null;
  to: number | null;
  angle: number | null;
  low: number | null;
  high: number | null;
  method: string;
  outcome: string;
}

interface Angles {
  mean: number | null;
  low: number | null;
  high: number | null;
  count: number;
  histogram: number[];
  errorMedian: number | null;
  errorMax: number | null;
  quantiles: [string, number | null][];
}

function crossings(result: Result): Crossing[] {
  const side = (row: Fields, key: string): string => text(row[`${key}_id`]) ?? String(number(row[key]) ?? "–");
  return list(result.frame.rows).map((v) => {
    const row = fields(v);
    const classes = list(row.classes);
    return {
      row: number(row.row) ?? 0,
      name: `${side(row, "a")} → ${side(row, "b")}`,
      t: number(row.t),
      from: number(classes[0]),
      to: number(classes[1]),
      angle: number(row.angle),
      low: number(row.angle_low),
      high: number(row.angle_high),
      method: text(row.method) ?? "–",
      outcome: text(row.outcome) ?? "–",
    };
  });
}

function angles(result: Result): Angles {
  const a = fields(fields(result.frame.summary).angle);
  return {
    mean: number(a.mean),
    low: number(a.low),
    high: number(a.high),
    count: number(a.count) ?? 0,
    histogram: list(a.histogram).map((v) => number(v) ?? 0),
    errorMedian: number(a.error_median),
    errorMax: number(a.error_max),
    quantiles: Object.entries(fields(a.quantiles)).map(([p, v]: [string, Value]) => [p, number(v)]),
  };
}

/** From 0°, along the boundary, at the right to 90°, orthogonal to it, at the top. */
function quarter(all: Crossing[], a: Angles): (width: number, theme: Theme) => Element {
  return (full, theme) => {
    const width = Math.min(full, 460);
    const most = Math.max(1, ...a.histogram);
    const inner = 0.28;
    const bins = Math.max(1, a.histogram.length);
    const at = (degrees: number, radius: number): [number, number] => {
      const turn = (degrees * Math.PI) / 180;
      return [radius * Math.cos(turn), radius * Math.sin(turn)];
    };
    const arc = (from: number, to: number, radius: number): [number, number][] => Array.from({ length: 13 }, (_, i) => at(from + ((to - from) * i) / 12, radius));
    const wedges = a.histogram.flatMap((count, i) => {
      if (count === 0) return [];
      const from = (90 * i) / bins;
      const to = (90 * (i + 1)) / bins;
      const outer = inner + (1 - inner) * (count / most);
      return [...arc(from, to, inner), ...arc(to, from, outer)].map(([x, y]) => ({ x, y, bin: i, count, from, to }));
    });
    const rings = [0, 0.5, 1].map((share) => inner + (1 - inner) * share);
    const ring = rings.flatMap((radius) => arc(0, 90, radius).map(([x, y]) => ({ x, y, radius })));
    const spokes = [0, 15, 30, 45, 60, 75, 90].map((d) => ({ d, inside: at(d, inner), outside: at(d, 1), label: at(d, 1.07) }));
    const rays = all.filter((c) => c.angle !== null).slice(0, drawnRays).map((c) => at(c.angle ?? 0, inner - 0.02));
    const mean = a.mean === null ? [] : [{ from: at(a.mean, 0), to: at(a.mean, 1) }];
    const band = a.low === null || a.high === null ? [] : arc(a.low, a.high, 1.02).map(([x, y]) => ({ x, y }));
    const marks = [
      Plot.line(ring, { x: "x", y: "y", z: "radius", stroke: theme.line }),
      Plot.link(spokes, { x1: (s: (typeof spokes)[0]) => s.inside[0], y1: (s: (typeof spokes)[0]) => s.inside[1], x2: (s: (typeof spokes)[0]) => s.outside[0], y2: (s: (typeof spokes)[0]) => s.outside[1], stroke: theme.line }),
      Plot.link(rays, { x1: 0, y1: 0, x2: "0", y2: "1", stroke: theme.accent, strokeOpacity: Math.max(0.12, Math.min(0.7, 12 / Math.max(1, rays.length))) }),
      Plot.line(wedges, { x: "x", y: "y", z: "bin", fill: theme.accent, fillOpacity: 0.55, stroke: theme.background, strokeWidth: 1, curve: "linear-closed", title: (d: { from: number; to: number; count: number }) => `${d.from}° to ${d.to}°: ${grouped(d.count)}` }),
      Plot.link(mean, { x1: (m: (typeof mean)[0]) => m.from[0], y1: (m: (typeof mean)[0]) => m.from[1], x2: (m: (typeof mean)[0]) => m.to[0], y2: (m: (typeof mean)[0]) => m.to[1], stroke: theme.text, strokeWidth: 2 }),
      Plot.line(band, { x: "x", y: "y", stroke: theme.text, strokeWidth: 4, strokeLinecap: "round" }),
      Plot.text(spokes, { x: (s: (typeof spokes)[0]) => s.label[0], y: (s: (typeof spokes)[0]) => s.label[1], text: (s: (typeof spokes)[0]) => `${s.d}°`, fill: theme.muted }),
    ];
    return Plot.plot({ width, height: width, margin: 26, marginTop: 16, style, x: { axis: null, domain: [0, 1.08] }, y: { axis: null, domain: [0, 1.08] }, marks });
  };
}

/** A line a pair, coloured by the class along it; ticks where it changes. */
function ways(pairs: Crossing[][], classes: number[]): (width: number, theme: Theme) => Element {
  return (width, theme) => {
    const colour = (c: number | null): string => (c === null ? theme.muted : (theme.classes[Math.max(0, classes.indexOf(c)) % theme.classes.length] ?? theme.muted));
    const stretches = pairs.flatMap((rows, place) => {
      const ends = [0, ...rows.flatMap((r) => (r.t === null ? [] : [r.t])), 1];
      const along = [rows[0]?.from ?? null, ...rows.flatMap((r) => (r.t === null ? [] : [r.to]))];
      return along.map((c, i) => ({ place, from: ends[i] ?? 0, to: ends[i + 1] ?? 1, colour: colour(c) }));
    });
    const ticks = pairs.flatMap((rows, place) => rows.filter((r) => r.t !== null).map((r) => ({ ...r, place })));
    const names = pairs.map((rows, place) => ({ place, name: rows[0]?.name ?? "" }));
    return Plot.plot({
      width,
      height: 16 * pairs.length + 60,
      marginLeft: width < 500 ? 76 : 110,
      marginRight: 16,
      marginTop: 8,
      marginBottom: 40,
      style,
      x: { domain: [0, 1], label: "t: 0 is A, 1 is B", grid: true, ticks: width < 500 ? 4 : 10 },
      y: { axis: null, domain: [-0.7, pairs.length - 0.3], reverse: true },
      marks: [
        Plot.link(stretches, { x1: "from", x2: "to", y1: "place", y2: "place", stroke: "colour", strokeWidth: 7, strokeOpacity: 0.8 }),
        Plot.ruleX(ticks, { x: "t", y1: (d: { place: number }) => d.place - 0.42, y2: (d: { place: number }) => d.place + 0.42, stroke: theme.text, strokeWidth: 2, title: (d: Crossing) => `t ${d.t}: class ${d.from} → ${d.to}, ${d.angle === null ? "no angle" : `${short(d.angle)}°`}` }),
        Plot.text(names, { frameAnchor: "left", dx: -6, y: "place", text: (d: { name: string }) => (d.name.length > 16 ? `${d.name.slice(0, 15)}…` : d.name), textAnchor: "end", fill: theme.muted }),
      ],
    });
  };
}

function sentence(words: string): string {
  return words === "" ? "" : `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
}

function comparison(results: Result[]): HTMLElement | null {
  const several = results.filter((r) => r.command === "boundary");
  if (several.length < 2) return null;
  return section(
    "The angles compared",
    h("p", { class: "note" }, "Mean angles of the segments with the boundary, each with an interval that holds for itself."),
    brackets(
      "mean angles, result by result",
      "degrees",
      several.map((r) => {
        const a = angles(r);
        return { name: `${r.model}: ${r.source} → ${text(r.data.to) ?? ""}`, middle: a.mean, low: a.low, high: a.high, detail: counted(a.count, "crossing"), strong: true };
      }),
      false,
    ),
  );
}

export function boundary(result: Result, results: Result[]): HTMLElement | null {
  if (result.command !== "boundary") return null;
  const all = crossings(result);
  const a = angles(result);
  const facts = fields(result.frame.summary);
  const sure = percent(result.confidence);
  const found = all.filter((c) => c.t !== null);
  const groups = new Map<number, Crossing[]>();
  for (const c of all) groups.set(c.row, [...(groups.get(c.row) ?? []), c]);
  const pairs = [...groups.values()].filter((rows) => rows[0]?.from !== null);
  const crossed = pairs.filter((rows) => rows[0]?.t !== null);
  const drawn = (crossed.length > 0 ? crossed : pairs).slice(0, drawnPairs);
  const classes = [...new Set(drawn.flatMap((rows) => rows.flatMap((r) => [r.from, r.to])).filter((c): c is number => c !== null))].sort((x, y) => x - y);
  const byCrossings = list(facts.pairs_by_crossings).flatMap((v, k) => ((number(v) ?? 0) > 0 ? [`${grouped(number(v) ?? 0)} with ${k === 0 ? "none" : k}`] : []));
  const listed = found.slice(0, listedRows);
  const first = results.find((r) => r.command === "boundary") === result;
  return h(
    "div",
    {},
    result.text !== null && h("p", { class: "lead" }, `${result.text}.`),
    first && comparison(results),
    a.count > 0 &&
      section(
        "The angles with the boundary",
        h(
          "div",
          { class: "pair" },
          plot("angles of the segments with the boundary on a quarter circle", `${counted(a.count, "crossing")}; the boundary lies at 0°, a segment at 90° is orthogonal to it. The line is the mean, the arc outside its ${sure} interval.`, quarter(found.filter((c) => c.outcome !== "partial"), a)),
          h(
            "div",
            {},
            table(
              "Degrees",
              ["", ""],
              [
                ["mean", figure(a.mean)],
                [`${sure} interval of the mean`, interval(a.low, a.high, false)],
                ...a.quantiles.map(([p, v]): (Node | string)[] => [p === "0.5" ? "median" : `${percent(Number(p))} are below`, figure(v)]),
                ["an angle is known to ± (median)", figure(a.errorMedian)],
                ["… the worst to ±", figure(a.errorMax)],
              ],
              [false, true],
            ),
            h("p", { class: "note" }, `Pairs by crossings: ${byCrossings.join(", ")}.`),
          ),
        ),
        result.intervals !== null && h("p", { class: "note" }, `Intervals: ${result.intervals}.`),
      ),
    drawn.length > 0 &&
      section(
        "Along the segments",
        h("p", { class: "note" }, `${crossed.length > 0 ? `The ${drawn.length === crossed.length ? "" : "first "}${counted(drawn.length, "pair")} that cross a boundary, of ${grouped(groups.size)}` : "No pair crosses a boundary"}. ${sentence(text(facts.resolution) ?? "")}`),
        h("ul", { class: "legend" }, classes.map((c, i) => h("li", {}, h("span", { class: `swatch c${i % 7}` }), `class ${c}`))),
        plot("classes along the segments", "", ways(drawn, classes)),
      ),
    listed.length > 0 &&
      section(
        "The crossings",
        h(
          "details",
          { open: listed.length <= 8 },
          h("summary", {}, "The numbers"),
          table(
            found.length > listed.length ? `The first ${listed.length} of ${grouped(found.length)}` : "Where the class changes",
            ["pair", "t", "classes", "angle", "known within", "normal by", "outcome"],
            listed.map((c) => [c.name, figure(c.t, 8), `${c.from} → ${c.to}`, figure(c.angle), c.angle === null ? "–" : interval(c.low, c.high, false), c.method, c.outcome]),
            [false, true, false, true, true, false, false],
          ),
        ),
      ),
  );
}
