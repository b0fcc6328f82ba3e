/** Alerts: what changed, since when, how much, where, and the rows responsible. */
import { counted, figure, grouped, h, interval, percent, short, table } from "./dom";
import { readAlertRows, type Alert, type AlertRow, type Mean, type Model } from "./watched";
import type { Value } from "./read";
import { clock } from "./watched_plots";

const changes: { [name: string]: string } = {
  larger: "became larger",
  smaller: "became smaller",
  slow: "moves slowly",
  shape: "is distributed otherwise",
};

const mean = (m: Mean): Node => h("span", {}, figure(m.mean), m.low !== null && h("span", { class: "beside" }, interval(m.low, m.high, false)));

function parts(alert: Alert): HTMLElement {
  return table(
    "Where γ changed, the surest first",
    ["where", "γ", "in the baseline", "since the change", "rows since", "p of no change"],
    alert.parts.map((p) => [p.where, changes[p.change] ?? p.change, mean(p.before), mean(p.now), grouped(p.now.rows), figure(p.pValue, 3)]),
    [false, false, true, true, true, true],
  );
}

function features(alert: Alert): HTMLElement | null {
  if (alert.features.length === 0) return null;
  return h("div", {}, h("h4", {}, "Features that are other than in the baseline"), h("ul", {}, alert.features.map((f) => h("li", {}, h("b", {}, f.name), `: ${f.text}`))));
}

/** What would have to change in a row for its gamma to be as in the baseline. */
function wayBack(row: AlertRow, names: string[]): Node | string {
  if (row.back === null) return h("span", { class: "none" }, row.reason === "" ? "none found" : `none: ${row.reason}`);
  const moves = [...row.back.changes].map(([j, to]) => `${names[j] ?? `x${j}`} ${short(row.values[j] ?? null)} → ${short(to)}`);
  return h("span", {}, moves.join(", "), h("span", { class: "beside" }, "γ ", figure(row.back.gamma)));
}

/** A value, and under it that of the nearest row of the baseline. */
function value(row: AlertRow, j: number): Node {
  return h("span", {}, short(row.values[j] ?? null), row.nearest !== null && h("span", { class: "beside" }, short(row.nearest.values[j] ?? null)));
}

/** What the map says about a row. */
function stable(row: AlertRow): Node {
  const s = row.stability;
  if (s === null) return h("span", { class: "none" }, "–");
  return h("span", { title: s.outside ? "outside of what the map was fitted on" : String(s.probability) }, percent(s.probability), s.outside && "*", h("span", { class: "beside" }, `[${percent(s.low)}, ${percent(s.high)}]`));
}

function rowsTable(rows: AlertRow[], names: string[], first: string[], complete: boolean): HTMLElement {
  const order = names.map((_, j) => j).sort((a, b) => rank(names[a]) - rank(names[b]));
  function rank(name: string | undefined): number {
    const at = first.indexOf(name ?? "");
    return at < 0 ? first.length : at;
  }
  const decided = rows.some((r) => r.decided !== null);
  const mapped = rows.some((r) => r.stability !== null);
  const largest = (rows[0]?.gamma ?? 0) >= (rows[rows.length - 1]?.gamma ?? 0);
  return h(
    "div",
    {},
    table(
      `The ${counted(rows.length, "row")} of ${largest ? "largest" : "smallest"} γ since the change; under every number that of the nearest row of the baseline. What brings γ back is the smallest change that was found`,
      ["row", "γ", ...(decided ? ["class"] : []), ...(mapped ? ["stable"] : []), "what brings γ back", ...order.map((j) => names[j] ?? "")],
      rows.map((r) => [
        h("span", { title: clock(r.time) }, r.name),
        h("span", {}, figure(r.gamma), r.nearest !== null && h("span", { class: "beside" }, figure(r.nearest.gamma))),
        ...(decided ? [String(r.decided ?? "–")] : []),
        ...(mapped ? [stable(r)] : []),
        complete ? wayBack(r, names) : h("span", { class: "none" }, "being looked for"),
        ...order.map((j) => value(r, j)),
      ]),
      [false, true, ...(decided ? [true] : []), ...(mapped ? [true] : []), false, ...order.map(() => true)],
    ),
    complete && h("p", { class: "note" }, "A change that brings γ back is something to look at, not a cause: it says where the model is steady near the row."),
  );
}

