"""harmonia baseline: the file, its table, and what it refuses."""

import json

import jsonschema
import pytest

WINE = "examples/wine/gbdt-2.onnx", "examples/wine/wines.csv", "--label", "class", "--radius", 0.1


@pytest.fixture(scope="module")
def schema(root):
    return json.loads((root / "docs" / "result.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def made(harmonia, schema, root, tmp_path):
    """Makes a baseline: made(MODEL, DATA, ...) is the file as JSON and what was printed."""

    def make(*arguments):
        done = harmonia("baseline", *arguments, "-o", tmp_path / "base.json", cwd=root)
        assert done.returncode == 0, done.stderr
        result = json.loads((tmp_path / "base.json").read_text(encoding="utf-8"))
        jsonschema.validate(result, schema)
        return result, done.stdout

    return make


def test_wine(made, harmonia, root, tmp_path):
    result, table = made(*WINE, "--least-rows", 20)
    saved, rows = result["summary"]["baseline"], result["data"]["rows"]
    assert result["command"] == "baseline" and rows == 178
    assert saved["learning_rows"] == 53 and saved["reference_rows"] == 125 and saved["rows_without_value"] == 0
    assert saved["features"] == ["flavanoids", "od280_od315"]
    assert len(result["rows"]) == 125  # all that there are
    # Every kept row has the gamma that `harmonia gamma` gives it.
    done = harmonia("gamma", *WINE, "--json", tmp_path / "gamma.json", cwd=root)
    assert done.returncode == 0, done.stderr
    measured = {tuple(row["x"]): row["gamma"] for row in json.loads((tmp_path / "gamma.json").read_text())["rows"]}
    assert all(measured[tuple(row["values"])] == row["gamma"] for row in result["rows"])
    mean = sum(row["gamma"] for row in result["rows"]) / 125
    assert result["summary"]["gamma"]["mean"] == pytest.approx(mean, rel=1e-12)
    assert saved["unit"] * sum(saved["counts"]["gamma_sum"]) / 125 == pytest.approx(mean, rel=1e-4)
    # Regions add up, and the table names each of them.
    regions = result["summary"]["regions"]
    assert len(regions) > 1 and sum(region["rows"] for region in regions) == 125
    assert max(region["mean"] for region in regions) > 1.5 * min(region["mean"] for region in regions)
    lines = table.splitlines()
    assert any(line.split()[0] == "125" and line.endswith("all rows") for line in lines[4:])
    assert all(any(line.endswith(region["region"]) for line in lines) for region in regions)
    assert "of 178 rows 53 taught the regions, 125 are the reference" in lines


def test_same_baseline_for_any_threads(made):
    first, _ = made(*WINE, "--threads", 1)
    second, _ = made(*WINE, "--threads", 2, "--batch", 100)
    for key in ("rows", "summary", "evaluations"):
        assert first[key] == second[key]
    third, _ = made(*WINE, "--seed", 2)
    assert third["rows"] != first["rows"]


def test_planted_region(made):
    """The step function of half-space has gamma at its boundary alone: a band of x0 around 0.5."""
    result, _ = made("fn:half-space?n=3&d=0.5", "uniform:4000", "--radius", 0.2, "--output", "column:0", "--keep", 10)
    regions = {region["region"]: region for region in result["summary"]["regions"]}
    assert len(result["rows"]) == 10
    assert len(regions) >= 3 and all("x0" in text for text in regions)
    assert max(region["mean"] for region in regions.values()) > 0.1
    assert min(region["mean"] for region in regions.values()) < 0.01


def test_schema_and_missing_values(made, tmp_path):
    data, features = tmp_path / "rows.csv", tmp_path / "schema.json"
    data.write_text("id,age,income,town\n" + "".join(f"r{i},{'' if i % 4 == 0 else i % 80},{i * 37 % 1000},{i % 3}\n" for i in range(400)))
    features.write_text(json.dumps({"features": {"age": {"bounds": [0, 120], "integer": True}, "income": {"scale": 100}, "town": {"categorical": True}}}))
    score = "cmd:python3 -uc 'import sys\nfor l in sys.stdin:\n x=[float(v) for v in l.split(\",\")]; a=sum(v for v in x if v==v); print(a*a)'"
    result, _ = made(score, data, "--id", "id", "--schema", features, "--radius", 2, "--missing", "--output", "column:0")
    saved = result["summary"]["baseline"]
    measured = {entry["name"]: entry for entry in saved["gamma"]["schema"]}
    assert measured["age"] == {"name": "age", "scale": 1.0, "lower": 0.0, "upper": 120.0, "integer": True, "fixed": False, "mirrored": False}
    assert measured["town"]["fixed"] and measured["income"]["upper"] is None
    assert saved["counts"]["features"][0][-1] == sum(row["values"][0] is None for row in result["rows"]) > 50
    assert all(row["id"].startswith("r") for row in result["rows"])


def test_forecast_and_quiet(harmonia, tmp_path):
    out = tmp_path / "base.json"
    done = harmonia("baseline", "fn:f4?n=10", "uniform:100", "--radius", 1, "--dry-run", "-o", out)
    assert (done.returncode, done.stdout) == (0, "100 rows × 23 evaluations = 2300 in all; nothing was asked of the model\n")
    assert not out.exists()
    done = harmonia("baseline", "fn:f4?n=10", "uniform:100", "--radius", 1, "--quiet", "-o", out)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "") and out.exists()
    help_text = harmonia("baseline", "--help").stdout
    assert "Examples:" in help_text and "--least-rows" in help_text


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["uniform:19", "--radius", 1], "19 rows with a gamma, of 19; a baseline needs at least 20"),
        (["uniform:100"], "--radius is required"),
        (["uniform:100", "--radius", 1, "--output", "all"], "--output all has a gamma for every column; a baseline needs one for every row, such as predicted or norm"),
        (["uniform:100", "--radius", 1, "--max-evaluations", 100], "--max-evaluations 100 is enough for 14 of 100 rows; a baseline needs all of them"),
    ],
)
def test_refused(harmonia, tmp_path, arguments, said):
    out = tmp_path / "base.json"
    done = harmonia("baseline", "fn:f4?n=2", *arguments, "-o", out)
    assert (done.returncode, done.stderr) == (2, f"harmonia: {said}\n")
    assert not out.exists()


def test_options_out_of_range(harmonia, root, tmp_path):
    for wrong in (["--learning-share", 1], ["--learning-share", "nan"], ["--regions", 0], ["--least-rows", 0], ["--keep", -1]):
        done = harmonia("baseline", "fn:f4?n=2", "uniform:100", "--radius", 1, *wrong, "-o", tmp_path / "base.json")
        assert done.returncode == 2 and done.stderr.count("\n") == 1, wrong
    done = harmonia("baseline", "fn:f4?n=2", "uniform:100", "--radius", 1)
    assert done.returncode == 2 and "--out is required" in done.stderr
    images = root / "tests" / "data" / "images"
    done = harmonia("baseline", "fn:f4?n=4", images, "--radius", 1, "-o", tmp_path / "base.json")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    done = harmonia("baseline", "fn:f4?n=2", "uniform:100", "--radius", 1, "-o", tmp_path / "none" / "base.json")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
