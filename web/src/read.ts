/** What the page is given: results, their rows condensed by the program (src/report/report_data.cpp). What has another
 *  type than it should is read as missing, so that a result of a later version still makes a page. */

export type Value = string | number | boolean | null | Value[] | { [key: string]: Value };
export type Fields = { [key: string]: Value };

export interface Statistics {
  mean: number | null;
  low: number | null;
  high: number | null;
  stderr: number | null;
  rms: number | null;
  relative: number | null;
  rows: number | null;
}

export interface Bins {
  from: number;
  to: number;
  counts: number[];
}

export interface Histogram {
  entries: number;
  zeros: number;
  missing: number;
  linear: Bins | null;
  logarithmic: Bins | null;
}

export interface DrawnModel {
  name: string;
  gamma: (number | null)[];
  class: (number | null)[] | null;
  value: (number | null)[] | null;
}

export interface Picture {
  kind: "grid" | "scatter" | "line";
  rows: number;
  across: number;
  up: number;
  x: number[];
  y: number[];
  cell: number;
  binned: boolean;
  dense: boolean;
  models: DrawnModel[];
}

export interface ComparedModel {
  name: string;
  kind: string | null;
  rank: number | null;
  gamma: Statistics;
  outcomes: [string, number][];
}

export interface Pair {
  a: string;
  b: string;
  difference: number | null;
  low: number | null;
  high: number | null;
  verdict: string;
}

export interface SweepPoint extends Statistics {
  model: string;
  radius: number;
  outcomes: [string, number][];
}

export interface Segment extends Statistics {
  value: string;
}

export interface WorstRow {
  name: string;
  label: string | null;
  class: number | null;
  value: number | null;
  gamma: number | null;
  low: number | null;
  high: number | null;
  outcome: string;
  values: [string, number | null][];
}

export interface Result {
  command: string;
  /** All of it, for the parts that one command alone has. */
  frame: Fields;
  model: string;
  modelFields: Fields;
  data: Fields;
  source: string;
  features: string[];
  options: Fields;
  confidence: number;
  commandLine: string;
  evaluations: number | null;
  seconds: number | null;
  version: string;
  warnings: string[];
  gamma: Statistics | null;
  columns: Statistics[];
  outcomes: [string, number][];
  explain: [string, number][];
  histogram: Histogram | null;
  picture: Picture | null;
  worst: WorstRow[];
  models: ComparedModel[];
  pairs: Pair[];
  sweep: SweepPoint[];
  segments: { by: string; values: Segment[] } | null;
  ranking: string[][];
  text: string | null;
  intervals: string | null;
  rowCount: number;
  rowsKept: number;
}

export function fields(value: Value | undefined): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

export function list(value: Value | undefined): Value[] {
  return Array.isArray(value) ? value : [];
}

export function number(value: Value | undefined): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

export function text(value: Value | undefined): string | null {
  return typeof value === "string" ? value : null;
}

/** Text of what may be a text, a number or nothing. */
function word(value: Value | undefined): string {
  return value === null || value === undefined ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value);
}

function numbers(value: Value | undefined): number[] {
  return list(value).map((v) => number(v) ?? NaN);
}

function nullable(value: Value | undefined): (number | null)[] | null {
  return Array.isArray(value) ? value.map(number) : null;
}

function statistics(value: Value | undefined): Statistics {
  const s = fields(value);
  return {
    mean: number(s.mean),
    low: number(s.low),
    high: number(s.high),
    stderr: number(s.stderr),
    rms: number(s.rms),
    relative: number(s.relative),
    rows: number(s.rows),
  };
}

function bins(value: Value | undefined): Bins | null {
  const b = fields(value);
  const from = number(b.from);
  const to = number(b.to);
  return from === null || to === null ? null : { from, to, counts: numbers(b.counts) };
}

function histogram(value: Value | undefined): Histogram | null {
  const h = fields(value);
  const entries = number(h.entries);
  if (entries === null) return null;
  return {
    entries,
    zeros: number(h.zeros) ?? 0,
    missing: number(h.missing) ?? 0,
    linear: bins(h.linear),
    logarithmic: bins(h.logarithmic),
  };
}

