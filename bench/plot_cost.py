#!/usr/bin/env python3
"""Draws what cost_bench measured: python3 bench/plot_cost.py TABLE.csv PICTURE.svg"""

import csv
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D

# Okabe and Ito's colours, which colour-blind readers tell apart; models are told by line and marker.
WAYS = {"black_box_us": ("every point asked for", "#D55E00"), "fast_path_us": ("fast path", "#0072B2"),
        "one_row_us": ("one row, the model alone", "#666666")}
MODELS = {"trees": ("boosted trees", "-", "o"), "network": ("dense network", "--", "s")}
PANELS = {
    "features": ("number of features", "200 trees of depth 6; network n-256-256-10; radius 0.1"),
    "trees": ("number of trees", "100 features, depth 6, radius 0.1"),
    "depth": ("depth of the trees", "100 features, 200 trees, radius 0.1"),
    "radius": ("radius, in standard deviations", "100 features; 200 trees of depth 6; network 100-256-256-10"),
}


def main(table: Path, picture: Path) -> None:
    with table.open() as file:
        rows = list(csv.DictReader(file))
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "harmonia", "font.family": "sans-serif", "font.size": 9,
                         "axes.spines.top": False, "axes.spines.right": False})
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.6))
    for axis, (sweep, (label, note)) in zip(axes.flat, PANELS.items()):
        for model, (_, line, marker) in MODELS.items():
            those = [row for row in rows if row["sweep"] == sweep and row["model"] == model]
            for way, (_, colour) in WAYS.items():
                axis.plot([float(row["value"]) for row in those], [float(row[way]) for row in those], line, marker=marker, color=colour,
                          markersize=3.5, linewidth=1.4)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel(label)
        axis.set_title(note, fontsize=8, color="#444444", loc="left")
        axis.grid(True, color="#dddddd", linewidth=0.6)
        axis.set_axisbelow(True)
    depths = sorted({int(row["value"]) for row in rows if row["sweep"] == "depth"})
    axes[1, 0].set_xticks(depths, [str(depth) for depth in depths])
    axes[1, 0].minorticks_off()
    for axis in axes[:, 0]:
        axis.set_ylabel("µs a row, one thread")
    handles = [Line2D([], [], color=colour, linewidth=2, label=name) for name, colour in WAYS.values()]
    handles += [Line2D([], [], color="#222222", linestyle=line, marker=marker, markersize=4, label=name) for name, line, marker in MODELS.values()]
    figure.legend(handles=handles, loc="upper center", ncols=5, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.95))
    figure.savefig(picture, facecolor="white", metadata={"Date": None, "Title": "What gamma costs a row"})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
