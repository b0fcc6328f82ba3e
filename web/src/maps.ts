/** Rows of one or two features: what the model decides beside gamma, as the paper's Figure 3 has it. */
import * as Plot from "@observablehq/plot";
import { counted, grouped, h, section, short } from "./dom";
import { plot } from "./plots";
import type { DrawnModel, Picture, Result } from "./read";
import type { Theme } from "./theme";

const height = (width: number): number => Math.round(Math.min(460, Math.max(240, 0.78 * width)));

function extent(values: (number | null)[]): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value === null) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : [0, 1];
}

function classesOf(picture: Picture): number[] {
  const found = new Set<number>();
  for (const model of picture.models) for (const c of model.class ?? []) if (c !== null) found.add(c);
  return [...found].sort((a, b) => a - b);
}

/** More classes than colours: those after the last share a grey. */
function classScale(classes: number[], theme: Theme): Plot.ScaleOptions {
  return { type: "ordinal", domain: classes, range: classes.map((_, i) => theme.classes[i] ?? theme.muted) };
}

function frame(picture: Picture, result: Result, width: number): Plot.PlotOptions {
  const [x, y] = [picture.x, picture.y];
  const padded = (values: number[]): [number, number] => {
    const [low, high] = extent(values);
    const room = picture.kind === "scatter" && !inAreas(picture) ? 0.03 * (high - low || 1) : 0;
    return [low - room, high + room];
  };
  return {
    width,
    height: height(width),
    marginLeft: 48,
    marginBottom: 40,
    marginRight: 8,
    marginTop: 26,
    x: { label: result.features[0] ?? "x0", domain: padded(x), ticks: 5 },
    y: { label: result.features[1] ?? "x1", domain: padded(y), ticks: 5 },
    style: { fontSize: "12px", background: "transparent", overflow: "visible" },
  };
}

const grid = (picture: Picture) => ({
  width: picture.across,
  height: picture.up,
  x1: picture.x[0],
  x2: picture.x[1],
  y1: picture.y[0],
  y2: picture.y[1],
});

/** A raster of a list that lies over the grid; drawn cell by cell. */
function raster(picture: Picture, values: (number | null)[], options: Plot.RasterOptions = {}): Plot.Raster {
  return Plot.raster(values, { ...grid(picture), fill: Plot.identity, imageRendering: "pixelated", ...options });
}

/** Rows that fill their box evenly, in areas nearest to each; dots would hide each other. */
const inAreas = (picture: Picture): boolean => picture.kind === "scatter" && picture.dense && picture.rows > 1000;

function areas(picture: Picture, values: (number | null)[], options: Plot.RasterOptions = {}): Plot.Raster {
  return Plot.raster(picture.x, { x: picture.x, y: picture.y, fill: values as number[], interpolate: "nearest", pixelSize: 2, ...options });
}

function decisions(picture: Picture, model: DrawnModel, result: Result, classes: number[]) {
  return (width: number, theme: Theme): Element => {
    const values = model.class ?? [];
    const opacity = theme.dark ? 0.7 : 0.62;
    const marks =
      picture.kind === "grid"
        ? [raster(picture, values, { fillOpacity: opacity })]
        : inAreas(picture)
          ? [areas(picture, values, { fillOpacity: opacity })]
          : [
            Plot.dot(picture.x, {
              x: picture.x,
              y: picture.y,
              fill: values as number[],
              r: picture.rows > 1000 ? 2 : 3.5,
              fillOpacity: 0.85,
            }),
          ];
    return Plot.plot({ ...frame(picture, result, width), color: classScale(classes, theme), marks });
  };
}

function outputs(picture: Picture, model: DrawnModel, result: Result, domain: [number, number]) {
  return (width: number, theme: Theme): Element => {
    const values = model.value ?? [];
    const marks =
      picture.kind === "grid"
        ? picture.binned
          ? [raster(picture, values)]
          : [Plot.contour(values, { ...grid(picture), fill: Plot.identity, stroke: theme.text, strokeOpacity: 0.15, thresholds: 14 })]
        : inAreas(picture)
          ? [areas(picture, values)]
          : [Plot.dot(picture.x, { x: picture.x, y: picture.y, fill: values as number[], r: picture.rows > 1000 ? 2 : 3.5 })];
    return Plot.plot({ ...frame(picture, result, width), color: spread(theme.output, domain), marks });
  };
}

/** A scale of several colours needs as many places in its domain. A power above 1 gives small values more of them. */
function spread(colours: string[], [low, high]: [number, number], power = 1): Plot.ScaleOptions {
  const domain = colours.map((_, i) => low + (high - low) * (i / (colours.length - 1)) ** power);
  return { type: "linear", domain, range: colours, interpolate: "rgb", clamp: true };
}

// Most gammas are far below the largest: the root shows both.
const gammaPower = 2;

