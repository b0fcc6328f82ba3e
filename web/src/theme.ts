/** Colours. Classes have those of Okabe and Ito, which people with every kind of colour vision tell apart. */

export interface Theme {
  dark: boolean;
  text: string;
  muted: string;
  line: string;
  accent: string;
  background: string;
  /** From no gamma, which is nearly the page itself, to the largest. */
  gamma: string[];
  /** From the least to the largest output. */
  output: string[];
  classes: string[];
}

const classes = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8ad1e"];

export function currentTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const dark = colour("--dark") === "1";
  return {
    dark,
    text: colour("--text"),
    muted: colour("--muted"),
    line: colour("--line"),
    accent: colour("--accent"),
    background: colour("--background"),
    gamma: dark
      ? ["#191c21", "#3b2459", "#7b2a77", "#bf3f6f", "#f0735a", "#fcb96b", "#fff6c8"]
      : ["#faf9f5", "#fde3bd", "#fbb57f", "#ee7f66", "#c94d71", "#8a2f77", "#45195c"],
    output: dark
      ? ["#17233a", "#1f4e79", "#3d85a8", "#8fc0c4", "#e8efdc"]
      : ["#f2f6ef", "#b9d9d3", "#6cb0bf", "#2f7aa6", "#173f70"],
    classes,
  };
}

export function toggleTheme(): void {
  const root = document.documentElement;
  root.dataset.theme = currentTheme().dark ? "light" : "dark";
}
