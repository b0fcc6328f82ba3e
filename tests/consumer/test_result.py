"""Every result is described by docs/result.schema.json and says what was done."""

import csv
import json

import jsonschema
import pytest

SCORE = "cmd:python3 -uc 'import sys\nfor l in sys.stdin:\n x=[float(v) for v in l.split(\",\")]; a=sum(v for v in x if v==v); print(f\"{a},{1-a*a},0\")'"


@pytest.fixture(scope="session")
def schema(root):
    schema = json.loads((root / "docs" / "result.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return schema


@pytest.fixture
def result_of(harmonia, schema, tmp_path):
    def run(*arguments) -> dict:
        path = tmp_path / "result.json"
        done = harmonia("gamma", *arguments, "--json", path, "--csv", tmp_path / "result.csv")
        assert done.returncode == 0, done.stderr
        result = json.loads(path.read_text())
        jsonschema.validate(result, schema)
        with open(tmp_path / "result.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == len(result["rows"])
        for a, b in zip(rows, result["rows"]):
            assert (a["gamma"] == "") == (b["gamma"] is None)
            assert b["gamma"] is None or float(a["gamma"]) == b["gamma"]
            assert a["outcome"] == b["outcome"]
        assert result["data"]["rows"] == len({row["row"] for row in result["rows"]})
        return result

    return run


@pytest.mark.parametrize("output", ["label", "predicted", "column:1", "norm", "angle", "all"])
@pytest.mark.parametrize("how", [[], ["--ball", "cross", "--explain", "2"], ["--ball", "random-pairs:12"], ["--ball", "random:3"]])
def test_outputs(result_of, output, how):
    result = result_of(SCORE, "uniform:7", "--radius", "0.5", "--output", output, *how)
    assert result["options"]["output"] == output
    assert result["model"]["kind"] == "command"


def test_schema_bounds_and_missing_values(result_of, tmp_path):
    data, schema = tmp_path / "rows.csv", tmp_path / "schema.json"
    data.write_text("id,age,income,zip,town\na,30,1000,5,1\nb,,2000,6,2\nc,0,500,7,3\n")
    features = {"age": {"bounds": [0, 120], "integer": True}, "income": {"scale": 100}, "zip": {"categorical": True}, "town": {"immutable": True}}
    schema.write_text(json.dumps({"features": features}))
    result = result_of(SCORE, data, "--id", "id", "--schema", schema, "--radius", "2", "--missing", "--ball", "cross")
    assert [row["moved"] for row in result["rows"]] == [2, 1, 2]
    assert [row.get("shortened") for row in result["rows"]] == [None, None, 1]
    assert [row["points"] for row in result["rows"]] == [4, 2, 4]
    assert result["summary"]["bounds"]["rows_shortened"] == 1
    assert result["summary"]["rows_partly_moved"] == 3
    assert result["options"]["schema"]["zip"] == {"scale": 1.0, "fixed": True}


def test_scale_and_automatic_radius(result_of, tmp_path):
    data = tmp_path / "rows.csv"
    data.write_text("a,b\n" + "".join(f"{i},{1000 * i}\n" for i in range(100)))
    scaled = result_of("fn:f2", data, "--radius", "auto", "--scale", "std")
    # Neighbours are one step away in both features: √2 / 29.01 of a standard deviation, a tenth of it.
    assert scaled["options"]["radius"] == pytest.approx(0.1 * 2**0.5 / 29.011491975882016)
    assert scaled["options"]["radius_auto"]
    plain = result_of("fn:f2", data, "--radius", "1")
    assert plain["summary"]["warnings"] == [
        "feature b spreads 1e+03 times as far as a; --scale std measures the radius in each feature's own spread"
    ]
    one = result_of("fn:f2", f"{data}#7", "--radius", "auto", "--scale", "std")
    assert one["options"]["radius"] == scaled["options"]["radius"]
    assert one["rows"] == [scaled["rows"][7]]


def test_budget_and_forecast(harmonia, result_of):
    result = result_of("fn:f4?n=10", "uniform:100", "--radius", "1", "--max-evaluations", "1000")
    assert result["evaluations"] == 43 * 23 <= 1000
    assert result["summary"]["outcomes"] == {"exact": 43, "budget": 57}
    done = harmonia("gamma", "fn:f4?n=10", "uniform:100", "--radius", "1", "--dry-run", "--max-evaluations", "1000")
    assert done.stdout == (
        "100 rows × 23 evaluations = 2300 in all; nothing was asked of the model\n--max-evaluations 1000 is enough for about 43 rows\n"
    )
    done = harmonia("gamma", "cmd:no-such-program", "uniform:100", "--radius", "1", "--dry-run")
    assert (done.returncode, done.stdout) == (0, "100 rows × 7 evaluations + 1 to open the model = 701 in all; nothing was asked of the model\n")


def test_the_papers_procedure_is_named(result_of):
    result = result_of("fn:f2?n=2000", "uniform:2", "--radius", "1", "--paper")
    assert (result["options"]["ball"], result["options"]["sample"], result["options"]["paper"]) == ("one-hot", 4, True)
    assert result["summary"]["warnings"] == [
        "an unpaired sample of the ball measures the gradient more than gamma; take a paired ball, such as cross"
    ]


def test_help_and_version(harmonia):
    assert harmonia("--version").stdout.strip() == "0.1.0"
    assert "gamma" in harmonia("--help").stdout
    text = harmonia("gamma", "--help").stdout
    assert "Examples:" in text and "--radius" in text
    done = harmonia()  # what there is, with an example
    assert done.returncode == 2 and not done.stdout
    assert "persistence" in done.stderr and "harmonia gamma 'fn:" in done.stderr
