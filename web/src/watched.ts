/** What the monitor's server sends (src/report/monitor_report.cpp). What has another type than it should is missing. */
import { readFit, type Box, type Fit } from "./map_plot";
import { fields, list, number, text, type Fields, type Value } from "./read";

export interface Mean {
  rows: number;
  mean: number | null;
  low: number | null;
  high: number | null;
}

export interface Region extends Mean {
  text: string;
}

/** The map's answers about the rows of a window; bins are equally wide, from 0 to 1. */
export interface Stability extends Mean {
  outside: number;
  bins: number[];
}

export interface Window {
  partition: string;
  first: number;
  next: number;
  /** Rows that were measured before it. */
  firstNumber: number;
  begin: number;
  end: number;
  measured: number;
  gamma: Mean;
  regionMeans: (number | null)[];
  regionRows: number[];
  stability: Stability | null;
}

/** What the map answers about a row. */
export interface Answer {
  probability: number;
  low: number;
  high: number;
  outside: boolean;
}

/** A measured row on the Gamma Map. */
export interface MapPoint extends Answer {
  name: string;
  gamma: number;
  odds: number;
  alert: boolean;
}

export interface WatchedMap {
  fit: Fit;
  /** What the map was fitted on. */
  fitted: Box;
  steps: number;
  confidence: number;
  further: string[];
}

export interface AlertPart {
  region: number | null;
  where: string;
  change: string;
  pValue: number | null;
  before: Mean;
  now: Mean;
}

export interface Alert {
  id: number;
  open: boolean;
  raised: number;
  since: number;
  ended: number | null;
  sinceNumber: number;
  pValue: number | null;
  text: string;
  complete: boolean;
  rowCount: number;
  parts: AlertPart[];
  features: { name: string; text: string }[];
}

export interface AlertRow {
  name: string;
  gamma: number | null;
  low: number | null;
  high: number | null;
  decided: number | null;
  time: number;
  values: (number | null)[];
  nearest: { name: string; gamma: number | null; values: (number | null)[] } | null;
  back: { changes: Map<number, number | null>; gamma: number | null } | null;
  stability: Answer | null;
  /** Why there is none. */
  reason: string;
}

export interface Model {
  name: string;
  rows: number;
  measured: number;
  leftOut: number;
  withoutValue: number;
  refused: number;
  lastRefused: string;
  unsaved: string;
  repeated: number;
  evaluations: number;
  share: number;
  lastRow: number;
  falseAlarms: number;
  confidence: number;
  window: number;
  pValues: (number | null)[];
  baseline: Mean;
  baselineRows: number;
  regions: Region[];
  windows: Window[];
  /** Open ones first, then the latest. */
  alerts: Alert[];
  map: WatchedMap | null;
  points: MapPoint[];
}

const whole = (value: Value | undefined): number => number(value) ?? 0;
const words = (value: Value | undefined): string => text(value) ?? "";
const numbers = (value: Value | undefined): (number | null)[] => list(value).map((v) => number(v));

function readMean(value: Value | undefined): Mean {
  const m = fields(value);
  return { rows: whole(m.rows), mean: number(m.mean), low: number(m.low), high: number(m.high) };
}

function readStability(value: Value | undefined): Stability | null {
  const s = fields(value);
  return number(s.mean) === null ? null : { ...readMean(value), outside: whole(s.outside), bins: numbers(s.bins).map((n) => n ?? 0) };
}

function readMap(value: Value | undefined): WatchedMap | null {
  const map = fields(value);
  const fit = readFit(map);
  if (fit === null) return null;
  const [p, g, ...further] = list(map.inputs).map(fields);
  const tens = (log: Value | undefined): number => whole(log) / Math.LN10;
  return { fit, steps: whole(map.steps), confidence: number(map.confidence) ?? 0.95, fitted: { from: tens(g?.low), to: tens(g?.high), bottom: whole(p?.low), top: whole(p?.high) }, further: further.map((f) => words(f.name)) };
}

function readPoint(value: Value): MapPoint[] {
  const p = fields(value);
  const [gamma, odds, probability] = [number(p.gamma), number(p.logit_p), number(p.stable_probability)];
  if (gamma === null || odds === null || probability === null) return [];
  return [{ name: words(p.id) || `measured row ${whole(p.number)}`, gamma, odds, probability, low: whole(p.stable_low), high: number(p.stable_high) ?? 1, outside: p.outside === true, alert: p.alert === true }];
}

