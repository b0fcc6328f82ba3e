/** A plot that is drawn again when the page's width or its colours change. */
import { currentTheme, type Theme } from "./theme";
import { h } from "./dom";

type Draw = (width: number, theme: Theme) => Element;

interface Drawn {
  place: HTMLElement;
  draw: Draw;
  width: number;
}

const drawn: Drawn[] = [];

/** A figure whose plot `draw` makes for the width that it is given. */
export function plot(label: string, caption: string, draw: Draw): HTMLElement {
  const place = h("div", { class: "plot", role: "img", "aria-label": label });
  drawn.push({ place, draw, width: 0 });
  return h("figure", {}, caption !== "" && h("figcaption", {}, caption), place);
}

function redraw(item: Drawn, theme: Theme): void {
  const width = Math.floor(item.place.clientWidth);
  if (width === 0) return;
  item.width = width;
  item.place.replaceChildren(item.draw(width, theme));
}

export function redrawAll(): void {
  const theme = currentTheme();
  for (const item of drawn) redraw(item, theme);
}

/** The same, but for what the pointer is on, which waits until it has left. */
export function redrawOthers(): void {
  const theme = currentTheme();
  for (const item of drawn) {
    if (item.place.matches(":hover")) item.place.addEventListener("pointerleave", () => redraw(item, currentTheme()), { once: true });
    else redraw(item, theme);
  }
}

/** Draws what stands in a place that changed its width. */
export function watchWidths(): void {
  const observer = new ResizeObserver(() => {
    const theme = currentTheme();
    for (const item of drawn) if (Math.floor(item.place.clientWidth) !== item.width) redraw(item, theme);
  });
  for (const item of drawn) observer.observe(item.place);
}
