"""`stability` as a user has it: JSON, CSV, table, page and the errors."""

import csv
import json
import math
import os
import signal
import subprocess
import time

import jsonschema
import pytest

HALF = "fn:half-space?n=2&d=1"
RANDOM = "cmd:python3 -uc 'import sys,random\nfor l in sys.stdin: print(random.randint(0,2))'"
LABELS = "cmd:python3 -uc 'import sys\nfor l in sys.stdin: print(int(float(l.split(\",\")[0])<1))'"


@pytest.fixture
def run(harmonia, root, tmp_path):
    schema = json.loads((root / "docs" / "result.schema.json").read_text())

    def run(*arguments):
        path = tmp_path / "result.json"
        done = harmonia("stability", *arguments, "--json", path, "--csv", tmp_path / "result.csv")
        assert done.returncode == 0, done.stderr
        result = json.loads(path.read_text())
        jsonschema.validate(result, schema)
        with open(tmp_path / "result.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == len(result["rows"]) == result["data"]["rows"] * len(result["options"]["sigmas"])
        for a, b in zip(rows, result["rows"]):
            for field in ("probability", "low", "high", "exact_low", "exact_high", "certified_radius"):
                assert (a[field] == "") == (b[field] is None)
                assert b[field] is None or float(a[field]) == b[field]
            assert sum(b["frequencies"].values()) == b["samples"] == int(a["samples"])
            assert a["outcome"] == b["outcome"]
        return result, rows, done

    return run


@pytest.fixture
def origin(tmp_path):
    path = tmp_path / "origin.csv"
    path.write_text("name,kind,x,y\nfirst,good,0,0\n")
    return path


def test_one_row(run, origin):
    result, _, done = run(HALF, origin, "--id", "name", "--label", "kind", "--sigma", "0.5,1,2", "--samples", 20000)
    for row in result["rows"]:
        truth = (1 + math.erf(1 / row["sigma"] / math.sqrt(2))) / 2
        assert row["probability"] == pytest.approx(truth, abs=0.015)  # over 4 standard errors
        assert (row["id"], row["label"], row["class"], row["outcome"]) == ("first", "good", 1, "sampled")
    assert result["summary"]["takeovers"] == [{"row": 0, "id": "first", "label": "good", "class": 1, "background": 1, "sigma": None}]
    assert result["evaluations"] == 1 + 3 * 20000 + 8
    assert result["summary"]["asked_twice"] == {"asked": 4, "differed": 0}
    assert "class 1 stays the most frequent up to sigma 2" in done.stdout
    assert done.stdout.count("###") >= 3 and done.stderr == ""


def test_many_rows_and_half_width(run):
    result, _, done = run("fn:ball-class?n=2&r=1", "uniform:12", "--sigma", "log:0.05..4x6", "--half-width", "0.05")
    assert result["options"]["samples"] == 381
    assert max((row["high"] - row["low"]) / 2 for row in result["rows"]) <= 0.05
    curve = result["summary"]["curve"]
    assert [c["rows"] for c in curve] == [12] * 6
    for s, point in enumerate(curve):
        assert point["mean"] == pytest.approx(sum(row["probability"] for row in result["rows"][s::6]) / 12)
        assert point["low"] <= point["mean"] <= point["high"]
    assert "another class takes over in" in done.stdout and "rows holding" in done.stdout


def test_question(run, harmonia, tmp_path):
    data = tmp_path / "rows.csv"
    data.write_text("x,y\n0,0\n0.9,0\n0.4756,5\n")  # probabilities 0.841, 0.540 and 0.700 at sigma 1
    result, _, done = run(HALF, data, "--sigma", "1", "--gamma", "0.7")
    assert [row["outcome"] for row in result["rows"]] == ["stable", "unstable", "borderline"]
    assert result["summary"]["outcomes"] == {"stable": 1, "unstable": 1, "borderline": 1}
    borderline = result["rows"][2]
    assert borderline["exact_low"] <= 0.7 <= borderline["exact_high"]
    assert borderline["exact_high"] - borderline["exact_low"] <= 0.02
    most = result["summary"]["looks"]["most"]
    assert borderline["samples"] <= most and f"{most:,} samples a row" in done.stdout
    assert "1 of 3 rows is (0.7, 1)-stable, 1 not, 1 borderline" in done.stdout
    dry = harmonia("stability", HALF, data, "--sigma", "1", "--gamma", "0.7", "--dry-run").stdout
    assert f"to {most:,} samples a row" in dry and f"at most {3 * (most + 1) + 24} evaluations" in dry


def test_dry_run_forecasts_what_a_run_takes(run, harmonia):
    asked = [LABELS, "uniform:3", "--sigma", "0.1,0.2", "--samples", "20", "--image", "1x2"]
    result, _, _ = run(*asked)
    dry = harmonia("stability", *asked, "--dry-run").stdout
    assert f"= {result['evaluations']} evaluations" in dry and "nothing was asked" in dry
    assert "enough for about 1 row" in harmonia("stability", *asked, "--dry-run", "--max-evaluations", "60").stdout


def test_budget(run):
    result, _, done = run(HALF, "uniform:5", "--sigma", "0.5,1", "--samples", "100", "--max-evaluations", "650")
    assert result["evaluations"] <= 650
    assert [row["outcome"] for row in result["rows"]] == ["sampled"] * 6 + ["budget"] * 4
    assert result["rows"][-1]["probability"] is None and result["rows"][-1]["class"] is None
    assert "2 rows not measured for want of evaluations" in done.stdout


def test_directions_noise_and_scale(run, tmp_path):
    along = tmp_path / "along.csv"
    along.write_text("0,1\n")  # never towards the boundary
    result, _, _ = run(HALF, "uniform:3", "--sigma", "9", "--directions", along)
    assert [row["probability"] for row in result["rows"]] == [1, 1, 1]
    assert result["options"]["directions"] == 1
    assert all(row["certified_radius"] is None for row in result["rows"])
    result, _, _ = run(HALF, "uniform:3", "--sigma", "9", "--noise", "ball", "--scale", "std")
    assert result["options"]["noise"] == "ball" and result["options"]["schema"]
    assert all(row["certified_radius"] is None for row in result["rows"])


def test_threads_and_batch_change_nothing(run):
    rows = [run(HALF, "uniform:7", "--sigma", "0.3,1,3", "--samples", "333", *how)[0]["rows"]
            for how in (["--threads", "1"], ["--threads", "3", "--batch", "17"], ["--batch", "1"])]
    assert rows[0] == rows[1] == rows[2]


def test_a_model_that_answers_at_random_is_said(run):
    result, _, done = run(RANDOM, "uniform:4", "--sigma", "1", "--samples", "30", "--threads", "1")
    twice = result["summary"]["asked_twice"]
    assert twice["asked"] == 16 and 0 < twice["differed"] <= 16
    assert f"warning: the model answered {twice['differed']} of 16 points asked twice with another class" in done.stderr
    assert result["summary"]["warnings"]


def test_pictures(run, tmp_path):
    result, _, _ = run("fn:half-space?n=6&d=1", "uniform:2", "--sigma", "0.1..1x20", "--samples", "50", "--image", "2x3")
    pictures = result["pictures"]
    assert (pictures["height"], pictures["width"], len(pictures["rows"])) == (2, 3, 2)
    samples = pictures["rows"][0]["samples"]
    assert [s["sigma"] for s in samples][:2] == [0, 0.1] and samples[-1]["sigma"] == 1 and len(samples) == 9
    assert all(len(s["pixels"]) == 6 for s in samples)
    result, _, done = run("fn:half-space?n=6&d=1", "uniform:11", "--sigma", "1", "--samples", "5", "--image", "2x3")
    assert "pictures" not in result and "pictures are kept of at most 10 rows; the data has 11" in done.stderr


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--sigma", "0"], "sigmas '0': 0 is no sigma; expected LOW..HIGHxCOUNT, log:LOW..HIGHxCOUNT or numbers above 0"),
        (["--sigma", "-1"], "sigmas '-1': -1 is no sigma"),
        (["--sigma", "1", "--gamma", "1"], "--gamma: '1'; expected a number between 0 and 1"),
        (["--sigma", "1", "--gamma", "nan"], "--gamma: 'nan'; expected a number between 0 and 1"),
        (["--sigma", "1,2", "--gamma", "0.7"], "--gamma asks about one sigma; --sigma '1,2' are 2"),
        (["--sigma", "1", "--gamma", "0.7", "--samples", "9"], "--samples excludes --gamma"),
        (["--sigma", "1", "--within", "0.1"], "--within requires --gamma"),
        (["--sigma", "1", "--half-width", "0.5"], "expected a number above 0 and below 0.5"),
        (["--sigma", "1", "--confidence", "1"], "expected a number between 0 and 1"),
        (["--sigma", "1", "--confidence", "0.9999999999999999"], "expected a number between 0 and 1 - 1e-12"),
        (["--sigma", "1", "--half-width", "1e-200"], "half-width 1e-200 needs more than 4294967296 samples a row"),
        (["--sigma", "1", "--half-width", "1e-200", "--dry-run"], "half-width 1e-200 needs more than"),
        (["--sigma", "1", "--directions", "{still}"], "direction 0 has length 0"),
        (["--sigma", "1e308"], "a point to ask is infinite in column"),
        (["--sigma", "1", "--noise", "red"], "--noise"),
        (["--sigma", "1", "--image", "2x2"], "--image '2x2'; expected HEIGHTxWIDTH of rows of 2 features"),
        (["--sigma", "1", "--image", "x"], "--image 'x'; expected HEIGHTxWIDTH of rows of 2 features"),
        (["--sigma", "1", "--directions", "{wide}"], "has 3 columns; the data has 2"),
        ([], "--sigma is required"),
    ],
)
def test_mistakes_are_one_line(harmonia, tmp_path, arguments, message):
    wide = tmp_path / "wide.csv"
    wide.write_text("1,0,0\n")
    still = tmp_path / "still.csv"
    still.write_text("0,0\n")
    done = harmonia("stability", HALF, "uniform:2", *[a.format(wide=wide, still=still) for a in arguments])
    assert done.returncode == 2 and done.stdout == ""
    assert message in done.stderr and done.stderr.count("\n") == 1


def test_rows_of_different_width(harmonia, tmp_path):
    data = tmp_path / "rows.csv"
    data.write_text("x,y\n1,2\n3\n")
    done = harmonia("stability", HALF, data, "--sigma", "1", "--json", tmp_path / "out.json")
    assert done.returncode == 2 and "line 3" in done.stderr and not (tmp_path / "out.json").exists()


def test_a_model_without_classes(harmonia):
    done = harmonia("stability", "fn:f4", "uniform:2", "--sigma", "1")
    assert done.returncode == 3 and "a single column must hold whole numbers" in done.stderr


def test_help_has_examples(harmonia):
    text = harmonia("stability", "--help").stdout
    assert "Examples:" in text and "--sigma" in text and "--within" in text


def test_interrupt_leaves_no_file(program, tmp_path):
    started = subprocess.Popen(
        [program, "stability", "fn:half-space?n=500", "uniform:100000", "--sigma", "0.01..2x100", "--json", tmp_path / "out.json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    time.sleep(1)
    os.kill(started.pid, signal.SIGINT)
    _, said = started.communicate(timeout=30)
    assert started.returncode == 130 and "nothing was written" in said
    assert list(tmp_path.iterdir()) == []