function gammas(picture: Picture, model: DrawnModel, result: Result, largest: number) {
  return (width: number, theme: Theme): Element => {
    const color = spread(theme.gamma, [0, largest], gammaPower);
    const whole = model.gamma.every((g) => g !== null);
    const steps = Array.from({ length: 9 }, (_, i) => largest * ((i + 1) / 10) ** gammaPower);
    const marks =
      picture.kind === "grid"
        ? picture.binned || !whole
          ? [raster(picture, model.gamma)]
          : [
              Plot.contour(model.gamma, {
                ...grid(picture),
                fill: Plot.identity,
                thresholds: [-1, ...steps],
              }),
              Plot.contour(model.gamma, { ...grid(picture), stroke: theme.text, strokeOpacity: 0.2, strokeWidth: 0.5, thresholds: steps }),
            ]
        : inAreas(picture)
          ? [areas(picture, model.gamma)]
          : [
            Plot.dot(picture.x, {
              x: picture.x,
              y: picture.y,
              fill: model.gamma as number[],
              r: picture.rows > 1000 ? 2 : 3.5,
              stroke: theme.text,
              strokeOpacity: 0.25,
              strokeWidth: 0.5,
              sort: { channel: "fill" },
            }),
          ];
    return Plot.plot({ ...frame(picture, result, width), color, marks: [...marks, Plot.frame({ stroke: theme.line })] });
  };
}

function lines(picture: Picture, values: (number | null)[], result: Result, label: string, zero: boolean) {
  return (width: number, theme: Theme): Element =>
    Plot.plot({
      width,
      height: height(width),
      marginLeft: 52,
      marginBottom: 40,
      x: { label: result.features[0] ?? "x0" },
      y: { label, grid: true, zero },
      style: { fontSize: "12px", background: "transparent" },
      marks: [Plot.lineY(picture.x, { x: picture.x, y: values as number[], stroke: theme.accent, strokeWidth: 1.6 })],
    });
}

/** The colours' legend, for the width of a plot. */
function ramp(label: string, colours: (theme: Theme) => string[], [low, high]: [number, number], power = 1): HTMLElement {
  return plot(`${label} from ${short(low)} to ${short(high)}`, "", (width, theme) =>
    Plot.legend({
      color: spread(colours(theme), [low, high], power),
      label,
      width: Math.min(300, width),
      // A list of ticks works, and the types do not know it.
      ticks: [0, 0.25, 0.5, 0.75, 1].map((share) => low + share ** power * (high - low)) as unknown as number,
      tickFormat: (d: number) => short(d, 2),
      marginLeft: 16,
      marginRight: 28,
      style: { fontSize: "12px", background: "transparent", overflow: "visible" },
    }),
  );
}

function swatches(classes: number[]): HTMLElement {
  const shown = classes.slice(0, 12).map((c, i) => h("li", {}, h("span", { class: `swatch c${Math.min(i, 7)}` }), `class ${c}`));
  if (classes.length > 12) shown.push(h("li", {}, `and ${classes.length - 12} more`));
  return h("ul", { class: "legend", "aria-label": "colours of the classes" }, shown);
}

function note(picture: Picture): string {
  if (picture.binned) return `${counted(picture.rows, "row")}, averaged over ${picture.across} × ${picture.up} cells.`;
  if (picture.cell > 1 && picture.kind === "grid") {
    return `${counted(picture.rows, "row")} of a regular grid; each point drawn stands for ${picture.cell} × ${picture.cell} of them.`;
  }
  if (picture.cell > 1) return `${counted(picture.rows, "row")}; each point drawn is the mean of ${grouped(picture.cell)}.`;
  if (picture.kind === "line") return `${counted(picture.rows, "row")}, in the order of the feature.`;
  if (inAreas(picture)) return `${counted(picture.rows, "row")}; every place has the colour of the nearest.`;
  return picture.kind === "grid"
    ? `${counted(picture.rows, "row")} of a regular grid, ${picture.across} × ${picture.up}.`
    : `${counted(picture.rows, "row")}, each drawn where it lies.`;
}

/** The pictures of all models of a result, to one scale. */
export function maps(result: Result): HTMLElement | null {
  const picture = result.picture;
  if (picture === null || picture.models.length === 0) return null;
  const largest = extent(picture.models.flatMap((m) => m.gamma))[1] || 1;
  const range = extent(picture.models.flatMap((m) => m.value ?? []));
  const classes = classesOf(picture);
  const several = picture.models.length > 1;
  const rows = picture.models.map((model) => {
    const name = model.name || result.model;
    const pair: HTMLElement[] = [];
    if (picture.kind === "line") {
      if (model.value) pair.push(plot(`output of ${name}`, "Output", lines(picture, model.value, result, "output", false)));
      pair.push(plot(`gamma of ${name}`, "γ", lines(picture, model.gamma, result, "γ", true)));
    } else {
      if (model.class) pair.push(plot(`decision regions of ${name}`, "What the model decides", decisions(picture, model, result, classes)));
      else if (model.value) pair.push(plot(`output of ${name}`, "The model's output", outputs(picture, model, result, range)));
      pair.push(plot(`gamma contours of ${name}`, "γ", gammas(picture, model, result, largest)));
    }
    return h("div", { class: "model" }, several && h("h4", {}, name), h("div", { class: "pair" }, pair));
  });
  const keys =
    picture.kind === "line"
      ? null
      : h(
          "div",
          { class: "pair keys" },
          classes.length > 0 ? swatches(classes) : picture.models.some((m) => m.value) ? ramp("output", (t) => t.output, range) : null,
          ramp("γ", (t) => t.gamma, [0, largest], gammaPower),
        );
  const lead = picture.kind === "line" ? "" : several ? " All models share the same colours." : "";
  return section("Where γ lies", h("p", { class: "note" }, note(picture) + lead), rows, keys);
}
