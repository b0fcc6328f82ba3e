"""Regions, windows, jitter and segments as a user has them."""

import csv
import json

import jsonschema
import pytest


@pytest.fixture
def result_of(harmonia, root, tmp_path):
    schema = json.loads((root / "docs" / "result.schema.json").read_text())

    def run(*arguments) -> dict:
        done = harmonia(*arguments, "--json", tmp_path / "result.json")
        assert done.returncode == 0, done.stderr
        result = json.loads((tmp_path / "result.json").read_text())
        jsonschema.validate(result, schema)
        result["table"], result["said"] = done.stdout, done.stderr
        return result

    return run


STEP = "cmd:python3 -uc 'import sys\nfor l in sys.stdin: print(1 if float(l.split(\",\")[0])>0.5 else 0)'"


def test_box_and_window(result_of):
    whole = result_of("gamma", "fn:f4", "grid:0..1x11,0..1x11", "--radius", "0.2")
    part = result_of("gamma", "fn:f4", "grid:0..1x11,0..1x11", "--radius", "0.2", "--region", "box:0.3..0.7,0..0.2", "--window", "40..200")
    assert part["options"]["region"] == ["box:0.3..0.7,0..0.2"] and part["options"]["window"] == "40..200"
    numbers = [row["row"] for row in part["rows"]]
    assert numbers == [11 * i + j for i in range(4, 8) for j in range(3)]
    assert part["rows"] == [whole["rows"][n] for n in numbers]
    assert "in box:0.3..0.7,0..0.2" in part["table"]
    assert part["data"]["fingerprint"] != whole["data"]["fingerprint"]


def test_scale_is_that_of_all_rows(result_of, tmp_path):
    data = tmp_path / "rows.csv"
    data.write_text("a,b\n" + "".join(f"{i},{i % 7}\n" for i in range(100)))
    whole = result_of("gamma", "fn:f2", data, "--scale", "std", "--radius", "1")
    part = result_of("gamma", "fn:f2", data, "--scale", "std", "--radius", "1", "--region", "box:a=10..20")
    assert part["options"]["schema"] == whole["options"]["schema"]
    assert part["rows"] == whole["rows"][10:21]


def test_grid_inside_the_hull_of_a_training_set(result_of, tmp_path):
    train = tmp_path / "train.csv"
    train.write_text("y,u,v\nred,0,0\nblue,1,0\nred,0,1\n")
    region = f"hull:{train}?columns=u,v"
    result = result_of("compare", "fn:f2", "fn:f4", "grid:0..1x11,0..1x11", "--radius", "0.2", "--region", region)
    assert result["data"]["rows"] == 66 == len(result["points"]["x"])
    assert all(x + y <= 1 + 1e-9 for x, y in result["points"]["x"])


def test_segments(result_of, tmp_path):
    data = tmp_path / "rows.csv"
    data.write_text("town,x,y\n" + "".join(f"{'ABC'[i % 3]},{i / 50},{i % 5}\n" for i in range(60)))
    result = result_of("gamma", "fn:f4", data, "--radius", "0.2", "--by", "town")
    assert result["data"]["inputs"] == 2
    segments = result["summary"]["segments"]
    assert segments["by"] == "town" and [s["value"] for s in segments["values"]] == ["A", "B", "C"]
    for segment in segments["values"]:
        gammas = [row["gamma"] for row in result["rows"] if row["segment"] == segment["value"]]
        assert segment["rows"] == 20 == len(gammas)
        assert segment["mean"] == pytest.approx(sum(gammas) / 20, rel=1e-12)
        assert segment["low"] < segment["mean"] < segment["high"]
    assert "       A        20" in result["table"]
    both = result_of("gamma", "fn:f4", data, "--radius", "0.2", "--by", "y", "--columns", "x,y")
    assert both["data"]["inputs"] == 2
    assert [s["value"] for s in both["summary"]["segments"]["values"]] == ["0", "1", "2", "3", "4"]


