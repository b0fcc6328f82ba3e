"""`persistence` as a user has it: rows, a path, a detector, JSON, CSV, table, page and the errors."""

import csv
import json
import os
import re
import signal
import subprocess
import time
from statistics import NormalDist

import jsonschema
import pytest

HALF = "fn:half-space?n=1&d=1"
RANDOM = "cmd:python3 -uc 'import sys,random\nfor l in sys.stdin: print(random.randint(0,2))'"
CONSTANT = "cmd:python3 -uc 'import sys\nfor l in sys.stdin: print(1)'"
SCORES = "cmd:python3 -uc 'import sys\nfor l in sys.stdin: x=float(l); print(2-2*x, 0, sep=\",\")'"  # class 0 where x < 1
AWAY = 1 / NormalDist().inv_cdf(0.7)  # sigma* of a half-space at distance 1


@pytest.fixture
def run(harmonia, root, tmp_path):
    schema = json.loads((root / "docs" / "result.schema.json").read_text())

    def run(*arguments):
        path = tmp_path / "result.json"
        done = harmonia("persistence", *arguments, "--json", path, "--csv", tmp_path / "result.csv")
        assert done.returncode == 0, done.stderr
        result = json.loads(path.read_text())
        jsonschema.validate(result, schema)
        with open(tmp_path / "result.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        count = (result["data"]["rows"] + result.get("against", {"rows": 0})["rows"]) * len(result["options"]["gammas"])
        assert len(rows) == len(result["rows"]) == count
        for a, b in zip(rows, result["rows"]):
            for field in ("class", "gamma", "sigma", "low", "high", "certified_radius", "certified_sigma"):
                assert (a[field] == "") == (b[field] is None)
                assert b[field] is None or float(a[field]) == b[field]
            assert (int(a["samples"]), a["outcome"]) == (b["samples"], b["outcome"])
        return result, rows, done

    return run


@pytest.fixture
def rows(tmp_path):
    def rows(*values):
        path = tmp_path / f"rows{len(list(tmp_path.iterdir()))}.csv"
        path.write_text("x\n" + "".join(f"{v}\n" for v in values))
        return path

    return rows


def test_centre_of_a_ball(run, tmp_path):
    data = tmp_path / "zeros.csv"
    data.write_text(",".join(["0"] * 50) + "\n")
    result, _, done = run("fn:ball-class?n=50&r=5", data, "--gamma", "0.7,0.9", "--precision", "0.02")
    first, second = result["rows"]
    assert first["sigma"] == pytest.approx(0.675905, rel=0.03)  # over 4 standard errors
    assert first["low"] < first["sigma"] < first["high"] and second["sigma"] < first["sigma"]
    assert (first["class"], first["outcome"], first["gamma"], second["gamma"]) == (1, "crossing", 0.7, 0.9)
    assert result["options"]["sigma"] == [2.0**-20, 2.0**20] and result["options"]["sigma_unit"] == 1
    assert result["evaluations"] == 1 + 8 + first["samples"] + second["samples"]
    scan = result["summary"]["scan"]
    assert [d["gamma"] for d in scan["visible_dip"]] == [0.7, 0.9] and "can be missed" in scan["text"]
    assert "class 1 is kept with probability 0.7 up to sigma 0.67" in done.stdout and done.stderr == ""
    again, _, _ = run("fn:ball-class?n=50&r=5", data, "--gamma", "0.7,0.9", "--precision", "0.02", "--threads", "3", "--batch", "7")
    assert again["rows"] == result["rows"]


def test_boundary_constant_and_shells(run, rows):
    result, _, done = run(HALF, rows(1.0), "--gamma", "0.7", "--sigma", "0.001..100")
    assert [(r["outcome"], r["sigma"], r["low"], r["high"]) for r in result["rows"]] == [("censored_low", None, None, 0.001)]
    assert result["options"]["sigma_unit"] is None and "for certain at no sigma" in done.stdout
    result, _, done = run(CONSTANT, rows(0.0, 5.0), "--gamma", "0.7", "--sigma", "0.001..100", "--threads", "1")
    assert [(r["outcome"], r["low"], r["high"]) for r in result["rows"]] == 2 * [("censored_high", 100, None)]
    assert result["summary"]["medians"][0]["outcome"] == "censored_high" and result["summary"]["medians"][0]["median"] is None
    # Of curves that cross three times, the first crossing: .2267, .3993, 3.5121.
    result, _, _ = run("fn:shells", rows(0.0), "--gamma", "0.7")
    assert result["rows"][0]["sigma"] == pytest.approx(0.2267, rel=0.15)


def test_the_papers_bracketing(run, rows):
    result, _, done = run(HALF, rows(0.0), "--gamma", "0.7", "--method", "paper", "--samples", "4000")
    row = result["rows"][0]
    assert row["sigma"] == pytest.approx(AWAY, rel=0.25) and row["low"] is None and row["samples"] % 4000 == 0
    assert result["options"]["method"] == "paper" and result["summary"]["scan"] is None and "the paper's bracketing" in done.stdout


def test_range_follows_the_data(run, rows):
    data = rows(-300, -100, 100, 300)
    result, _, done = run("fn:half-space?n=1&d=500", data, "--gamma", "0.7")
    unit = result["options"]["sigma_unit"]
    assert unit == pytest.approx(258.1989) and result["options"]["sigma"] == [unit * 2**-20, unit * 2**20]
    assert "(2^-20 … 2^20 times the data's scale, 258.2)" in done.stdout
    for row, x in zip(result["rows"], (-300, -100, 100, 300)):
        assert row["sigma"] == pytest.approx((500 - x) * AWAY, rel=0.12)  # over 4 standard errors
    scaled, _, _ = run("fn:half-space?n=1&d=500", data, "--gamma", "0.7", "--scale", "std")
    assert scaled["options"]["sigma_unit"] == 1
    assert scaled["rows"][0]["sigma"] == pytest.approx(800 / unit * AWAY, rel=0.12)


def test_many_rows_have_a_distribution_and_a_median(run):
    result, _, done = run("fn:half-space?n=2&d=1", "uniform:60", "--gamma", "0.7")
    median = result["summary"]["medians"][0]
    sigmas = sorted(r["sigma"] for r in result["rows"])
    assert median["median"] == pytest.approx((sigmas[29] + sigmas[30]) / 2)
    assert (median["low"], median["high"], median["rows"]) == (sigmas[21], sigmas[38], 60)  # order statistics 22 and 39 of 60
    least = result["summary"]["least"]
    assert [r["sigma"] for r in least] == sigmas[:10]
    assert "least persistent" in done.stdout and "####" in done.stdout and "the median sigma* for gamma 0.7 is" in done.stdout


def test_between_two_rows(run, rows):
    ends = rows(0, 2.5)
    result, table, done = run(HALF, "--between", f"{ends}#0", f"{ends}#1", "--steps", "10", "--gamma", "0.7")
    assert [r["t"] for r in result["rows"]] == [k / 10 for k in range(11)] and table[3]["t"] == "0.3"
    for row in result["rows"]:
        x = 2.5 * row["t"]
        assert row["class"] == (x < 1)
        if x != 1:
            assert row["sigma"] == pytest.approx(abs(1 - x) * AWAY, rel=0.12)  # over 4 standard errors
    assert result["summary"]["path"]["changes"] == [{"after": 0.3, "before": 0.4, "from": 1, "to": 0}]
    assert "class 1 becomes 0 between t = 0.3 and 0.4" in done.stdout
    assert result["options"]["steps"] == 10 and result["data"]["rows"] == 11


def test_against_other_rows(run, rows):
    # Of 3 × 4 pairs of distances to the boundary, 9 are in order; the classes' scores and gamma know the distance too.
    natural, others = rows(0, 0.5, 0.75), rows(0.3, 0.65, 0.88, 0.94)
    result, _, done = run(SCORES, natural, "--against", others, "--gamma", "0.6,0.7", "--radius", "0.4", "--threads", "1")
    detector = result["summary"]["detector"]
    for score in detector["persistence"]:
        assert score["auroc"] == 0.75 and score["low"] < 0.75 < score["high"] and (score["natural"], score["against"]) == (3, 4)
    assert [s["gamma"] for s in detector["persistence"]] == [0.6, 0.7]
    assert detector["confidence"]["auroc"] == 0.75 and detector["confidence_form"] == "softmax"
    assert detector["gamma"] is not None
    assert [r["group"] for r in result["rows"]] == 6 * ["natural"] + 8 * ["against"]
    assert [m.get("group") for m in result["summary"]["medians"]] == ["natural", "against"] * 2
    assert "persistence for gamma 0.7 0.75" in done.stdout and "largest output after softmax 0.75" in done.stdout
    result, _, _ = run(HALF, natural, "--against", others, "--gamma", "0.7")
    assert "gamma" not in result["summary"]["detector"]


def test_dry_run_and_budget(run, harmonia):
    dry = harmonia("persistence", HALF, "uniform:8", "--gamma", "0.7", "--dry-run").stdout
    low, high = map(int, re.search(r"likely from (\d+) to (\d+) evaluations", dry).groups())
    result, _, _ = run(HALF, "uniform:8", "--gamma", "0.7")
    assert low < result["evaluations"] < 1.3 * high and "nothing was asked" in dry
    result, _, done = run(HALF, "uniform:8", "--gamma", "0.7", "--max-evaluations", "30000")
    outcomes = result["summary"]["outcomes"]
    assert result["evaluations"] <= 30000 and outcomes["crossing"] >= 1 and outcomes["budget"] >= 1
    assert all(r["sigma"] is None for r in result["rows"] if r["outcome"] == "budget")
    assert "is enough for about" in harmonia(
        "persistence", HALF, "uniform:8", "--gamma", "0.7", "--dry-run", "--max-evaluations", "3000").stdout


def test_a_model_that_answers_at_random_is_said(run):
    result, _, done = run(RANDOM, "uniform:3", "--gamma", "0.7", "--threads", "1", "--sigma", "0.1..10")
    twice = result["summary"]["asked_twice"]
    assert twice["asked"] == 12 and 0 < twice["differed"] <= 12
    assert f"warning: the model answered {twice['differed']} of 12 points asked twice with another class" in done.stderr


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["uniform:3", "--gamma", "1"], "--gamma '1': '1'; expected numbers between 0 and 1"),
        (["uniform:3", "--gamma", "0.7,nan"], "'nan'; expected numbers between 0 and 1"),
        (["uniform:3", "--gamma", "0.7", "--sigma", "0..1"], "--sigma '0..1'; expected LOW..HIGH above 0"),
        (["uniform:3", "--gamma", "0.7", "--sigma", "-1..1"], "expected LOW..HIGH above 0"),
        (["uniform:3", "--gamma", "0.7", "--sigma", "1"], "expected LOW..HIGH above 0"),
        (["uniform:3", "--gamma", "0.7", "--precision", "0"], "expected a number above 0 and below 1"),
        (["uniform:3", "--gamma", "0.7", "--samples", "3"], "3 samples at one sigma cannot decide"),
        (["uniform:3", "--gamma", "0.7", "--method", "paper", "--sigma", "1..2"], "--sigma is of --method scan"),
        (["uniform:3", "--gamma", "0.7", "--radius", "1"], "--radius requires --against"),
        (["grid:0..1x3,0..1x3", "--gamma", "0.7"], "2 columns"),
        (["uniform:3", "--gamma", "0.7", "--against", "grid:0..1x3,0..1x3"], "2 columns"),
        (["--gamma", "0.7"], "no DATA; expected rows, or --between A B"),
        (["--gamma", "0.7", "--between", "uniform:3", "uniform:3#0"], "more rows than one"),
        (["uniform:3", "--gamma", "0.7", "--between", "uniform:3#1", "uniform:3#0"], "DATA excludes --between"),
        (["uniform:3"], "--gamma is required"),
    ],
)
def test_mistakes(harmonia, tmp_path, arguments, message):
    done = harmonia("persistence", HALF, *arguments, "--json", tmp_path / "out.json")
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not list(tmp_path.iterdir())


def test_ctrl_c_is_one_line(program, tmp_path):
    process = subprocess.Popen([program, "persistence", "fn:half-space?n=3000&d=1", "uniform:100000", "--gamma", "0.7",
                                "--json", tmp_path / "out.json"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    time.sleep(1.5)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130 and "stopped after" in errors and not list(tmp_path.iterdir())
