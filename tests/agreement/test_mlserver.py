"""The HTTP adapter against a real model server that speaks the Open Inference Protocol: mlserver."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "mlserver"))
from server import running_mlserver  # noqa: E402

GRID = "grid:0..1x3,0..1x3,0..1x3,0..1x3"


@pytest.fixture(scope="module")
def address():
    with running_mlserver() as base:
        yield base + "/v2/models/"


@pytest.fixture
def rows_of(harmonia, tmp_path):
    def run(*arguments: str) -> list[dict]:
        path = tmp_path / "out.json"
        done = harmonia("gamma", *arguments, "--radius", "0.5", "--json", path)
        assert done.returncode == 0, done.stderr
        return json.loads(path.read_text())["rows"]

    return run


@pytest.mark.parametrize("model, tolerance", [("declared64", 1e-14), ("undeclared", 1e-14), ("declared32", 2e-6)])
@pytest.mark.parametrize("how", [["--ball", "cross"], ["--ball", "random-pairs:20"], ["--ball", "cross", "--threads", "1", "--batch", "3"]])
def test_gamma_is_that_of_the_function_itself(rows_of, address, model, tolerance, how):
    """The server's value is f1 of the row: gamma through the server is gamma of fn:f1."""
    served, own = rows_of(address + model, GRID, *how), rows_of("fn:f1?n=4", GRID, *how)
    assert len(served) == 81
    for a, b in zip(served, own):
        assert a["value"] == pytest.approx(b["value"], abs=tolerance)
        assert a["delta"] == pytest.approx(b["delta"], abs=tolerance)
        assert a["outcome"] == b["outcome"]


def test_a_named_output_of_two_columns(rows_of, address):
    rows = rows_of(address + "declared64", GRID, "--ball", "cross", "--model-output", "both", "--output", "all")
    assert [row["column"] for row in rows[:4]] == [0, 1, 0, 1]
    assert all(row["gamma"] <= 1e-14 for row in rows)  # f1 and the sum are both harmonic


@pytest.mark.parametrize(
    "model, arguments, code, message",
    [
        ("nope", [], 3, "status 404: Model nope not found"),
        ("several", [], 3, "takes 2 inputs (a, b); expected one"),
        ("whole", [], 3, "input 'x' is INT64; expected FP32 or FP64"),
        ("declared64", ["--model-output", "none"], 2, "has no output 'none'; it has value, both"),
    ],
)
def test_what_the_server_refuses(harmonia, address, model, arguments, code, message):
    done = harmonia("gamma", address + model, GRID, "--radius", "1", *arguments)
    assert done.returncode == code
    assert done.stderr.count("\n") == 1 and message in done.stderr


def test_the_wrong_number_of_columns(harmonia, address):
    done = harmonia("gamma", address + "declared64", "grid:0..1x3,0..1x3", "--radius", "1")
    assert (done.returncode, done.stderr) == (2, f"harmonia: data has 2 columns; model {address}declared64 expects 4\n")
