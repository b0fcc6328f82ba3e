"""harmonia monitor --map as a user has it: every row gets the stability that `harmonia map --use` gives it, and a map that does
not fit is refused."""

import csv
import json
import random
import re
import shlex
import signal
import subprocess
import sys
import urllib.request

import pytest

# Three classes of four features: two compete by a curved margin, one stands aside.
LOGITS = """
import sys, math
for line in sys.stdin:
    a, b, c, d = (float(v) for v in line.split(","))
    y = [a * a + b, 2 * c - 0.5 * a + 0.3 * c * c * d, 0.3 * d]
    {}
    print(",".join(map(repr, y)), flush=True)
"""
SOFTMAX = "e = [math.exp(v - max(y)) for v in y]; y = [v / sum(e) for v in e]"
HOW = ["--radius", "0.4", "--ball", "cross", "--steps", "3"]
ID = ["--id", "name"]


def write_rows(path, count: int, seed: int, moved: range = range(0)):
    """Rows of which those in `moved` are elsewhere."""
    draw = random.Random(seed)
    lines = ["name,a,b,c,d"]
    for i in range(count):
        lines.append(f"r{i}," + ",".join(repr(draw.gauss(1.5 if i in moved else 0, 1.5)) for _ in range(4)))
    path.write_text("\n".join(lines) + "\n")
    return path


