/** The images of the lowest and the highest gamma. */

import { figure, grouped, h, interval, section } from "./dom";
import { fields, list, number, text } from "./read";
import type { Result } from "./read";

interface Shown {
  name: string;
  words: string[];
  gamma: number | null;
  low: number | null;
  high: number | null;
  png: string;
}

/** Base64 alone: what else a result holds is no picture. */
const letters = /^[A-Za-z0-9+/]+={0,2}$/;

function shownOf(result: Result): Shown[] {
  return list(fields(result.frame.summary).images).flatMap((entry) => {
    const f = fields(entry);
    const png = text(f.png) ?? "";
    const row = number(f.row);
    if (!letters.test(png) || row === null) return [];
    const label = text(f.label);
    const decided = number(f.class);
    return [
      {
        name: text(f.id) ?? `row ${grouped(row)}`,
        words: [label === null ? "" : label, decided === null ? "" : `class ${decided}`].filter((word) => word !== ""),
        gamma: number(f.gamma),
        low: number(f.low),
        high: number(f.high),
        png,
      },
    ];
  });
}

function thumbnail(shown: Shown): HTMLElement {
  return h(
    "figure",
    { class: "thumbnail" },
    h("img", { src: `data:image/png;base64,${shown.png}`, alt: shown.name, loading: "lazy" }),
    h(
      "figcaption",
      {},
      h("span", { class: "name", title: shown.name }, shown.name.split("/").pop() ?? shown.name),
      shown.words.length > 0 && h("span", {}, shown.words.join(", ")),
      h("span", {}, "γ ", figure(shown.gamma, 3)),
      h("span", { class: "range" }, interval(shown.low, shown.high, shown.low === shown.high)),
    ),
  );
}

const rangeWords: { [rule: string]: string } = {
  free: "A step that leaves 0 … 255 goes on beyond: every step is whole.",
  symmetric: "A step that would leave 0 … 255 is cut short, and its opposite alike.",
  reflect: "A step that would leave 0 … 255 is mirrored at the bound.",
};

export function images(result: Result): HTMLElement | null {
  const shown = shownOf(result);
  if (shown.length === 0) return null;
  const image = fields(result.data.image);
  const shape = `${number(image.height) ?? "?"} × ${number(image.width) ?? "?"} pixels, ${number(image.channels) === 1 ? "grey" : "in colour"}`;
  const rule = rangeWords[text(fields(result.options.images).pixel_range) ?? ""] ?? "";
  const half = Math.ceil(shown.length / 2);
  const all = shown.length < 3;
  const strip = (caption: string, part: Shown[]): (HTMLElement | null)[] => [h("p", { class: "note" }, caption), h("div", { class: "strip thumbnails" }, part.map(thumbnail))];
  return section(
    "The images",
    h("p", {}, `Measured at ${shape}. ${rule}`),
    all ? strip("", shown) : [strip("Lowest γ: the model is nearest to harmonic around these.", shown.slice(0, half)), strip("Highest γ.", shown.slice(half))],
  );
}
