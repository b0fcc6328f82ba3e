"""Figure 17 of the persistence paper: the lengths of samples from a ball and from a Gaussian of the same size."""

import csv
import sys
from collections import defaultdict
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

LOOKS = {"gaussian": ("N(0, (7/√n)² I)", "#0072B2"), "ball": ("uniform in the ball of radius 7", "#D55E00")}


def main(folder: Path) -> None:
    lengths: dict[tuple[int, str], list[float]] = defaultdict(list)
    with (folder / "lengths.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            lengths[int(row["n"]), row["noise"]].append(float(row["length"]))
    dimensions = sorted({n for n, _ in lengths})
    figure, panels = plt.subplots(1, len(dimensions), figsize=(9, 3.4))
    for axes, n in zip(panels, dimensions, strict=True):
        spread = 4 * float(np.std(lengths[n, "gaussian"]))
        bins = np.linspace(7 - spread, 7 + spread, 81)
        for noise, (label, colour) in LOOKS.items():
            axes.hist(np.clip(lengths[n, noise], bins[0], bins[-1]), bins=bins, color=colour, alpha=0.75, label=label)
        axes.set_yscale("log")
        axes.set_title(f"n = {n:,}", fontsize=10)
        axes.set_xlabel("length of a sample")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("samples")
    figure.legend(*panels[0].get_legend_handles_labels(), frameon=False, fontsize=9, ncols=2, loc="upper center")
    figure.tight_layout(rect=(0, 0, 1, 0.92))
    figure.savefig(folder / "lengths.png", dpi=150)
    print(f"plot: {folder / 'lengths.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
