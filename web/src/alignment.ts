/** Where a model's gradients point, against the plane that its data lies in. */
import * as Plot from "@observablehq/plot";
import { counted, figure, grouped, h, interval, percent, section, short, table } from "./dom";
import { plot } from "./plots";
import { fields, list, number, type Fields, type Result } from "./read";
import type { Theme } from "./theme";

const style = { fontSize: "12px", background: "transparent", overflow: "visible" };

const outcomeWords: { [name: string]: string } = {
  flat: "the gradient is zero, and has no direction",
  across: "nothing of the gradient is along the plane: no ratio",
  budget: "the evaluations ran out before these were done",
};

interface Bar {
  from: number;
  to: number;
  count: number;
}

function bars(counts: number[]): Bar[] {
  return counts.map((count, i) => ({ from: i / counts.length, to: (i + 1) / counts.length, count }));
}

/** Rows by cosine; the lines are the mean and what directions drawn at random have. */
function histogram(counts: number[], mean: number | null, chance: number): (width: number, theme: Theme) => Element {
  return (width, theme) =>
    Plot.plot({
      width,
      height: 260,
      marginLeft: 48,
      marginTop: 28,
      marginBottom: 40,
      style,
      x: { label: "cosine", domain: [0, 1], ticks: width < 500 ? 5 : 10 },
      y: { label: "rows", grid: true, ticks: 5, tickFormat: (d: number) => (Number.isInteger(d) ? grouped(d) : "") },
      marks: [
        Plot.rectY(bars(counts), { x1: "from", x2: "to", y: "count", fill: theme.accent, inset: 0.5, filter: (d: Bar) => d.count > 0 }),
        Plot.ruleY([0], { stroke: theme.muted }),
        Plot.ruleX([chance], { stroke: theme.muted, strokeDasharray: "4,3", strokeWidth: 1.5 }),
        Plot.text([chance], { x: (d: number) => d, text: () => "chance", frameAnchor: "top", dy: -14, fill: theme.muted }),
        mean === null ? null : Plot.ruleX([mean], { stroke: theme.text, strokeWidth: 1.5 }),
        mean === null || Math.abs(mean - chance) < 0.08 ? null : Plot.text([mean], { x: (d: number) => d, text: () => "mean", frameAnchor: "top", dy: -14, fill: theme.text }),
      ],
    });
}

function line(name: string, value: Fields): (Node | string)[] {
  return [name, figure(number(value.mean)), interval(number(value.low), number(value.high), false)];
}

export function alignment(result: Result): HTMLElement | null {
  if (result.command !== "alignment") return null;
  const facts = fields(result.frame.summary);
  const plane = fields(facts.plane);
  const cosine = fields(facts.cosine);
  const chance = number(facts.by_chance) ?? 0;
  const counts = list(facts.histogram).map((v) => number(v) ?? 0);
  const measured = number(cosine.rows) ?? 0;
  const others = Object.entries(outcomeWords).flatMap(([name, words]) => {
    const rows = number(fields(facts.outcomes)[name]);
    return rows === null ? [] : [`${counted(rows, "row")} ${name}: ${words}.`];
  });
  return h(
    "div",
    {},
    result.text !== null && h("p", { class: "lead" }, `${result.text.slice(0, 1).toUpperCase()}${result.text.slice(1)}.`),
    measured > 0 &&
      section(
        "The gradients and the plane of the data",
        h("p", {}, `The plane has ${counted(number(plane.dimensions) ?? 0, "dimension")} and was fitted to ${counted(number(plane.rows) ?? 0, "row")}, of whose variance its components keep ${percent(number(plane.explained) ?? 0)}. A cosine of 1 is a gradient along the plane, 0 one across it.`),
        plot("cosines of the gradients with the plane", `${counted(measured, "row")}. The broken line is the root of what the squared cosine of a direction drawn at random has on average, ${short(Math.sqrt(chance))}.`, histogram(counts, number(cosine.mean), Math.sqrt(chance))),
        table(
          "Means over rows",
          ["", "mean", `${percent(result.confidence)} interval`],
          [line("cosine", cosine), line("cosine, squared", fields(facts.squared_cosine)), line("ratio ‖gradient‖ ÷ ‖part along the plane‖", fields(facts.ratio))],
          [false, true, true],
        ),
        result.intervals !== null && h("p", { class: "note" }, `Intervals: ${result.intervals}.`),
      ),
    others.length > 0 && section("Rows without all numbers", h("ul", { class: "outcomes" }, others.map((words) => h("li", {}, words)))),
  );
}

export function alignmentMeaning(): HTMLElement {
  return section(
    "What alignment does not mean",
    h(
      "ul",
      {},
      h("li", {}, "Gradients along the data's plane do not say that a model is robust: that is what attacks and persistence measure."),
      h("li", {}, "The plane is that of principal components. Data on a bent surface lies near to more directions than a plane of its dimensions has."),
      h("li", {}, "Cosines of different models compare only against the same plane."),
    ),
  );
}
