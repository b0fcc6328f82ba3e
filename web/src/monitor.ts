/** The live page of `harmonia monitor`. */
import { counted, figure, grouped, h, interval, percent, section, short, table } from "./dom";
import { plot, redrawAll, redrawOthers, watchWidths } from "./plots";
import type { Value } from "./read";
import { currentTheme, toggleTheme } from "./theme";
import { readStatus, type Model } from "./watched";
import { AlertList } from "./watched_alerts";
import { mapLegend, mapPlot, mapWords, smallMap, stabilityPlot } from "./watched_map";
import { clock, gammaPlot, heatLegend, regionPlot, sparkline } from "./watched_plots";
import "./style.css";
import "./monitor.css";

/** What is to be said of a model in a sentence. */
function verdict(m: Model): string {
  const open = m.alerts.filter((a) => a.open);
  if (open.length > 0) return `γ has changed since ${clock(Math.min(...open.map((a) => a.since)))}.`;
  if (m.rows === 0) return "No rows yet.";
  if (m.measured === 0) return `${counted(m.rows, "row")} came; none is measured yet.`;
  return `No change of γ was found in ${counted(m.measured, "measured row")}${m.alerts.length > 0 ? " since the last alert ended" : ""}.`;
}

function cards(m: Model): HTMLElement {
  const card = (name: string, large: Node | string, small: Node | string): HTMLElement => h("div", { class: "card" }, h("dt", {}, name), h("dd", {}, h("strong", {}, large), h("span", {}, small)));
  const latest = m.windows[m.windows.length - 1]?.gamma;
  const stable = m.windows[m.windows.length - 1]?.stability ?? null;
  const smallest = m.pValues.reduce<number | null>((least, p) => (p !== null && (least === null || p < least) ? p : least), null);
  const others = [m.leftOut > 0 && `${grouped(m.leftOut)} left out`, m.withoutValue > 0 && `${grouped(m.withoutValue)} without a value`].filter((s) => s !== false);
  return h(
    "dl",
    { class: "cards" },
    card("rows", grouped(m.rows), m.lastRow === 0 ? "none yet" : `the last at ${clock(m.lastRow)}`),
    card("measured", m.rows === 0 ? "–" : percent(m.measured / m.rows), others.length > 0 ? others.join(", ") : counted(m.measured, "row")),
    card("γ, latest window", figure(latest?.mean ?? null), latest === undefined || latest.mean === null ? "no window yet" : interval(latest.low, latest.high, false)),
    card("γ, baseline", figure(m.baseline.mean), interval(m.baseline.low, m.baseline.high, false)),
    stable === null ? "" : card("stable, latest window", percent(stable.mean ?? 0), h("span", {}, h("span", { class: "interval" }, `[${percent(stable.low ?? 0)}, ${percent(stable.high ?? 1)}]`), stable.outside > 0 && `, ${grouped(stable.outside)} outside of the map`)),
    card("smallest p of no change", m.rows === 0 ? "–" : figure(smallest, 3), `an alert at ${short(m.falseAlarms)}`),
    card("model calls", grouped(m.evaluations), "points asked since the start"),
    card("refused", grouped(m.refused), m.refused === 0 ? "all were rows" : m.lastRefused || "were no rows"),
    m.repeated > 0 ? card("batches sent again", grouped(m.repeated), "counted once") : "",
  );
}

function warnings(m: Model): HTMLElement | null {
  const said = [
    m.unsaved !== "" && `The state cannot be written at present: ${m.unsaved}. Rows are measured on; what is not written is lost if the monitor ends.`,
    m.share < 1 && `${percent(m.share)} of the rows are measured at present: a sample, drawn fairly.`,
  ].filter((s) => s !== false);
  return said.length === 0 ? null : h("div", { class: "warnings", role: "status" }, h("ul", {}, said.map((s) => h("li", {}, s))));
}

function regionTable(m: Model): HTMLElement {
  const latest = m.windows[m.windows.length - 1];
  return table(
    "Regions of the feature space",
    ["", "region", "γ, baseline", "γ, latest window", "rows in it", "p of no change"],
    m.regions.map((r, i) => [String(i + 1), r.text, figure(r.mean), figure(latest?.regionMeans[i] ?? null), grouped(latest?.regionRows[i] ?? 0), figure(m.pValues[i + 1] ?? null, 3)]),
    [true, false, true, true, true, true],
  );
}

