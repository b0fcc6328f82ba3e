"""`compare` and `sweep` as a user has them: JSON, CSV, table and the errors."""

import csv
import json

import jsonschema
import pytest


@pytest.fixture
def run(harmonia, root, tmp_path):
    schema = json.loads((root / "docs" / "result.schema.json").read_text())

    def run(*arguments):
        path = tmp_path / "result.json"
        done = harmonia(*arguments, "--json", path, "--csv", tmp_path / "result.csv")
        assert done.returncode == 0, done.stderr
        result = json.loads(path.read_text())
        jsonschema.validate(result, schema)
        with open(tmp_path / "result.csv", newline="") as file:
            return result, list(csv.DictReader(file)), done.stdout

    return run


def test_compare(run, harmonia, tmp_path):
    result, rows, table = run("compare", "fn:f4", "fn:f1", "fn:f2", "uniform:60", "--radius", "0.1")
    assert result["command"] == "compare" and "model" not in result
    assert [m["name"] for m in result["models"]] == ["fn:f4?n=2", "fn:f1?n=2", "fn:f2?n=2"]
    assert [m["rank"] for m in result["models"]] == [3, 1, 2]
    assert result["summary"]["ranking"] == [["fn:f1?n=2"], ["fn:f2?n=2"], ["fn:f4?n=2"]]
    assert [(p["a"], p["b"], p["verdict"]) for p in result["rows"]] == [
        ("fn:f4?n=2", "fn:f1?n=2", "b_lower"),
        ("fn:f4?n=2", "fn:f2?n=2", "b_lower"),
        ("fn:f1?n=2", "fn:f2?n=2", "a_lower"),
    ]
    assert result["summary"]["text"] in table
    assert len(rows) == 60 == len(result["points"]["x"])
    # Each model alone, with the same seed, says the same of every row.
    for m, model in enumerate(("fn:f4", "fn:f1", "fn:f2")):
        alone, _, _ = run("gamma", model, "uniform:60", "--radius", "0.1")
        assert alone["summary"]["gamma"] == result["models"][m]["gamma"]
        assert alone["summary"]["outcomes"] == result["models"][m]["outcomes"] == {"exact": 60}
        gammas = [row["gamma"] for row in alone["rows"]]
        assert gammas == result["points"]["models"][m]["gamma"]
        assert gammas == [float(row[f"gamma {model}?n=2"]) for row in rows]
    assert result["evaluations"] == 3 * 60 * 7


def test_compare_carries_ids_and_counts_the_rows_that_open_models(run, root, tmp_path):
    rows = root / "examples" / "rows.csv"
    score = f"cmd:python3 {root}/examples/score.py"
    result, lines, _ = run("compare", score, "fn:f2", rows, "--id", "customer", "--scale", "std", "--radius", "0.5")
    assert lines[0]["id"] == "c01" and "points" not in result
    assert result["evaluations"] == 2 * 20 * 9 + 1


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["fn:f1", "uniform:5"], "1 model to compare on uniform:5; expected at least two models and the data"),
        (["fn:f1", "fn:f1", "uniform:5"], "a model is named twice; expected different models"),
        (["fn:f1?n=2", "fn:f2?n=3", "uniform:5"], "model fn:f1?n=2 expects 2 columns, model fn:f2?n=3 expects 3; models are compared on the same rows"),
        (["fn:f1", "fn:f2", "uniform:5", "--output", "all"], "output all has a gamma a column; compare needs one a row: label, predicted, column:K, norm or angle"),
    ],
)
def test_compare_errors(harmonia, arguments, message):
    done = harmonia("compare", *arguments, "--radius", "1")
    assert (done.returncode, done.stderr) == (2, f"harmonia: {message}\n")


def test_sweep(run, harmonia):
    result, rows, table = run("sweep", "fn:f4", "uniform:60", "--radii", "0.1..0.5x3,1")
    assert result["options"]["radii"] == [0.1, 0.3, 0.5, 1] == [row["radius"] for row in result["rows"]]
    assert result["summary"]["text"] in table
    growth = result["summary"]["growth"]
    assert 2 < growth["low"] <= growth["value"] <= growth["high"] < 2.1
    alone, _, _ = run("gamma", "fn:f4", "uniform:60", "--radius", "0.5")
    del result["rows"][2]["radius"]
    assert result["rows"][2].pop("outcomes") == alone["summary"]["outcomes"] == {"exact": 60}
    assert result["rows"][2] == alone["summary"]["gamma"]
    assert [float(row["mean"]) for row in rows] == [row["mean"] for row in result["rows"]]
    sampled, _, _ = run("sweep", "fn:f4?n=10", "uniform:60", "--radii", "0.1,0.2", "--ball", "cross", "--sample", "5")
    assert sampled["summary"]["growth"]["low"] is None
    done = harmonia("sweep", "fn:f4", "uniform:60", "--radii", "0.1..0.5")
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_which_way_was_taken_is_said(run, root):
    booster, rows = root / "examples" / "booster.json", root / "examples" / "rows.csv"
    about = (rows, "--id", "customer", "--ball", "cross")
    line = "by the fast path for trees, which stands for them; --no-fast-path makes them"
    compared, _, table = run("compare", booster, "fn:f2", *about, "--radius", "0.5")
    assert [model.get("balls") for model in compared["models"]] == ["trees", None] and table.count(line) == 1
    swept, _, table = run("sweep", booster, *about, "--radii", "0.1,0.5")
    assert [row["fast_path"] for row in swept["rows"]] == ["trees", "trees"] and table.count(line) == 1
    plain, _, table = run("sweep", booster, *about, "--radii", "0.1,0.5", "--no-fast-path")
    assert line not in table
    for row in swept["rows"]:
        del row["fast_path"]
    assert plain["rows"] == swept["rows"]


def test_what_the_budget_left_out_is_said(run):
    compared, _, table = run("compare", "fn:f2", "fn:f4", "uniform:60", "--radius", "0.1", "--max-evaluations", "420")
    assert [model["outcomes"] for model in compared["models"]] == [{"exact": 30, "budget": 30}] * 2
    assert table.count("30 exact, 30 budget") == 2
    swept, _, table = run("sweep", "fn:f4", "uniform:60", "--radii", "0.1,0.2", "--max-evaluations", "420")
    assert [row["outcomes"] for row in swept["rows"]] == [{"exact": 30, "budget": 30}] * 2
    assert table.count("30 exact, 30 budget") == 2


def test_forecasts(harmonia):
    done = harmonia("compare", "fn:f1", "cmd:none", "uniform:10", "--radius", "1", "--dry-run")
    assert done.stdout == "10 rows × 7 evaluations × 2 models + 1 to open the models = 141 in all; nothing was asked of the models\n"
    done = harmonia("sweep", "fn:f1", "uniform:10", "--radii", "1,2", "--dry-run")
    assert done.stdout == "10 rows × 7 evaluations × 2 radii = 140 in all; nothing was asked of the model\n"
