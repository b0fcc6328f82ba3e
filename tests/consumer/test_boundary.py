"""`boundary` as a user has it: JSON, CSV, NPY, table, forecast and the errors."""

import csv
import json
import math

import jsonschema
import numpy as np
import pytest

PLANE = "cmd:python3 -uc 'import sys\nfor l in sys.stdin:\n x=[float(v) for v in l.split(\",\")]; print(f\"{x[0]+x[1]},0.25\")'"
LABEL = "cmd:python3 -uc 'import sys\nfor l in sys.stdin:\n x=[float(v) for v in l.split(\",\")]; print(int(x[0]+x[1]>0.25))'"


@pytest.fixture
def run(harmonia, root, tmp_path):
    schema = json.loads((root / "docs" / "result.schema.json").read_text())

    def run(*arguments):
        path = tmp_path / "result.json"
        done = harmonia("boundary", *arguments, "--json", path, "--csv", tmp_path / "result.csv")
        assert done.returncode == 0, done.stderr
        result = json.loads(path.read_text())
        jsonschema.validate(result, schema)
        with open(tmp_path / "result.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["outcome"] for row in rows] == [row["outcome"] for row in result["rows"]]
        assert [row["t"] for row in rows] == ["" if row["t"] is None else repr(row["t"]) for row in result["rows"]]
        assert result["summary"]["text"] in done.stdout
        return result

    return run


@pytest.fixture
def sides(tmp_path):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text("id,x,y\np,0,0\nq,0,0\nr,0,0\n")
    b.write_text("id,x,y\np,1,0\nq,1,1\nr,0,0\n")
    return a, b


@pytest.mark.parametrize("model, method", [(PLANE, "margin"), (LABEL, "label")])
def test_rows(run, sides, tmp_path, model, method):
    result = run(model, *sides, "--id", "id", "--normals", tmp_path / "normals.npy")
    p, q, r = result["rows"]
    assert p["a_id"] == p["b_id"] == "p" and p["outcome"] == "crossing" and p["method"] == method
    assert p["t"] == pytest.approx(0.25, abs=1e-15) and p["t_low"] <= p["t"] <= p["t_high"]
    assert p["angle"] == pytest.approx(45, abs=1e-3) and p["angle_low"] <= 45 <= p["angle_high"]
    assert p["radians"] == pytest.approx(math.pi / 4, abs=1e-4)
    assert p["point"] == pytest.approx([0.25, 0])
    assert q["t"] == pytest.approx(0.125, abs=1e-15) and q["angle"] == pytest.approx(90, abs=1e-3)
    assert r["outcome"] == "equal" and r["t"] is None and r["classes"] is None
    normals = np.load(tmp_path / "normals.npy")
    assert normals.shape == (3, 2) and np.isnan(normals[2]).all()
    # Towards the class on B's side.
    assert abs(normals[0]) == pytest.approx([math.sqrt(0.5)] * 2, abs=1e-4) and normals[0, 0] > 0
    assert result["summary"]["pairs_by_crossings"] == [1, 2]
    assert result["data"]["to"].endswith("b.csv")
    assert result["evaluations"] == sum(row["evaluations"] for row in result["rows"]) + 1


def test_one_row_goes_with_every_row(run, sides):
    result = run("fn:half-space?n=2&d=0.5", f"{sides[0]}#0", sides[1], "--id", "id")
    assert [(row["a"], row["b"]) for row in result["rows"]] == [(0, 0), (0, 1), (0, 2)]
    assert [row["outcome"] for row in result["rows"]] == ["crossing", "crossing", "equal"]


def test_points_of_many_features_are_left_out_unless_asked(run):
    short = run("fn:ball-class?n=60&r=3", "uniform:2#0", "uniform:2#1", "--normal", "none")
    assert all("point" not in row for row in short["rows"])
    model = "fn:half-space?n=60&d=0.5"
    for a, b in [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]:
        result = run(model, f"uniform:9#{a}", f"uniform:9#{b}", "--normal", "none", "--points")
        if result["summary"]["crossings"]:
            assert len(result["rows"][0]["point"]) == 60 and result["rows"][0]["angle"] is None
            return
    raise AssertionError("no pair of these rows crosses")


def test_budget_and_forecast(run, harmonia, sides):
    result = run(PLANE, *sides, "--id", "id", "--max-evaluations", "110")
    assert result["evaluations"] <= 110
    assert [row["outcome"] for row in result["rows"]] == ["budget", "budget", "equal"]
    assert result["rows"][0]["t"] is not None and result["rows"][1]["t"] is None
    assert result["summary"]["text"].endswith("; 1 pair not looked at for want of evaluations")
    none = run("fn:half-space?n=2", sides[0], f"{sides[1]}#0", "--id", "id", "--max-evaluations", "1")
    assert none["summary"]["text"] == (
        "0 of 3 pairs cross a decision boundary, 0 crossings in all; 3 pairs not looked at for want of evaluations"
    )
    done = harmonia("boundary", "fn:half-space?n=2", *sides, "--id", "id", "--dry-run")
    assert done.stdout == (
        "3 pairs × 101 evaluations = 303, and for every crossing up to 47 and 14 for its normal by margin, "
        "about 108 by label; nothing was asked of the model\n"
    )


def test_partial_angles_are_counted_apart(run, tmp_path):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text("x,y\n-1,0\n-1,-3\n")
    b.write_text("x,y\n1,0\n1,-1\n")
    corner = "cmd:python3 -uc 'import sys\nfor l in sys.stdin:\n x=[float(v) for v in l.split(\",\")]; print(2 if x[1]>0.001 else int(x[0]>0))'"
    result = run(corner, a, b, "--step", "0.1")
    assert [row["outcome"] for row in result["rows"]] == ["partial", "crossing"]
    angle = result["summary"]["angle"]
    assert angle["count"] == sum(angle["histogram"]) == 1 and angle["mean"] == result["rows"][1]["angle"]
    assert result["summary"]["text"].endswith("; 1 crossing with a partial normal left out of the angles")


def test_missing_values(run, harmonia, tmp_path):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text("x,y,z\n0,0,\n")
    b.write_text("x,y,z\n1,0,\n")
    result = run(PLANE, a, b, "--missing")
    assert result["rows"][0]["angle"] == pytest.approx(45, abs=1e-3)
    assert result["rows"][0]["point"][2] is None
    b.write_text("x,y,z\n1,0,3\n")
    done = harmonia("boundary", PLANE, a, b, "--missing")
    assert done.returncode == 2
    assert done.stderr == (
        f"harmonia: feature z is missing (NaN) in row 0 of {a} and not in row 0 of {b}; "
        "a missing value does not move, so expected it in both or in neither\n"
    )


def test_segments_that_no_double_holds_in_units_of_the_scale(run, harmonia, tmp_path):
    a, b, schema = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "schema.json"
    a.write_text("a,b\n0,0\n")
    b.write_text("a,b\n5e-324,0\n")
    schema.write_text('{"features": {"a": {"scale": 4}, "b": {"scale": 4}}}')
    result = run("fn:half-space?n=2&d=5e-324", a, b, "--schema", schema, "--step", "1")
    assert [row["outcome"] for row in result["rows"]] == ["equal"]
    b.write_text("a,b\n1e300,0\n")
    schema.write_text('{"features": {"a": {"scale": 1e-100}, "b": {"scale": 1e-100}}}')
    done = harmonia("boundary", "fn:half-space?n=2&d=5", a, b, "--schema", schema, "--step", "1")
    assert done.returncode == 2
    assert done.stderr == (
        f"harmonia: feature a is 0 in row 0 of {a} and 1e+300 in row 0 of {b}: too far apart for a segment between "
        "in units of its scale, 1e-100\n"
    )


def test_errors_are_one_line(harmonia, sides, tmp_path):
    a, b = sides
    wide, long, other = tmp_path / "wide.csv", tmp_path / "long.csv", tmp_path / "other.csv"
    other.write_text("id,y,x\np,1,0\nq,1,1\nr,0,0\n")
    wide.write_text("x,y,z\n1,2,3\n")
    long.write_text("id,x,y\n" + "s,1,2\n" * 5)
    schema = tmp_path / "schema.json"
    schema.write_text('{"features": {"x": {"immutable": true}}}')
    plane = "fn:half-space?n=2&d=0.5"
    cases = [
        (["fn:half-space", a, wide, "--drop", "id"], None),
        ([plane, a, long, "--id", "id"], f"{a} has 3 rows and {long} has 5; expected as many, or one row on one side"),
        ([plane, a, other, "--id", "id"], f"column 0 is 'x' in {a} and 'y' in {other}; expected the same columns"),
        ([plane, a, f"{b}#7", "--id", "id"], None),
        (["fn:f2", a, b, "--id", "id"], None),
        (["fn:f2?n=3", a, b, "--id", "id"], "data has 2 columns; model fn:f2?n=3 expects 3"),
        ([LABEL, a, b, "--id", "id", "--normal", "margin"], None),
        ([plane, a, b, "--id", "id", "--normal", "slope"], None),
        ([plane, a, b, "--id", "id", "--step", "nan"], None),
        ([plane, a, b, "--id", "id", "--steps", "0"], None),
        ([plane, a, b, "--id", "id", "--normals", b], f"{b} is named twice; expected a file of its own for each"),
        ([plane, a, b, "--id", "id", "--json", b], f"{b} is named twice; expected a file of its own for each"),
        ([plane, a, b, "--id", "id", "--normal", "none", "--normals", tmp_path / "n.npy"], "--normals needs normals; --normal none finds none"),
        ([plane, a, b, "--id", "id", "--schema", schema], f"feature x may not be moved, and is 0 in row 0 of {a} and 1 in row 0 of {b}; expected the same"),
        ([PLANE, a, b, "--id", "id", "--normal", "margin", "--step", "1e-300"], "step 1e-300: feature 0 at 0.25 does not change by it in float64; expected a larger one"),
        ([LABEL, a, b, "--id", "id", "--step", "1e-300"], "step 1e-300: feature 0 at 0.25 does not change by it in float64; expected a larger one"),
    ]
    for arguments, message in cases:
        done = harmonia("boundary", *arguments)
        assert done.returncode in (2, 3), arguments
        assert done.stderr.startswith("harmonia: ") and done.stderr.count("\n") == 1, done.stderr
        if message:
            assert done.stderr == f"harmonia: {message}\n"