function meaning(m: Model): HTMLElement {
  return section(
    "What an alert means, and what not",
    h(
      "ul",
      {},
      h("li", {}, `If the rows of the stream are exchangeable with those of the baseline (${counted(m.baselineRows, "row")}), the probability that all detectors together ever raise an alert, until the first, is at most ${percent(m.falseAlarms)}, however long it runs. After an alert has ended, the test begins again with the same rate.`),
      h("li", {}, "γ is measured without labels: an alert says that the model's outputs around the rows have become other than they were, not that they are wrong. That there is none does not say that nothing changed."),
      h("li", {}, "Rows that depend on each other, as many from one customer at a time, are not exchangeable, and can raise alerts of their own."),
      m.map !== null && h("li", {}, `How stable a row is comes from a map that was fitted before, on other rows: it says how likely rows like this one kept their class then. It does not know whether that still holds, and beyond the rows that it was fitted on it guesses.`),
      h("li", {}, `Bands are ${percent(m.confidence)} intervals of the mean γ of what a window's rows are a sample of; each holds for itself.`),
    ),
  );
}

/** Everything about one model, made once and brought up to date. */
class ModelView {
  readonly element: HTMLElement;
  private readonly lead = h("p", { class: "lead", role: "status" });
  private readonly notes = h("div", {});
  private readonly facts = h("div", {});
  private readonly empty = h("p", { class: "none" });
  private readonly alerts = new AlertList();
  private readonly legend = h("div", {});
  private readonly mapText = h("p", { class: "note" });
  private readonly mapMarks = h("div", {});
  private readonly regions = h("details", {}, h("summary", {}, "The regions in words"));
  private readonly table = h("div", {});

  constructor(private model: Model) {
    const present = (): Model => this.model;
    this.regions.append(this.table);
    this.element = h(
      "article",
      { "data-model": model.name },
      this.lead,
      this.notes,
      this.facts,
      section("Alerts", this.alerts.element),
      section("γ over time", this.empty, plot("gamma of every window beside the baseline's", `A point is a window of ${grouped(model.window)} rows; shaded around it is its interval. The grey band is that of the baseline. Where an alert was raised is tinted.`, gammaPlot(present))),
      model.map === null ? "" : section("Gamma Map", this.mapText, this.mapMarks, plot("P against gamma of the rows measured last, with the map's curves", "", mapPlot(present))),
      model.map === null ? "" : section("Stability over time", h("p", { class: "note" }, "Mean of the map's answers in every window, with its interval; grey is how they are distributed, darker where there are more rows. The map's own error is not in the interval."), plot("mean stability of every window", "", stabilityPlot(present))),
      section("Regions", h("p", { class: "note" }, "γ of every region and window against the baseline's of the same region. Pale cells have few rows."), this.legend, plot("gamma of regions by windows, relative to the baseline", "", regionPlot(present)), this.regions),
      meaning(model),
    );
    this.update(model);
  }

  update(model: Model): void {
    this.model = model;
    this.lead.textContent = verdict(model);
    this.lead.dataset.state = model.alerts.some((a) => a.open) ? "open" : "quiet";
    const said = warnings(model);
    this.notes.replaceChildren(...(said === null ? [] : [said]));
    this.facts.replaceChildren(cards(model));
    this.empty.textContent = model.windows.length === 0 ? "No window yet: this fills as rows come." : "";
    this.alerts.update(model);
    this.redrawLegend();
    this.table.replaceChildren(regionTable(model));
    if (model.map !== null) this.mapText.textContent = model.points.length === 0 ? "No measured row yet: points appear as rows come." : mapWords(model);
  }

  redrawLegend(): void {
    this.legend.replaceChildren(heatLegend(currentTheme()));
    this.mapMarks.replaceChildren(mapLegend(currentTheme()));
  }
}

/** A model beside others: its name, a line, whether an alert is open. */
class Tile {
  readonly element: HTMLElement;
  private readonly state = h("span", { class: "tile-state" });

