"""Tree files that cannot be used, and data that does not fit them, as the program's user sees it: one line, exit code 2."""

import hashlib
import json
import resource
import shutil
from pathlib import Path

import pytest

DATA = Path(__file__).parent.parent / "data"
XGBOOST, LIGHTGBM = DATA / "xgboost" / "1.7.6", DATA / "lightgbm" / "3.3.5"


def said(harmonia, *arguments) -> str:
    done = harmonia("gamma", *arguments, "--radius", "0.1", timeout=20)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith("harmonia: ")
    return done.stderr[len("harmonia: ") : -1]


@pytest.mark.parametrize("source", [XGBOOST / "dart.json", XGBOOST / "categories.ubj", LIGHTGBM / "ova.txt"], ids=lambda path: path.name)
def test_cut_and_empty_files(harmonia, tmp_path, source):
    for share in (0, 0.01, 0.3, 0.7):
        path = tmp_path / source.name
        path.write_bytes(source.read_bytes()[: int(share * source.stat().st_size)])
        assert said(harmonia, path, "uniform:3").startswith(f"model {path}")


def test_files_of_other_kinds(harmonia, tmp_path):
    assert said(harmonia, XGBOOST / "old.bin", "uniform:3") == (
        f"model {XGBOOST / 'old.bin'} is in XGBoost's old binary format; expected JSON or UBJSON: "
        'load it and call booster.save_model("model.json")')
    assert said(harmonia, XGBOOST / "linear.json", "uniform:3") == f"model {XGBOOST / 'linear.json'} is a linear model (gblinear); expected trees: gbtree or dart"
    assert said(harmonia, XGBOOST / "expected.json", "uniform:3") == f"model {XGBOOST / 'expected.json'} has no 'learner'; expected an XGBoost model, from booster.save_model()"
    assert said(harmonia, tmp_path / "none.json", "uniform:3") == f"model {tmp_path / 'none.json'}: No such file or directory"
    assert said(harmonia, tmp_path / "none.txt", "uniform:3") == f"model {tmp_path / 'none.txt'}: No such file or directory"
    (tmp_path / "notes.txt").write_text("remember the milk\n")
    assert said(harmonia, tmp_path / "notes.txt", "uniform:3") == (
        f"model {tmp_path / 'notes.txt'} begins with 'remember the milk'; expected a LightGBM model, from booster.save_model(): 'tree'")


def test_a_file_too_large_for_the_memory(harmonia, tmp_path):
    path = tmp_path / "huge.ubj"
    with open(path, "wb") as file:
        file.truncate(1 << 30)
    limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))}
    done = harmonia("gamma", path, "uniform:3", "--radius", "0.1", **limited)
    message = f"model {path}: out of memory while it was read, several times its 1024 MiB; expected a smaller model, or more memory"
    assert (done.returncode, done.stderr) == (2, f"harmonia: {message}\n")


def test_known_by_content(harmonia, tmp_path):
    for number, source in enumerate([XGBOOST / "dart.json", XGBOOST / "categories.ubj", LIGHTGBM / "ova.txt"]):
        path = tmp_path / f"model{number}"
        shutil.copy(source, path)
        done = harmonia("gamma", path, "uniform:3", "--radius", "0.1", "--json", tmp_path / "out.json", "--quiet")
        assert (done.returncode, done.stderr) == (0, "")
        model = json.loads((tmp_path / "out.json").read_text())["model"]
        assert model["kind"] == ("lightgbm" if number == 2 else "xgboost")
        assert model["sha256"] == hashlib.sha256(source.read_bytes()).hexdigest()


def test_columns_of_other_names(harmonia, root, tmp_path):
    model, rows = root / "examples" / "booster.json", tmp_path / "rows.csv"
    text = [line.split(",") for line in (root / "examples" / "rows.csv").read_text().split()]
    rows.write_text("\n".join(",".join([line[1], line[3], line[2]]) for line in text) + "\n")
    assert said(harmonia, model, rows) == f"data {rows} has the columns age, debt, income; model {model} expects them in another order: --columns age,income,debt"
    assert said(harmonia, model, root / "examples" / "rows.csv").endswith("expects some of them: --columns age,income,debt")
    values = []
    for arguments in ([rows, "--columns", "age,income,debt"], [root / "examples" / "rows.csv", "--id", "customer"]):
        done = harmonia("gamma", model, *arguments, "--radius", "0.1", "--quiet", "--json", tmp_path / "out.json")
        assert (done.returncode, done.stderr) == (0, "")
        values.append([row["value"] for row in json.loads((tmp_path / "out.json").read_text())["rows"]])
    assert values[0] == values[1]
    rows.write_text("age,salary,debt\n30,40,20\n")
    assert said(harmonia, model, rows) == f"data {rows} has no column income; model {model} expects age, income, debt: name the data's columns in this order with --columns"
    assert harmonia("gamma", model, rows, "--columns", "age,salary,debt", "--radius", "0.1", "--quiet").returncode == 0
