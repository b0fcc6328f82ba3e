"""`alignment` as a user has it: the golden values from a data file and a TorchScript file, JSON, CSV, page and the errors."""

import csv
import json

import jsonschema
import numpy as np
import pytest

RIGHT, PRINTED = 1.3416408, 1.5902596  # of the gradient (1, 2, 2) with components e1 and (1, 1, 0)/√2


@pytest.fixture
def train(tmp_path):
    """Rows along two lines, one a label, that are not at right angles."""
    path = tmp_path / "train.csv"
    lines = [f"{t},0,0,0" for t in (-2, -1, 1, 2)] + [f"{t},{t},0,1" for t in (-2, -1, 1, 2)]
    path.write_text("a,b,c,digit\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture
def run(harmonia, root, tmp_path):
    schema = json.loads((root / "docs" / "result.schema.json").read_text())

    def run(*arguments):
        path = tmp_path / "result.json"
        done = harmonia("alignment", *arguments, "--json", path, "--csv", tmp_path / "result.csv", "--html", tmp_path / "result.html")
        assert done.returncode == 0, done.stderr
        result = json.loads(path.read_text())
        jsonschema.validate(result, schema)
        with open(tmp_path / "result.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["cosine"] for row in rows] == [repr(row["cosine"]) for row in result["rows"]]
        assert result["summary"]["text"] in done.stdout
        return result

    return run


@pytest.mark.parametrize("gradient", ["loss", "output"])
@pytest.mark.parametrize(("paper", "ratio"), [((), RIGHT), (("--paper",), PRINTED)])
def test_golden_values(run, torch_models, train, gradient, paper, ratio):
    result = run(torch_models / "golden.pt", train, "--label", "digit", "--by-label", "--components", 1, "--gradient", gradient, *paper)
    assert result["options"]["by_label"]
    assert result["summary"]["plane"] == {"dimensions": 2, "explained": pytest.approx(1), "rows": 8}
    assert result["summary"]["by_chance"] == pytest.approx(2 / 3)
    for row in result["rows"]:
        assert row["outcome"] == "measured"
        assert row["ratio"] == pytest.approx(ratio, abs=1e-6)
        assert row["cosine"] == pytest.approx(1 / ratio, abs=1e-6)
    summary = result["summary"]["ratio"]
    assert summary["low"] <= summary["mean"] <= summary["high"]


def test_the_plane_of_other_rows_and_one_row(run, torch_models, train, tmp_path):
    np.save(tmp_path / "rows.npy", np.zeros((5, 3)))
    np.save(tmp_path / "plane.npy", [[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0]])
    other = run(torch_models / "golden.pt", tmp_path / "rows.npy", "--manifold", tmp_path / "plane.npy", "--components", 2)
    assert other["summary"]["plane"]["rows"] == 4
    assert other["summary"]["ratio"]["mean"] == pytest.approx(RIGHT, abs=1e-6)
    one = run(torch_models / "golden.pt", f"{train}#2", "--label", "digit", "--components", 2)
    assert len(one["rows"]) == 1
    assert one["summary"]["plane"]["rows"] == 8
    assert one["rows"][0]["ratio"] == pytest.approx(RIGHT, abs=1e-6)


def test_budget_and_forecast(harmonia, torch_models, train, tmp_path):
    """Two evaluations went to learning the model's shape."""
    path = tmp_path / "result.json"
    done = harmonia("alignment", torch_models / "golden.pt", train, "--label", "digit", "--components", 1, "--max-evaluations", 7, "--json", path)
    assert done.returncode == 0, done.stderr
    result = json.loads(path.read_text())
    assert [row["outcome"] for row in result["rows"]] == ["measured"] * 5 + ["budget"] * 3
    assert result["evaluations"] == 7
    assert "3 rows not measured" in done.stderr
    forecast = harmonia("alignment", torch_models / "golden.pt", train, "--label", "digit", "--components", 1, "--dry-run")
    assert forecast.returncode == 0
    assert forecast.stdout == "8 rows = 8 gradients; 10 evaluations in all; nothing was asked of the model\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("fn:f1", "{train}", "--label", "digit", "--components", 1), 3, "has no gradients; alignment takes a TorchScript model"),
        (("{golden}", "{train}", "--label", "digit", "--components", 3), 2, "a plane in them has fewer"),
        (("{golden}", "{train}", "--drop", "digit", "--by-label", "--components", 1), 2, "has no labels"),
        (("{golden}", "{train}", "--label", "digit", "--components", 1, "--gradient", "slope"), 2, "--gradient"),
        (("{golden}", "{train}", "--label", "digit", "--components", 2, "--by-label"), 2, "vary in 1 direction, not in 2; expected fewer components"),
        (("{golden}", "{train}", "--label", "digit", "--components", 1, "--manifold", "{turned}"), 2, "has column 'c' where"),
        (("{golden}", "{train}", "--label", "digit", "--components", 1, "--manifold", "{train}#2"), 2, "has 1 row; expected more than the 1 component"),
        (("{golden}", "{odd}", "--label", "digit", "--components", 1), 2, "row 0 has the label 'dog'; expected the number of one of the 2 outputs"),
    ],
)
def test_errors_are_one_line(harmonia, torch_models, train, arguments, code, message):
    odd = train.with_name("odd.csv")
    odd.write_text("a,b,c,digit\n1,2,3,dog\n3,2,1,cat\n1,1,1,dog\n")
    turned = train.with_name("turned.csv")
    turned.write_text("c,b,a,digit\n1,2,3,0\n3,2,1,1\n1,1,1,0\n")
    names = {"train": train, "odd": odd, "turned": turned, "golden": torch_models / "golden.pt"}
    done = harmonia("alignment", *(str(a).format(**names) for a in arguments))
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