  constructor(
    private model: Model,
    all: () => Model[],
    choose: () => void,
  ) {
    const present = (): Model => this.model;
    this.element = h("button", { type: "button", class: "tile", click: choose }, h("b", {}, model.name), this.state, plot(`gamma of ${model.name}`, "", sparkline(present)), model.map !== null && plot(`Gamma Map of ${model.name}`, "P against γ, on the same axes", smallMap(present, all)));
    this.update(model);
  }

  update(model: Model): void {
    this.model = model;
    const open = model.alerts.filter((a) => a.open).length;
    this.element.dataset.state = open > 0 ? "open" : "quiet";
    this.state.textContent = open > 0 ? counted(open, "open alert") : model.rows === 0 ? "no rows yet" : `${counted(model.rows, "row")}, no alert`;
  }
}

class Page {
  private readonly live = h("span", { class: "live", role: "status" }, "connecting");
  private readonly title = h("h1", {}, "Monitor");
  private readonly tiles = h("nav", { class: "tiles", "aria-label": "models" });
  private readonly shown = h("div", {});
  private readonly footer = h("footer", {});
  private names = "";
  private models: Model[] = [];
  private chosen = 0;
  private views: ModelView[] = [];
  private overview: Tile[] = [];

  constructor(root: HTMLElement) {
    const toggle = h("button", { type: "button", class: "theme", "aria-label": "light or dark", title: "light or dark", click: () => { toggleTheme(); this.redraw(); } }, "◐");
    const logOut = root.dataset.login === "true" && h("form", { method: "post", action: "/logout" }, h("button", { type: "submit" }, "log out"));
    root.replaceChildren(h("header", { class: "top" }, h("div", { class: "bar" }, h("span", { class: "mark" }, "Harmonia"), this.live, logOut, toggle), this.title, this.tiles), this.shown, this.footer);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
  }

  redraw(): void {
    for (const view of this.views) view.redrawLegend();
    redrawAll();
  }

  say(words: string, state: "live" | "lost"): void {
    this.live.textContent = words;
    this.live.dataset.state = state;
  }

  update(value: Value): void {
    const { version, models } = readStatus(value);
    this.models = models;
    const names = JSON.stringify(models.map((m) => m.name));
    if (names !== this.names) {
      this.names = names;
      this.views = models.map((m) => new ModelView(m));
      this.overview = models.length > 1 ? models.map((m, i) => new Tile(m, () => this.models, () => this.choose(i))) : [];
      this.tiles.replaceChildren(...this.overview.map((t) => t.element));
      this.footer.replaceChildren(h("p", {}, "γ = |average of the model over a small ball around a row − the model at the row|."), h("p", {}, `harmonia ${version}. This page asks no other server for anything.`));
      this.choose(Math.min(this.chosen, Math.max(0, models.length - 1)));
      watchWidths();
    } else {
      models.forEach((m, i) => {
        this.views[i]?.update(m);
        this.overview[i]?.update(m);
      });
    }
    const open = models.filter((m) => m.alerts.some((a) => a.open)).length;
    document.title = `${open > 0 ? `(${open}) ` : ""}Harmonia: ${models.length === 1 ? (models[0]?.name ?? "monitor") : "monitor"}`;
    this.title.textContent = models.length === 1 ? (models[0]?.name ?? "Monitor") : counted(models.length, "model");
    redrawOthers();
  }

  private choose(at: number): void {
    this.chosen = at;
    this.overview.forEach((t, i) => t.element.setAttribute("aria-pressed", String(i === at)));
    const view = this.views[at];
    this.shown.replaceChildren(...(view === undefined ? [h("p", { class: "none" }, "No model is watched.")] : [view.element]));
    redrawAll();
  }
}

/** Listens for ever. A browser asks again by itself when a connection breaks, and gives up when it is refused. */
function listen(page: Page): void {
  const events = new EventSource("/api/events");
  events.addEventListener("status", (event) => {
    page.update(JSON.parse((event as MessageEvent<string>).data) as Value);
    page.say(`live, ${clock(Date.now() / 1000)}`, "live");
  });
  events.addEventListener("error", () => {
    page.say("not connected; trying again", "lost");
    if (events.readyState !== EventSource.CLOSED) return;
    events.close();
    setTimeout(() => {
      void fetch("/api/status").then((answer) => (answer.status === 401 ? location.reload() : listen(page)), () => listen(page));
    }, 3000);
  });
}

const root = document.getElementById("monitor");
if (root !== null) listen(new Page(root));