/** One alert that stays the same element while it is shown, so that what a reader opened stays open. */
class AlertView {
  readonly element: HTMLElement;
  private readonly head = h("summary", {});
  private readonly body = h("div", { class: "alert-body" });
  private drawn = "";
  private loaded = "";

  constructor(
    private readonly model: string,
    private alert: Alert,
  ) {
    this.element = h("details", { class: "alert", toggle: () => this.load() }, this.head, this.body);
    this.update(alert);
  }

  update(alert: Alert): void {
    this.alert = alert;
    const said = JSON.stringify(alert);
    if (said === this.drawn) return;
    this.drawn = said;
    this.element.dataset.state = alert.open ? "open" : "ended";
    this.head.replaceChildren(
      h("span", { class: "state" }, alert.open ? "open" : "ended"),
      h("span", { class: "when" }, `since ${clock(alert.since)}${alert.ended === null ? "" : ` until ${clock(alert.ended)}`}`),
      h("span", { class: "what" }, alert.text),
    );
    this.load();
  }

  private get key(): string {
    return `${this.alert.complete} ${this.alert.rowCount} ${this.alert.parts.length}`;
  }

  private load(): void {
    if (!(this.element as HTMLDetailsElement).open) return;
    const { alert } = this;
    if (this.loaded === "") this.body.replaceChildren(this.facts(), h("p", { class: "note" }, "Its rows are being fetched."));
    if (this.loaded === this.key) return;
    const key = this.key;
    void fetch(`/api/alerts/${alert.id}?model=${encodeURIComponent(this.model)}`)
      .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(String(answer.status)))))
      .then((json: Value) => {
        this.loaded = key;
        const { names, rows } = readAlertRows(json);
        this.body.replaceChildren(this.facts(), rows.length === 0 ? h("p", { class: "note" }, "None of its rows are kept.") : rowsTable(rows, names, alert.features.map((f) => f.name), alert.complete));
      })
      .catch(() => this.body.replaceChildren(this.facts(), h("p", { class: "note" }, "Its rows cannot be had at the moment.")));
  }

  private facts(): HTMLElement {
    const { alert } = this;
    return h(
      "div",
      {},
      h("p", { class: "note" }, `Found at ${clock(alert.raised)}; ${grouped(alert.sinceNumber)} rows had been measured before the change seems to have begun. p of no change when it was found: ${short(alert.pValue, 3)}.`),
      parts(alert),
      features(alert),
    );
  }
}

/** The alerts of one model. */
export class AlertList {
  readonly element = h("div", { class: "alerts" });
  private readonly views = new Map<number, AlertView>();

  update(model: Model): void {
    if (model.alerts.length === 0) {
      this.element.replaceChildren(h("p", { class: "none" }, model.measured === 0 ? "None: there are no rows yet." : `None. A stream that is like the baseline ever raises one with a probability of ${percent(model.falseAlarms)} at most.`));
      return;
    }
    const wanted = model.alerts.map((alert) => {
      const known = this.views.get(alert.id);
      if (known === undefined) {
        const made = new AlertView(model.name, alert);
        this.views.set(alert.id, made);
        return made.element;
      }
      known.update(alert);
      return known.element;
    });
    // Elements that are moved lose a reader's place: only a new order moves them.
    if (wanted.length !== this.element.children.length || wanted.some((e, i) => this.element.children[i] !== e)) this.element.replaceChildren(...wanted);
  }
}
