"""What the tests of tree models share: rows that are hard for trees, and the program's answers to them."""

import json
from pathlib import Path

import numpy as np

CLOSE = 1e-5


def hard_rows(rng: np.random.Generator, columns: int, thresholds: list[tuple[int, float]], categories: dict[int, int] | None = None, huge: float = 1e30) -> np.ndarray:
    """Random rows, rows with missing values, and rows with values on, just under and just above thresholds."""
    categories = categories or {}
    x = rng.normal(size=(120 + 3 * min(len(thresholds), 60), columns))
    x[60:100][rng.random((40, columns)) < 0.4] = np.nan
    x[100:110] = 0.0
    x[110:120] *= huge
    some = [thresholds[i] for i in rng.permutation(len(thresholds))[:60]]
    for i, (column, value) in enumerate(some):
        # Beside the value itself, numbers that differ from it in double and mostly not in float32.
        x[120 + 3 * i : 123 + 3 * i, column] = [value, np.nextafter(value, -np.inf), value + abs(value) * 1e-9]
    for column, count in categories.items():
        kept = np.isnan(x[:, column])
        x[:, column] = rng.integers(0, count, len(x))
        x[kept, column] = np.nan
        # Unknown, huge, negative and broken categories.
        x[:8, column] = [count, count + 7, 1e9, -1, -0.3, 0.7, 1.999, 40]
    return x


def answers(harmonia, folder: Path, model: Path, x: np.ndarray, *options: str) -> np.ndarray:
    """rows × outputs, as the program says the model answers at each row."""
    np.save(folder / "x.npy", x)
    out = folder / "out.json"
    done = harmonia("gamma", model, folder / "x.npy", "--radius", "1e-3", "--ball", "random-pairs:1", "--output", "all",
                    "--quiet", "--json", out, *options)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    rows = json.loads(out.read_text())["rows"]
    values = np.array([row["value"] for row in rows], dtype=float).reshape(len(x), -1)
    assert [row["row"] for row in rows] == list(np.repeat(np.arange(len(x)), values.shape[1]))
    return values


def columns_of(predicted: np.ndarray) -> np.ndarray:
    """A prediction as rows × outputs in double."""
    return np.asarray(predicted, dtype=np.float64).reshape(len(predicted), -1)


def assert_close(ours: np.ndarray, theirs: np.ndarray, what: str) -> None:
    theirs = columns_of(theirs)
    assert ours.shape == theirs.shape, what
    off = np.abs(ours - theirs) / (1 + np.abs(theirs))
    worst = np.unravel_index(np.argmax(off), off.shape)
    assert off[worst] <= CLOSE, f"{what}: {ours[worst]} where the library says {theirs[worst]} in row {worst[0]}"


def assert_same_labels(ours: np.ndarray, theirs: np.ndarray, margins: np.ndarray, what: str) -> None:
    """Equal, but where two margins are equal to within the rounding of the library's own float sums."""
    top = np.sort(columns_of(margins), axis=1)
    clear = np.ones(len(top), dtype=bool) if top.shape[1] == 1 else top[:, -1] - top[:, -2] > CLOSE * (1 + np.abs(top[:, -1]))
    assert clear.mean() > 0.5, what
    assert (ours[clear] == theirs[clear]).all(), what
