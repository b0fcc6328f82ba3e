import { alignment, alignmentMeaning } from "./alignment";
import { attack, attackMeaning } from "./attack";
import { boundary } from "./boundary";
import { histogram, sweeps } from "./charts";
import { counted, h } from "./dom";
import { gammaMap } from "./gammamap";
import { maps } from "./maps";
import { persistence, persistenceMeaning } from "./persistence";
import { redrawAll, watchWidths } from "./plots";
import { readResult, type Result, type Value } from "./read";
import { images } from "./images";
import { columns, compared, differences, explained, meaning, outcomes, repeat, segments, summary, sweepTable, warnings, worst } from "./sections";
import { stability, stabilityMeaning } from "./stability";
import { textAnswers, textMeaning } from "./text";
import { toggleTheme } from "./theme";
import "./style.css";

/** Whether it is about classes, under noise or attack, not gamma. */
function noisy(result: Result): boolean {
  return ["stability", "persistence", "attack"].includes(result.command);
}

function title(result: Result): string {
  if (result.command === "text" && result.models.length === 1) return `Answers of ${result.models[0]?.name ?? ""}`;
  if (result.models.length > 0) return `${counted(result.models.length, "model")} compared`;
  return result.model || result.command;
}

function where(result: Result): string {
  return typeof result.data.to === "string" ? `${result.source} → ${result.data.to}` : result.source;
}

function subtitle(result: Result): HTMLElement {
  const rows = result.data.rows;
  const inputs = result.data.inputs;
  const size = [
    typeof rows === "number" ? counted(rows, result.command === "boundary" ? "pair" : result.command === "text" ? "prompt" : "row") : null,
    typeof inputs === "number" ? counted(inputs, "feature") : null,
  ].filter((part) => part !== null);
  return h("p", { class: "subtitle" }, "on ", h("b", {}, where(result)), size.length > 0 && `: ${size.join(" of ")}`);
}

function article(result: Result, place: number, results: Result[], shared: HTMLElement | null): HTMLElement {
  const several = results.length > 1;
  return h(
    "article",
    { id: `result-${place + 1}`, "data-command": result.command },
    several && h("header", {}, h("h2", {}, title(result)), subtitle(result)),
    summary(result),
    warnings(result),
    stability(result),
    persistence(result),
    boundary(result, results),
    alignment(result),
    gammaMap(result),
    attack(result),
    textAnswers(result),
    compared(result),
    differences(result),
    maps(result),
    shared,
    sweepTable(result, results.filter((r) => r.sweep.length > 0).length > 1),
    segments(result),
    histogram(result),
    images(result),
    columns(result),
    explained(result),
    worst(result),
    !noisy(result) && !["alignment", "text"].includes(result.command) && outcomes(result),
    repeat(result),
  );
}

function page(results: Result[]): HTMLElement[] {
  const several = results.length > 1;
  const toggle = h("button", { type: "button", class: "theme", "aria-label": "light or dark", title: "light or dark", click: () => { toggleTheme(); redrawAll(); } }, "◐");
  const only = results[0];
  const heading = several || only === undefined ? "Harmonic robustness" : title(only);
  const contents =
    several &&
    h("nav", { "aria-label": "results" }, h("ol", {}, results.map((r, i) => h("li", {}, h("a", { href: `#result-${i + 1}` }, `${title(r)} on ${where(r)}`), h("span", { class: "kind" }, r.command)))));
  const header = h(
    "header",
    { class: "top" },
    h("div", { class: "bar" }, h("span", { class: "mark" }, "Harmonia"), toggle),
    h("h1", {}, heading),
    !several && only !== undefined && subtitle(only),
    contents,
  );
  // All sweeps share one plot, which stands where the first of them does.
  const firstSweep = results.findIndex((r) => r.sweep.length > 0);
  const articles = results.map((r, i) => article(r, i, results, i === firstSweep ? sweeps(results) : null));
  const versions = [...new Set(results.map((r) => r.version))].join(", ");
  const gammas = results.some((r) => !noisy(r) && !["boundary", "alignment", "text"].includes(r.command));
  const footer = h(
    "footer",
    {},
    gammas && h("p", {}, "γ = |average of the model over a small ball around a row − the model at the row|."),
    h("p", {}, `Made by harmonia ${versions}. This page holds all that it shows and asks no network for anything.`),
  );
  const meanings = [...(gammas ? [meaning()] : []), ...(results.some((r) => r.command === "stability") ? [stabilityMeaning()] : []), ...(results.some((r) => r.command === "persistence") ? [persistenceMeaning()] : []), ...(results.some((r) => r.command === "attack") ? [attackMeaning()] : []), ...(results.some((r) => r.command === "alignment") ? [alignmentMeaning()] : []), ...(results.some((r) => r.command === "text") ? [textMeaning()] : [])];
  return [header, ...articles, ...meanings, footer];
}

const results = (JSON.parse(document.getElementById("results")?.textContent ?? "[]") as Value[]).map(readResult);
document.getElementById("report")?.replaceChildren(...page(results));
redrawAll();
watchWidths();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
matchMedia("print").addEventListener("change", redrawAll);
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
  redrawAll();
});
