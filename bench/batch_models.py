"""How many points a call had better have, of models of others: what a point costs in calls of fixed sizes, and of the size that gamma chooses.

    python bench/batch_models.py build/harmonia [TURNS [ONLY]]    (python: of scripts/setup.sh --venv)

Scikit-learn's models are called as Python functions are, by themselves, and answer as programs (cmd:); a model of mlserver
answers over HTTP. Sizes take turns, and the least of each counts: of programs the processor time that a run takes beyond one
of a single row, of the server the time that passed, with four requests in flight. Every run must give the same gammas. A
program is given what fits into the pipe to it, some hundred rows, whatever the size. ONLY: models whose name has this in it.
"""

import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is there: the time of one thread

import numpy as np  # noqa: E402
from sklearn.ensemble import RandomForestClassifier  # noqa: E402
from sklearn.neural_network import MLPClassifier  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "agreement" / "mlserver"))
from server import running_mlserver  # noqa: E402

CHOSEN = 0
IN_FLIGHT = 4  # requests to a server, as gamma does by itself
SIZES = [32, 128, 512, 1024, 2048, 4096, 8192]  # points a call

SCORER = """
import pickle, sys
import numpy as np

model = pickle.load(open(sys.argv[1], "rb"))
answer = getattr(model, "predict_proba", None) or model.decision_function
left = b""
while piece := sys.stdin.buffer.raw.read(1 << 20):
    lines, _, left = (left + piece).rpartition(b"\\n")
    if not lines:
        continue
    values = answer(np.loadtxt(lines.decode().splitlines(), delimiter=",", ndmin=2))
    for row in values.reshape(len(values), -1):
        print(*map(repr, row.tolist()), sep=",")
    sys.stdout.flush()
"""


def processor_seconds(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def gammas_of(program: str, address: str, data: Path, size: int, out: Path) -> list:
    threads = 1 if address.startswith("cmd:") else IN_FLIGHT
    sizes = ["--batch", str(threads * size)] if size else []
    command = [program, "gamma", address, str(data), "--ball", "cross", "--radius", "0.1", "--threads", str(threads), "--quiet", "--json", str(out), *sizes]
    subprocess.run(command, check=True)
    return [row["gamma"] for row in json.loads(out.read_text())["rows"]]


def show(title: str, sizes: list, turns: int, cost) -> None:
    """cost(size): microseconds a point."""
    least = dict.fromkeys(sizes, float("inf"))
    for _ in range(turns):
        for size in sizes:
            least[size] = min(least[size], cost(size))
    print(f"{title:34}" + "".join(f"{least[size]:8.1f}" if size in least else f"{'':8}" for size in [CHOSEN, *SIZES]), flush=True)


def show_function(title: str, model, x: np.ndarray, turns: int) -> None:
    answer = getattr(model, "predict_proba", None) or model.decision_function

    def cost(size: int) -> float:
        begin = processor_seconds(resource.RUSAGE_SELF)
        for first in range(0, len(x), size):
            answer(x[first : first + size])
        return 1e6 * (processor_seconds(resource.RUSAGE_SELF) - begin) / len(x)

    show(title, SIZES, turns, cost)


def show_runs(title: str, program: str, address: str, x: np.ndarray, folder: Path, turns: int, server: bool) -> None:
    data, one, out = folder / "rows.csv", folder / "row.csv", folder / "out.json"
    np.savetxt(data, x, delimiter=",")
    np.savetxt(one, x[:1], delimiter=",")
    points = (len(x) - 1) * (2 * x.shape[1] + 1)
    expected = gammas_of(program, address, data, CHOSEN, out)

    def seconds(rows: Path, size: int) -> float:
        clock = time.perf_counter if server else lambda: processor_seconds(resource.RUSAGE_CHILDREN)
        begin = clock()
        gammas = gammas_of(program, address, rows, size, out)
        taken = clock() - begin
        assert np.allclose(gammas, expected[: len(gammas)], rtol=1e-9, atol=1e-12), (title, size)
        return taken

    start = min(seconds(one, CHOSEN) for _ in range(turns))
    show(title, [CHOSEN, *SIZES], turns, lambda size: 1e6 * (seconds(data, size) - start) / points)


def main(program: str, turns: int, only: str) -> None:
    warnings.simplefilter("ignore")  # few iterations are enough here
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2000, 10))
    y = (x[:, 0] * x[:, 1] + x[:, 2] > 0).astype(int)
    many = rng.normal(size=(16384, 10))
    print(f"{'us a point':34}" + "".join(f"{size or 'chosen':>8}" for size in [CHOSEN, *SIZES]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "score.py").write_text(SCORER)
        for model in (RandomForestClassifier(100, random_state=1), MLPClassifier((64, 64), max_iter=50, random_state=1), SVC()):
            title = type(model).__name__
            if only not in title:
                continue
            (folder / title).write_bytes(pickle.dumps(model.fit(x, y)))
            show_function(title, model, many, turns)
            address = f"cmd:{sys.executable} {folder}/score.py {folder}/{title}"
            show_runs(f"{title}, cmd:", program, address, x[:800], folder, turns, server=False)
        if only not in "mlserver":
            return
        with running_mlserver() as server:
            show_runs("mlserver, a polynomial of 2", program, server + "/v2/models/curved", rng.random((20000, 2)), folder, turns, server=True)


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()), int(sys.argv[2]) if len(sys.argv) > 2 else 3, sys.argv[3] if len(sys.argv) > 3 else "")
