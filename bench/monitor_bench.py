"""What watching costs: rows a second of `harmonia monitor` on a file against those of `harmonia gamma` on the same rows and model
(30 features, 500 trees), and memory over ten million rows.

    python bench/monitor_bench.py build/harmonia [rows [rows_for_memory]]    (python: of scripts/setup.sh --venv)

Runs alternate. That both measured the same is checked before a time is used: the mean gamma of all rows.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import xgboost
from sklearn.datasets import make_classification

FEATURES, TREES, REPEATS = 30, 500, 3
RADIUS = ["--radius", "0.1"]


def made(folder: Path, rows: int) -> None:
    x, y = make_classification(8000 + rows, FEATURES, n_informative=10, n_redundant=0, n_clusters_per_class=8, flip_y=0.02, random_state=1)
    x = ((x - x.mean(0)) / x.std(0)).astype(np.float32)
    booster = xgboost.train({"objective": "binary:logistic", "eta": 0.05, "max_depth": 6, "seed": 1}, xgboost.DMatrix(x[:6000], y[:6000]), TREES)
    booster.save_model(folder / "trees.json")
    for name, part in (("base", x[6000:8000]), ("rows", x[8000:])):
        np.savetxt(folder / f"{name}.csv", part, delimiter=",", header=",".join(f"f{j}" for j in range(FEATURES)), comments="", fmt="%.9g")


def timed(program: str, folder: Path, *words: str) -> float:
    begin = time.perf_counter()
    subprocess.run([program, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def speed(program: str, folder: Path, rows: int) -> None:
    made(folder, rows)
    timed(program, folder, "baseline", "trees.json", "base.csv", *RADIUS, "-o", "base.json")
    watched, measured = [], []
    for i in range(REPEATS):
        measured.append(timed(program, folder, "gamma", "trees.json", "rows.csv", *RADIUS, "--quiet", "--json", "gamma.json"))
        watched.append(timed(program, folder, "monitor", "trees.json", "--baseline", "base.json", "--source", "rows.csv", "--once", "--state", f"{i}.db"))
        timed(program, folder, "monitor", "--merge", f"{i}.db", "--json", "merged.json")
        ours = json.loads((folder / "merged.json").read_text())["summary"]
        theirs = json.loads((folder / "gamma.json").read_text())["summary"]["gamma"]
        assert ours["measured"] == rows == theirs["rows"]
        assert abs(ours["gamma"]["mean"] / theirs["mean"] - 1) < 1e-4, (ours, theirs)
    ratio = statistics.median(m / w for m, w in zip(measured, watched))
    print(f"{FEATURES} features, {TREES} trees, {rows} rows: gamma {rows / statistics.median(measured):,.0f} rows/s, monitor {rows / statistics.median(watched):,.0f} rows/s")
    print(f"monitor ÷ gamma {ratio:.3f} ({min(m / w for m, w in zip(measured, watched)):.3f} … {max(m / w for m, w in zip(measured, watched)):.3f}; goal: at least 0.8)")


def memory(program: str, folder: Path, rows: int) -> None:
    """Standard input of so many rows, after a tenth and at the end: what is resident."""
    random = np.random.default_rng(1)
    np.savetxt(folder / "small.csv", random.random((2000, 2)), delimiter=",", header="a,b", comments="")
    timed(program, folder, "baseline", "fn:f2", "small.csv", "--radius", "0.1", "-o", "small.json")
    monitor = subprocess.Popen([program, "monitor", "fn:f2", "--baseline", "small.json", "--state", "memory.db", "--form", "csv"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    text = "\n".join(",".join(f"{v:.6f}" for v in row) for row in random.random((100_000, 2))).encode() + b"\n"
    sizes, begin = [], time.perf_counter()
    for _ in range(rows // 100_000):
        monitor.stdin.write(text)
        status = Path(f"/proc/{monitor.pid}/status").read_text()
        sizes.append(int(status.split("VmRSS:")[1].split()[0]) / 1024)
    monitor.stdin.close()
    assert monitor.wait() == 0
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{rows:,} rows in {time.perf_counter() - begin:.0f} s: {sizes[len(sizes) // 10]:.1f} MB resident after a tenth, {sizes[-1]:.1f} MB at the end (largest child {peak:.1f} MB)")


def main(program: str, rows: int, rows_for_memory: int) -> None:
    program = str(Path(program).resolve())
    with tempfile.TemporaryDirectory() as folder:
        speed(program, Path(folder), rows)
        memory(program, Path(folder), rows_for_memory)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20_000, int(sys.argv[3]) if len(sys.argv) > 3 else 10_000_000)
