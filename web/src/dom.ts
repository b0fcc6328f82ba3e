/** Elements and numbers. All text goes in as text: nothing of a result is ever read as HTML. */

type Child = Node | string | number | null | undefined | false | Child[];
type Attributes = { [name: string]: string | number | boolean | null | undefined | ((event: Event) => void) };

export function h(tag: string, attributes: Attributes = {}, ...children: Child[]): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  append(element, children);
  return element;
}

function append(element: HTMLElement, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child instanceof Node) element.append(child);
    else if (child !== null && child !== undefined && child !== false) element.append(String(child));
  }
}

/** Four digits, as the program's own tables have them. */
export function short(value: number | null, digits = 4): string {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const shown = size >= 1e-4 && size < 1e6 ? String(Number(value.toPrecision(digits))) : power(value, digits - 1);
  return shown.replace("-", "−");
}

function power(value: number, digits: number): string {
  const [mantissa = "", exponent = ""] = value.toExponential(digits - 1).split("e");
  const raised = [...exponent.replace("+", "")].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)] ?? "").join("");
  return `${Number(mantissa)} × 10${raised}`;
}

/** 1234567 as 1,234,567. */
export function grouped(value: number): string {
  return value.toLocaleString("en-US");
}

export function counted(value: number, thing: string): string {
  return `${grouped(value)} ${thing}${value === 1 ? "" : "s"}`;
}

export function percent(share: number): string {
  const value = 100 * share;
  if (value > 0 && value < 0.1) return "under 0.1 %";
  if (value > 99.9 && value < 100) return "over 99.9 %";
  return `${Number(value.toPrecision(3))} %`;
}

/** A number as it is shown; the exact one is its title and its data-value. */
export function figure(value: number | null, digits = 4): HTMLElement {
  if (value === null) return h("span", { class: "none" }, "–");
  return h("data", { value: String(value), title: String(value) }, short(value, digits));
}

/** [low, high]; an upper end that is not known is a question mark. `exact`: every point of every row was asked. */
export function interval(low: number | null, high: number | null, exact: boolean): HTMLElement {
  if (exact && low === high && low !== null) return h("span", { class: "none", title: `every point was asked: ${low}` }, "exact");
  return h("span", { class: "interval" }, "[", figure(low), ", ", high === null ? "?" : figure(high), "]");
}

export function section(title: string, ...children: Child[]): HTMLElement {
  return h("section", {}, h("h3", {}, title), children);
}

/** A table that scrolls in a box of its own where it is wider than the page. */
export function table(caption: string, head: string[], rows: (Node | string)[][], numeric: boolean[]): HTMLElement {
  const kind = (content: Node | string, column: number): string | null =>
    numeric[column] === true ? "number" : typeof content !== "string" ? null : content.length > 14 ? "words" : "name";
  const cell = (tag: string, content: Node | string, column: number): HTMLElement => h(tag, { class: kind(content, column), scope: tag === "th" ? "col" : null }, content);
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", {}, h("span", {}, caption)),
      head.some((name) => name !== "") && h("thead", {}, h("tr", {}, head.map((name, i) => cell("th", name, i)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((content, i) => cell("td", content, i))))),
    ),
  );
}