function readAnswer(value: Value | undefined): Answer | null {
  const a = fields(value);
  const probability = number(a.probability);
  return probability === null ? null : { probability, low: whole(a.low), high: number(a.high) ?? 1, outside: a.outside === true };
}

function readWindow(value: Value): Window {
  const w = fields(value);
  return {
    partition: words(w.partition),
    first: whole(w.first),
    next: whole(w.next),
    firstNumber: whole(w.first_number),
    begin: whole(w.begin),
    end: whole(w.end),
    measured: whole(w.measured),
    gamma: readMean(w.gamma),
    regionMeans: numbers(w.region_means),
    regionRows: numbers(w.region_rows).map((n) => n ?? 0),
    stability: readStability(w.stability),
  };
}

export function readAlert(value: Value): Alert {
  const a = fields(value);
  return {
    id: whole(a.alert),
    open: text(a.state) !== "ended",
    raised: whole(a.raised),
    since: whole(a.since),
    ended: number(a.ended),
    sinceNumber: whole(a.since_number),
    pValue: number(a.p_value),
    text: words(a.text),
    complete: a.complete === true,
    rowCount: whole(a.row_count),
    parts: list(a.parts).map((v) => {
      const p = fields(v);
      return { region: number(p.region), where: words(p.where), change: words(p.change), pValue: number(p.p_value), before: readMean(p.before), now: readMean(p.now) };
    }),
    features: list(a.features).map((v) => ({ name: words(fields(v).name), text: words(fields(v).text) })),
  };
}

/** The rows of one alert, and the names of their values. */
export function readAlertRows(value: Value): { names: string[]; rows: AlertRow[] } {
  const a = fields(value);
  const rows = list(a.rows).map((v): AlertRow => {
    const r = fields(v);
    const nearest: Fields | null = r.nearest === null || r.nearest === undefined ? null : fields(r.nearest);
    const back: Fields | null = r.back === null || r.back === undefined ? null : fields(r.back);
    const values = numbers(back?.values);
    return {
      name: words(r.id) || `${words(r.partition)}:${whole(r.position)}`,
      gamma: number(r.gamma),
      low: number(r.low),
      high: number(r.high),
      decided: number(r.class),
      time: whole(r.time),
      values: numbers(r.values),
      nearest: nearest && { name: words(nearest.id), gamma: number(nearest.gamma), values: numbers(nearest.values) },
      stability: readAnswer(r.stability),
      back: back && { gamma: number(back.gamma), changes: new Map(list(back.features).map((f, i) => [number(f) ?? -1, values[i] ?? null])) },
      reason: words(r.reason),
    };
  });
  return { names: list(a.names).map((n) => words(n)), rows };
}

function readModel(value: Value): Model {
  const m = fields(value);
  const baseline = fields(m.baseline);
  return {
    name: words(m.name),
    rows: whole(m.rows),
    measured: whole(m.measured),
    leftOut: whole(m.left_out),
    withoutValue: whole(m.without_value),
    refused: whole(m.refused),
    lastRefused: words(m.last_refused),
    unsaved: words(m.unsaved),
    repeated: whole(m.repeated_batches),
    evaluations: whole(m.evaluations),
    share: number(m.share) ?? 1,
    lastRow: whole(m.last_row),
    falseAlarms: whole(m.false_alarms),
    confidence: number(m.confidence) ?? 0.95,
    window: whole(m.window),
    pValues: numbers(m.p_values),
    baseline: readMean(baseline.gamma),
    baselineRows: whole(baseline.reference_rows),
    regions: list(baseline.regions).map((r) => ({ ...readMean(r), text: words(fields(r).text) })),
    windows: list(m.windows).map(readWindow).sort((a, b) => a.end - b.end || a.first - b.first),
    alerts: list(m.alerts).map(readAlert).sort((a, b) => Number(b.open) - Number(a.open) || b.raised - a.raised),
    map: readMap(m.map),
    points: list(m.points).flatMap(readPoint),
  };
}

export function readStatus(value: Value): { version: string; models: Model[] } {
  const s = fields(value);
  return { version: words(s.version), models: list(s.models).map(readModel) };
}
