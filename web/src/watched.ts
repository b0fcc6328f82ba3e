/** What the monitor's server sends (src/report/monitor_report.cpp). What has another type than it should is missing. */
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
}

const whole = (value: Value | undefined): number => number(value) ?? 0;
const words = (value: Value | undefined): string => text(value) ?? "";
const numbers = (value: Value | undefined): (number | null)[] => list(value).map((v) => number(v));

function readMean(value: Value | undefined): Mean {
  const m = fields(value);
  return { rows: whole(m.rows), mean: number(m.mean), low: number(m.low), high: number(m.high) };
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
  };
}

export function readStatus(value: Value): { version: string; models: Model[] } {
  const s = fields(value);
  return { version: words(s.version), models: list(s.models).map(readModel) };
}