function picture(value: Value | undefined): Picture | null {
  const p = fields(value);
  const kind = text(p.kind);
  if (kind !== "grid" && kind !== "scatter" && kind !== "line") return null;
  return {
    kind,
    rows: number(p.rows) ?? 0,
    across: number(p.across) ?? 0,
    up: number(p.up) ?? 0,
    x: numbers(p.x),
    y: numbers(p.y),
    cell: number(p.cell) ?? 1,
    binned: p.binned === true,
    dense: p.dense === true,
    models: list(p.models).map((m) => {
      const f = fields(m);
      return { name: text(f.name) ?? "", gamma: nullable(f.gamma) ?? [], class: nullable(f.class), value: nullable(f.value) };
    }),
  };
}

function worst(value: Value | undefined): WorstRow[] {
  return list(value).map((v) => {
    const row = fields(v);
    const column = number(row.column);
    return {
      name: (text(row.id) ?? word(row.row)) + (column === null ? "" : `, output ${column}`),
      label: text(row.label),
      class: number(row.class),
      value: number(row.value),
      gamma: number(row.gamma),
      low: number(row.low),
      high: number(row.high),
      outcome: text(row.outcome) ?? "–",
      values: Object.entries(fields(row.values)).map(([name, x]) => [name, number(x)]),
    };
  });
}

function named(value: Value | undefined): [string, number][] {
  return Object.entries(fields(value)).flatMap(([name, v]) => {
    const n = number(v);
    return n === null ? [] : ([[name, n]] as [string, number][]);
  });
}

/** Whether every row was measured with all of its points. */
export function allExact(outcomes: [string, number][]): boolean {
  return outcomes.length > 0 && outcomes.every(([name]) => name === "exact");
}

export function readResult(value: Value): Result {
  const frame = fields(value);
  const summary = fields(frame.summary);
  const data = fields(frame.data);
  const options = fields(frame.options);
  const modelFields = fields(frame.model);
  const command = text(frame.command) ?? "";
  const model = text(modelFields.path) ?? text(modelFields.name) ?? "";
  const rows = list(frame.rows);
  const by = fields(summary.segments);
  const models = list(frame.models).map((m) => {
    const f = fields(m);
    return { name: text(f.name) ?? text(f.path) ?? "", kind: text(f.kind), rank: number(f.rank), gamma: statistics(f.gamma), outcomes: named(f.outcomes) };
  });
  return {
    command,
    frame,
    model,
    modelFields,
    data,
    source: text(data.source) ?? "",
    features: list(data.features).map(word),
    options,
    confidence: number(options.confidence) ?? 0.95,
    commandLine: text(frame.command_line) ?? "",
    evaluations: number(frame.evaluations),
    seconds: number(frame.seconds),
    version: text(frame.version) ?? "",
    warnings: [...[frame.model, ...list(frame.models)].flatMap((m) => text(fields(m).warning) ?? []), ...list(summary.warnings).map(word)],
    gamma: summary.gamma === undefined ? null : statistics(summary.gamma),
    columns: list(summary.columns).map(statistics),
    outcomes: named(summary.outcomes),
    explain: list(summary.explain).flatMap((v) => {
      const part = number(fields(v).contribution);
      return part === null ? [] : ([[word(fields(v).feature), part]] as [string, number][]);
    }),
    histogram: histogram(frame.histogram),
    picture: picture(frame.picture),
    worst: worst(summary.worst),
    models,
    pairs:
      command !== "compare"
        ? []
        : rows.map((v) => {
            const p = fields(v);
            return {
              a: word(p.a),
              b: word(p.b),
              difference: number(p.difference),
              low: number(p.low),
              high: number(p.high),
              verdict: text(p.verdict) ?? "",
            };
          }),
    sweep:
      command !== "sweep"
        ? []
        : rows.flatMap((v) => {
            const radius = number(fields(v).radius);
            return radius === null ? [] : [{ ...statistics(v), radius, model: text(fields(v).model) ?? model, outcomes: named(fields(v).outcomes) }];
          }),
    segments:
      summary.segments === undefined
        ? null
        : { by: word(by.by), values: list(by.values).map((v) => ({ ...statistics(v), value: word(fields(v).value) })) },
    ranking: list(summary.ranking).map((group) => list(group).map(word)),
    text: text(summary.text),
    intervals: text(summary.intervals),
    rowCount: number(frame.row_count) ?? rows.length,
    rowsKept: rows.length,
  };
}