class World:
    """A model, its map and baseline, and rows of a stream."""

    def __init__(self, harmonia, folder, name: str, *options):
        self.harmonia, self.folder = harmonia, folder
        script = folder / f"{name}.py"
        script.write_text(LOGITS.format(SOFTMAX if name == "probabilities" else ""))
        self.model = f"cmd:{shlex.quote(sys.executable)} {script}"
        self.live = write_rows(folder / "live.csv", 3000, 6, range(1200, 2200))
        self.map, self.base = folder / f"{name}-map.json", folder / f"{name}-base.json"
        self.run("map", self.model, write_rows(folder / "train.csv", 400, 4), *ID, *HOW, *options, "--json", self.map)
        self.run("baseline", self.model, write_rows(folder / "reference.csv", 1500, 5), *ID, "--map", self.map, "-o", self.base)

    def run(self, *words):
        done = self.harmonia(*words, "--quiet")
        assert done.returncode == 0, done.stderr
        return done

    def watch(self, folder, *words, base=None, map=None):
        return self.harmonia("monitor", self.model, "--baseline", base or self.base, "--map", map or self.map, "--source", self.live, *ID, "--once", "--window", 500, *words, cwd=folder)

    def answers(self) -> dict:
        """What `harmonia map --use` says, by the rows' ids."""
        self.run("map", "--use", self.map, self.model, self.live, *ID, "--csv", self.folder / "use.csv")
        with open(self.folder / "use.csv", newline="") as file:
            return {row["id"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module", params=["logits", "probabilities"])
def world(request, harmonia, tmp_path_factory):
    options = ["--outputs", "probabilities"] if request.param == "probabilities" else []
    return World(harmonia, tmp_path_factory.mktemp(request.param), request.param, *options)


@pytest.fixture(scope="module")
def logits(harmonia, tmp_path_factory):
    return World(harmonia, tmp_path_factory.mktemp("logits"), "logits")


@pytest.fixture
def served(program, tmp_path):
    """served(FILE…): the status and the metrics of `harmonia serve --monitor FILE…`."""

    def ask(*files):
        command = [program, "serve", *(word for file in files for word in ("--monitor", file)), "--listen", "127.0.0.1:0"]
        with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
            try:
                url = re.search(r"http://[\d.:]+", process.stdout.readline()).group()
                with urllib.request.urlopen(f"{url}/api/status", timeout=60) as status, urllib.request.urlopen(f"{url}/metrics", timeout=60) as metrics:
                    return json.load(status), metrics.read().decode()
            finally:
                process.send_signal(signal.SIGINT)
                process.wait(60)

    return ask


def numbers(answer: dict, *keys) -> tuple:
    return tuple(float(answer[key]) for key in keys)


def test_every_row_has_the_stability_that_the_map_gives_it(world, harmonia, served, tmp_path):
    done = world.watch(tmp_path, "--alerts", "alerts.jsonl")
    assert done.returncode == 0, done.stderr
    assert "3000 measured" in done.stdout and "1 alert" in done.stdout
    use = world.answers()

    alert = json.loads((tmp_path / "alerts.jsonl").read_text().splitlines()[-1])
    assert len(alert["rows"]) == 50
    for row in alert["rows"]:
        said, map_said = row["stability"], use[row["id"]]
        assert row["gamma"] == float(map_said["gamma"])
        assert tuple(said[k] for k in ("logit_p", "probability", "low", "high")) == numbers(map_said, "logit_p", "stable_probability", "stable_low", "stable_high")
        assert said["outside"] == (map_said["outside"] == "true")

    status, metrics = served("monitor.db")
    model = status["models"][0]
    assert [p["id"] for p in model["points"]] == [f"r{i}" for i in range(2700, 3000)]
    for point in model["points"]:
        keys = ("gamma", "logit_p", "stable_probability", "stable_low", "stable_high")
        assert tuple(point[k] for k in keys) == numbers(use[point["id"]], *keys)
        assert point["outside"] == (use[point["id"]]["outside"] == "true") and not point["alert"]
    assert model["map"]["inputs"][0]["name"] == "logit_p" and model["map"]["steps"] == 3

    rows = list(use.values())
    for window in model["windows"]:
        mine = rows[window["first"] : window["next"]]
        stable = [float(r["stable_probability"]) for r in mine]
        found = window["stability"]
        assert found["rows"] == 500 and found["outside"] == sum(r["outside"] == "true" for r in mine)
        assert found["mean"] == pytest.approx(sum(stable) / 500, abs=2**-30) and found["low"] < found["mean"] < found["high"]
        assert found["bins"] == [sum(min(19, int(20 * p)) == i for p in stable) for i in range(20)]
    latest = model["windows"][-1]["stability"]
    told = {name: float(value) for name, value in re.findall(r"^(harmonia_stability_\w+)\{.*\} (\S+)$", metrics, re.MULTILINE)}
    assert told == pytest.approx({"harmonia_stability_mean": latest["mean"], "harmonia_stability_low": latest["low"], "harmonia_stability_high": latest["high"], "harmonia_stability_outside_share": latest["outside"] / 500})

    merged = harmonia("monitor", "--merge", "monitor.db", "--json", "merged.json", cwd=tmp_path)
    assert merged.returncode == 0 and "mean gamma, mean stability" in merged.stdout
    summary = json.loads((tmp_path / "merged.json").read_text())["summary"]["stability"]
    assert summary["rows"] == 3000 and summary["bins"] == [sum(w["stability"]["bins"][i] for w in model["windows"]) for i in range(20)]


def test_it_asks_no_more_of_the_model(logits, harmonia, served, tmp_path):
    plain = harmonia("monitor", logits.model, "--baseline", logits.base, "--source", logits.live, *ID, "--once", "--window", 500, "--state", "plain.db", cwd=tmp_path)
    assert plain.returncode == 0, plain.stderr
    assert logits.watch(tmp_path).returncode == 0
    status, metrics = served("plain.db", "monitor.db")
    without, mapped = status["models"]
    assert without["evaluations"] == mapped["evaluations"] > 3000 * 9
    assert "map" not in without and "points" not in without and "stability" not in without["windows"][0]
    # Apart from what the map adds, both found the same.
    assert [{k: v for k, v in w.items() if k not in ("stability", "begin", "end", "gamma")} for w in mapped["windows"]] == [{k: v for k, v in w.items() if k not in ("begin", "end", "gamma")} for w in without["windows"]]
    assert [w["gamma"] for w in mapped["windows"]] == [w["gamma"] for w in without["windows"]]


def test_a_baseline_that_is_measured_otherwise_is_refused(world, harmonia, tmp_path):
    made = harmonia("baseline", world.model, world.folder / "reference.csv", *ID, "--radius", 0.3, "--ball", "cross", "-o", "base.json", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    done = world.watch(tmp_path, base="base.json")
    what = "has radius 0.3, the map 0.4" if "logits" in world.model else "is of plain outputs, the map log-probabilities"
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == f"harmonia: base.json {what}; expected a baseline that is measured as the map: harmonia baseline MODEL DATA --map {world.map}\n"
    assert not (tmp_path / "monitor.db").exists()


def test_maps_that_cannot_be_asked_are_refused(logits, harmonia, tmp_path):
    with_age = tmp_path / "train.csv"
    lines = (logits.folder / "train.csv").read_text().splitlines()
    with_age.write_text("\n".join([lines[0] + ",age"] + [f"{line},{20 + i % 50}" for i, line in enumerate(lines[1:])]) + "\n")
    made = harmonia("map", logits.model, with_age, *ID, *HOW, "--with", "age", "--json", "map.json", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    done = logits.watch(tmp_path, map="map.json")
    assert done.returncode == 2 and done.stderr == f"harmonia: map.json takes 'age', which is no feature that the model of {logits.base} reads; expected a map without --with, or with features alone\n"
    broken = json.loads(logits.map.read_text())
    del broken["summary"]["map"]["floor"]
    (tmp_path / "broken.json").write_text(json.dumps(broken))
    for name, words in (("none.json", "no such file"), ("broken.json", "floor"), (logits.base, "is a result of 'baseline'; expected one of map")):
        done = logits.watch(tmp_path, map=name)
        assert done.returncode != 0 and done.stdout == "" and done.stderr.startswith("harmonia: ") and done.stderr.count("\n") == 1 and words in done.stderr


def test_a_state_without_a_map_is_not_gone_on_with_one(logits, harmonia, tmp_path):
    plain = harmonia("monitor", logits.model, "--baseline", logits.base, "--source", logits.live, *ID, "--once", "--window", 500, cwd=tmp_path)
    assert plain.returncode == 0, plain.stderr
    done = logits.watch(tmp_path)
    assert done.returncode == 2 and done.stderr == "harmonia: monitor.db: is of another baseline, map, window or seed; expected the same, or another file\n"
    assert logits.watch(tmp_path, "--state", "other.db").returncode == 0
    again = logits.watch(tmp_path, "--state", "other.db")
    assert again.returncode == 0 and "3000 rows came" in again.stdout  # gone on with, nothing counted twice


def test_baseline_takes_no_other_settings_beside_a_map(logits, harmonia, tmp_path):
    done = harmonia("baseline", logits.model, logits.live, "--map", logits.map, "--radius", 1, "-o", tmp_path / "base.json")
    assert done.returncode == 2 and "--map" in done.stderr and "--radius" in done.stderr
    assert not (tmp_path / "base.json").exists()