def test_segments_of_a_resumed_run(harmonia, result_of, tmp_path):
    data, journal = tmp_path / "rows.csv", tmp_path / "journal"
    data.write_text("town,x,y\n" + "".join(f"{'AB'[i % 2]},{i / 50},{i % 5}\n" for i in range(40)))
    arguments = ["gamma", "fn:f4", data, "--radius", "0.2", "--by", "town"]
    done = harmonia(*arguments, "--resume", journal, "--max-evaluations", "100")
    assert done.returncode == 0 and journal.exists()
    again = result_of(*arguments, "--resume", journal)
    assert again["summary"]["segments"] == result_of(*arguments)["summary"]["segments"]


def test_rows_without_a_segment_are_one(result_of, tmp_path):
    data = tmp_path / "rows.csv"
    data.write_text("town,x,y\n" + "".join(f"{['A', 'B', ''][i % 3]},{i / 50},{i % 5}\n" for i in range(30)))
    result = result_of("gamma", "fn:f4", data, "--radius", "0.2", "--by", "town", "--csv", tmp_path / "rows_out.csv")
    values = result["summary"]["segments"]["values"]
    assert [(s["value"], s["rows"]) for s in values] == [("(empty)", 10), ("A", 10), ("B", 10)]
    with open(tmp_path / "rows_out.csv", newline="") as file:
        assert [row["segment"] for row in csv.DictReader(file)] == ["A", "B", "(empty)"] * 10
    assert [row["segment"] for row in result["rows"]] == ["A", "B", "(empty)"] * 10


def test_too_many_segments(harmonia, tmp_path):
    data = tmp_path / "rows.csv"
    data.write_text("id,x\n" + "".join(f"c{i},{i}\n" for i in range(1200)))
    done = harmonia("gamma", "fn:f2", data, "--radius", "1", "--by", "id")
    assert done.returncode == 2
    assert done.stderr == (
        "harmonia: the rows have more than 1000 segments; expected a column of few different values, such as a country or a class\n"
    )


def test_jitter_and_the_warning_against_aliasing(result_of):
    # The step lies between two lines of the grid: every ball is too small to see it.
    coarse = result_of("gamma", STEP, "grid:0..1x6,0..1x4", "--radius", "0.05", "--output", "column:0")
    assert coarse["summary"]["gamma"]["mean"] == 0
    assert coarse["summary"]["warnings"] == [
        "the grid's spacing 0.2 along x0 is above half the radius 0.05: a boundary along it is missed or counted too often (aliasing); a finer grid, or --jitter"
    ]
    jittered = result_of("gamma", STEP, "grid:0..1x30,0..1x30", "--radius", "0.05", "--output", "column:0", "--jitter")
    assert jittered["options"]["jitter"] is True and jittered["summary"]["warnings"] == []
    gamma = jittered["summary"]["gamma"]
    assert gamma["low"] < 0.05 * 0.643951 < gamma["high"]
    fine = result_of("gamma", "fn:f2", "grid:0..1x41,0..1x41", "--radius", "0.05")
    assert fine["summary"]["warnings"] == []


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["uniform:9", "--jitter"], "--jitter moves the points of a grid; uniform:9 is none"),
        (["uniform:9", "--by", "x"], "uniform:9: generated data has no columns; --by is for files"),
        (["uniform:9", "--region", "box:2..3,2..3"], "uniform:9 has no row in --region box:2..3,2..3"),
        (["uniform:9#3", "--window", "1..2"], "uniform:9#3 is one row; --window and --region choose among several"),
        (["uniform:9", "--region", "hull:none.csv"], "none.csv: no such file"),
    ],
)
def test_errors(harmonia, tmp_path, arguments, message):
    done = harmonia("gamma", "fn:f2", *arguments, "--radius", "1", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"harmonia: {message}\n")
