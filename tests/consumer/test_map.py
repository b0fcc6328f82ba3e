"""`map` as a user has it: JSON, CSV, table, page, asking a saved map, and the errors."""

import copy
import csv
import json
import math
import random
import shlex
import sys

import jsonschema
import numpy as np
import pytest

# Three classes of four features: two compete by a curved margin, one stands aside.
PROGRAM = """
import sys, math
for line in sys.stdin:
    a, b, c, d = (float(v) for v in line.split(","))
    print(f"{a * a + b},{2 * c - 0.5 * a},{0.3 * d}", flush=True)
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "logits.py"
    path.write_text(PROGRAM)
    return f"cmd:{shlex.quote(sys.executable)} {path}"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "rows.csv"
    draw = random.Random(4)
    lines = ["name,a,b,c,d,age,kind"]
    for i in range(240):
        a, b, c, d = (draw.gauss(0, 1.5) for _ in range(4))
        logits = [a * a + b, 2 * c - 0.5 * a, 0.3 * d]
        kind = logits.index(max(logits)) if draw.random() < 0.8 else draw.randrange(3)
        lines.append(f"r{i},{a},{b},{c},{d},{draw.gauss(40, 10)},{kind}")
    path.write_text("\n".join(lines) + "\n")
    return path


CARRIED = ["--id", "name", "--label", "kind"]
HOW = ["--radius", "0.4", "--ball", "cross", "--steps", "3"]


@pytest.fixture(scope="module")
def schema(root):
    return json.loads((root / "docs" / "result.schema.json").read_text())


@pytest.fixture(scope="module")
def made(harmonia, schema, model, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    done = harmonia("map", model, data, *CARRIED, "--drop", "age", *HOW, "--json", folder / "map.json", "--csv", folder / "rows.csv", "--html", folder / "map.html")
    assert done.returncode == 0, done.stderr
    result = json.loads((folder / "map.json").read_text())
    jsonschema.validate(result, schema)
    return result, folder, done


def test_numbers_of_a_row(made):
    result, folder, _ = made
    with open(folder / "rows.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(result["rows"]) == 240
    for line, row in zip(lines, result["rows"]):
        assert float(line["gamma"]) == row["gamma"] and line["stable"] == str(row["stable"]).lower()
        p = 1 / (1 + math.exp(-row["logit_p"]))
        assert row["probability"] == pytest.approx(p, rel=1e-12)
        assert row["score"] == pytest.approx(p * math.exp(-3 * row["gamma"]), rel=1e-9)
        assert row["softmax"] == pytest.approx(1 / (1 + math.exp(3 * row["gamma"] - row["logit_p"])), rel=1e-9)
        assert row["correct"] == (str(row["class"]) == row["label"])
        # Of the curved class gamma is the mean of the pairs' second differences: r² of one of four features.
        assert row["gamma"] == pytest.approx(0.4**2 / 4 if row["class"] == 0 else 0, abs=1e-12)


def test_table_by_hand(made):
    result, _, done = made
    table = result["summary"]["table"]
    assert table["by"] == "label" and [g["class"] for g in table["classes"]] == ["0", "1", "2"]
    for group in table["classes"]:
        mine = [r for r in result["rows"] if r["label"] == group["class"]]
        assert group["rows"] == len(mine)
        for key in ("logit", "mean_logit", "probability", "score", "two_exponential", "softmax", "drift"):
            assert group[key]["mean"] == pytest.approx(np.mean([r[key] for r in mine]), rel=1e-9)
            assert group[key]["low"] < group[key]["mean"] < group[key]["high"]
        assert group["stability"]["count"] == sum(r["stable"] for r in mine)
        assert group["accuracy"]["share"] == pytest.approx(np.mean([r["correct"] for r in mine]))
        assert group["score_of_means"] == pytest.approx(group["probability"]["mean"] * math.exp(-3 * group["gamma"]["mean"]))
    assert table["all"]["rows"] == 240
    assert "AUROC of the map" in done.stdout and "stable after 3 steps" in done.stdout


def test_correlations(made):
    result, _, _ = made
    found = {c["of"]: c for c in result["summary"]["correlations"]}
    stable = np.array([r["stable"] for r in result["rows"]], dtype=float)
    for key, field in (("probability", "probability"), ("score", "score"), ("gamma", "gamma"), ("accuracy", "correct")):
        values = np.array([r[field] for r in result["rows"]], dtype=float)
        assert found[key]["rows"]["value"] == pytest.approx(np.corrcoef(values, stable)[0, 1], abs=1e-12)
        sign = -1 if key == "gamma" else 1
        up, down = sign * values[stable == 1], sign * values[stable == 0]
        area = np.mean((up[:, None] > down) + 0.5 * (up[:, None] == down))
        assert found[key]["auroc"]["value"] == pytest.approx(area, abs=1e-9)


def test_the_map_is_scikit_learns(made):
    linear = pytest.importorskip("sklearn.linear_model")
    result, _, _ = made
    saved = result["summary"]["map"]
    x = np.array([[r["logit_p"], math.log(max(r["gamma"], saved["floor"]))] for r in result["rows"]])
    y = np.array([r["stable"] for r in result["rows"]])
    z = (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)
    theirs = linear.LogisticRegression(C=1 / saved["ridge"], tol=1e-12, max_iter=10000).fit(z, y)
    np.testing.assert_allclose(saved["coefficients"], [theirs.intercept_[0], *theirs.coef_[0]], atol=2e-5)
    bins = result["summary"]["validation"]["bins"]
    assert sum(b["rows"] for b in bins) == 240 and sum(b["count"] for b in bins) == y.sum()


def test_a_saved_map_answers_without_a_search(harmonia, schema, made, model, data, tmp_path):
    result, folder, _ = made
    done = harmonia("map", "--use", folder / "map.json", model, data, *CARRIED, "--drop", "age", "--json", tmp_path / "use.json", "--csv", tmp_path / "use.csv", "--html", tmp_path / "use.html")
    assert done.returncode == 0 and done.stderr == ""
    used = json.loads((tmp_path / "use.json").read_text())
    jsonschema.validate(used, schema)
    assert used["evaluations"] == 240 * (1 + 9) + 1  # to open the program
    saved = result["summary"]["map"]
    c, m, s = saved["coefficients"], [i["mean"] for i in saved["inputs"]], [i["scale"] for i in saved["inputs"]]
    for row in used["rows"]:
        x = [row["logit_p"], math.log(max(row["gamma"], saved["floor"]))]
        odds = saved["intercept"] + saved["slope"] * (c[0] + sum(c[1 + j] * (x[j] - m[j]) / s[j] for j in range(2)))
        assert row["stable_probability"] == pytest.approx(1 / (1 + math.exp(-odds)), rel=1e-9)
        assert row["stable_low"] <= row["stable_probability"] <= row["stable_high"]
        assert not row["outside"]
    assert "… the first 20 of 240 rows" in done.stdout
    assert (tmp_path / "use.csv").read_text().count("\n") == 241


def test_the_interval_of_a_recalibrated_answer_by_hand(harmonia, made, model, data, tmp_path):
    result, _, _ = made
    assert result["summary"]["map"]["recalibrated"] is False and result["summary"]["map"]["calibration_covariance"] is None
    for slope in (0.5, 2.0):
        changed = copy.deepcopy(result)
        saved = changed["summary"]["map"]
        saved.update(recalibrated=True, intercept=0.25, slope=slope, calibration_covariance=[[0.04, -0.01], [-0.01, 0.09]])
        (tmp_path / "map.json").write_text(json.dumps(changed))
        done = harmonia("map", "--use", tmp_path / "map.json", model, data, *CARRIED, "--drop", "age", "--json", tmp_path / "use.json")
        assert done.returncode == 0, done.stderr
        c, covariance = np.array(saved["coefficients"]), np.array(saved["covariance"])
        for row in json.loads((tmp_path / "use.json").read_text())["rows"]:
            x = [row["logit_p"], math.log(max(row["gamma"], saved["floor"]))]
            z = np.array([1, *((v - i["mean"]) / i["scale"] for v, i in zip(x, saved["inputs"]))])
            fitted = c @ z
            error = math.sqrt(max(1, slope) ** 2 * (z @ covariance @ z) + 0.04 - 2 * 0.01 * fitted + 0.09 * fitted**2)
            for end, sign in (("stable_low", -1), ("stable_high", 1)):
                odds = 0.25 + slope * fitted + sign * 1.959963984540054 * error
                assert row[end] == pytest.approx(1 / (1 + math.exp(-odds)), rel=1e-6)


def test_another_model_is_said(harmonia, made, data, model, tmp_path):
    _, folder, _ = made
    done = harmonia("map", "--use", folder / "map.json", f"{model} ", data, *CARRIED, "--drop", "age")
    assert done.returncode == 0
    assert done.stderr.startswith("warning: the map was fitted on cmd:") and done.stderr.count("\n") == 1


def test_further_variables(harmonia, schema, model, data, tmp_path):
    done = harmonia("map", model, data, *CARRIED, *HOW, "--with", "age", "--json", tmp_path / "a.json")
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "a.json").read_text())
    jsonschema.validate(result, schema)
    assert [i["name"] for i in result["summary"]["map"]["inputs"]] == ["logit_p", "log_gamma", "age"]
    with open(data, newline="") as file:
        ages = {line["name"]: line["age"] for line in csv.DictReader(file)}
    other = tmp_path / "ages.csv"
    other.write_text("age,name\n" + "".join(f"{age},{name}\n" for name, age in reversed(ages.items())))
    done = harmonia("map", model, data, *CARRIED, "--drop", "age", *HOW, "--with-file", other, "--json", tmp_path / "b.json")
    assert done.returncode == 0, done.stderr
    again = json.loads((tmp_path / "b.json").read_text())
    assert again["rows"] == result["rows"] and again["summary"]["map"] == result["summary"]["map"]
    done = harmonia("map", "--use", tmp_path / "a.json", model, data, *CARRIED, "--with", "age", "--json", tmp_path / "c.json")
    assert done.returncode == 0, done.stderr
    done = harmonia("map", "--use", tmp_path / "a.json", model, data, *CARRIED, "--drop", "age")
    assert (done.returncode, done.stderr) == (2, "harmonia: the map has 1 further variable; 0 were given\n")


@pytest.fixture
def untouched(tmp_path):
    """A model that leaves a trace when it is asked, and whether it was."""
    program, trace = tmp_path / "traced.py", tmp_path / "asked"
    program.write_text(f"open({str(trace)!r}, 'w').close()\n{PROGRAM}")
    yield f"cmd:{shlex.quote(sys.executable)} {program}"
    assert not trace.exists()


def test_bad_variables_are_refused_before_the_model_is_asked(harmonia, untouched, data, tmp_path):
    def refused(contents, *more, by_id=True):
        path = tmp_path / "with.csv"
        path.write_text(contents)
        carried = CARRIED if by_id else ["--label", "kind", "--drop", "name"]
        done = harmonia("map", untouched, data, *carried, "--drop", "age", *HOW, "--with-file", path, "--json", tmp_path / "out.json", *more)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and done.stdout == "", done.stderr
        assert not (tmp_path / "out.json").exists()
        return done.stderr

    rows = [f"r{i},{i}" for i in range(240)]
    assert "the further variables have no id 'r239', which row 239 has" in refused("\n".join(["name,age", *rows[:-1]]))
    assert "the further variables have id 'r3' twice" in refused("\n".join(["name,age", *rows, "r3,1"]))
    assert "with.csv" in refused("\n".join(["name,age", *rows[:-1], "r239,old"]))
    assert "height" in refused("\n".join(["name,age", *rows]), "--with", "height")
    assert "name" in refused("\n".join(["number,age", *rows]))
    assert "the further variables have 100 rows; the data has row 100" in refused("age\n" + "1\n" * 100, by_id=False)
    done = harmonia("map", untouched, data, *CARRIED, "--drop", "age", *HOW, "--with-file", tmp_path / "none.csv")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "none.csv: no such file" in done.stderr


def test_a_map_of_other_variables_is_refused_before_the_model_is_asked(harmonia, made, untouched, data):
    _, folder, _ = made
    done = harmonia("map", "--use", folder / "map.json", untouched, data, *CARRIED, "--with", "age")
    assert (done.returncode, done.stderr) == (2, "harmonia: the map has 0 further variables; 1 was given\n")


def test_same_result_for_any_threads_and_batch(harmonia, made, model, data, tmp_path):
    result, _, _ = made
    done = harmonia("map", model, data, *CARRIED, "--drop", "age", *HOW, "--threads", 1, "--batch", 7, "--json", tmp_path / "one.json")
    assert done.returncode == 0, done.stderr
    other = json.loads((tmp_path / "one.json").read_text())
    assert other["rows"] == result["rows"] and other["summary"] == result["summary"]


def test_all_of_one_outcome(harmonia, schema, model, data, tmp_path):
    done = harmonia("map", model, data, *CARRIED, "--drop", "age", "--radius", "1e-6", "--steps", "1", "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    assert "all 240 rows are stable: there is nothing to tell apart, and no map" in done.stdout
    result = json.loads((tmp_path / "out.json").read_text())
    jsonschema.validate(result, schema)
    assert result["summary"]["map"] is None
    done = harmonia("map", "--use", tmp_path / "out.json", model, data, *CARRIED, "--drop", "age")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "this result has no map" in done.stderr


# Classes that the first feature alone tells apart: so is stability; and logits whose difference is no number.
@pytest.mark.parametrize(
    ("logits", "ridge", "said"),
    [
        ("50 * a, 0", "1e-300", "a ridge of 1e-300 is too small for a map of these rows"),
        ("(1.7e308 if a > 0 else -1.7e308), -(1.7e308 if a > 0 else -1.7e308)", "0.1", "no row has numbers that a map can be fitted on: there is no map"),
    ],
)
def test_rows_are_kept_where_no_map_can_be_fitted(harmonia, schema, data, tmp_path, logits, ridge, said):
    program = tmp_path / "p.py"
    program.write_text(f"import sys\nfor line in sys.stdin:\n    a = float(line.split(',')[0])\n    print('%r,%r' % ({logits}), flush=True)\n")
    model = f"cmd:{shlex.quote(sys.executable)} {program}"
    how = [*CARRIED, "--drop", "age", *HOW, "--ridge", ridge, "--json", tmp_path / "out.json", "--csv", tmp_path / "out.csv", "--html", tmp_path / "out.html"]
    done = harmonia("map", model, data, *how)
    assert done.returncode == 0 and said in done.stdout and done.stderr.startswith("warning: "), done.stderr
    result = json.loads((tmp_path / "out.json").read_text())
    jsonschema.validate(result, schema)
    assert {r["stable"] for r in result["rows"]} == {True, False} and all(r["logit"] is not None for r in result["rows"])
    assert result["summary"]["map"] is None and said in result["summary"]["fit"]["reason"]
    warned = result["summary"]["warnings"][-1]
    assert ("a map of these rows" in warned or "240 rows are left out of the map" in warned) and f"warning: {warned}\n" in done.stderr
    assert (tmp_path / "out.csv").read_text().count("\n") == 241 and (tmp_path / "out.html").exists()


def test_probabilities(harmonia, data, tmp_path):
    program = tmp_path / "p.py"
    program.write_text("import sys, math\nfor line in sys.stdin:\n    a = float(line.split(',')[0]); print(1 / (1 + math.exp(-a * a)), flush=True)\n")
    model = f"cmd:{shlex.quote(sys.executable)} {program}"
    how = [*CARRIED, "--drop", "age", *HOW]
    done = harmonia("map", model, data, *how, "--binary", "--outputs", "probabilities", "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert {r["class"] for r in rows} == {1}
    assert all(r["logit"] == pytest.approx(math.log(r["probability"]), rel=1e-9) for r in rows)
    done = harmonia("map", model, data, *how)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "has one output; expected a classifier" in done.stderr


def test_budget_and_forecast(harmonia, model, data, tmp_path):
    done = harmonia("map", model, data, *CARRIED, "--drop", "age", *HOW, "--dry-run")
    assert done.returncode == 0 and "nothing was asked of the model" in done.stdout
    done = harmonia("map", model, data, *CARRIED, "--drop", "age", *HOW, "--max-evaluations", 5000, "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "out.json").read_text())
    assert result["evaluations"] <= 5000
    measured = [r["gamma"] is not None for r in result["rows"]]
    assert 10 < sum(measured) < 240 and measured == sorted(measured, reverse=True)
    assert [r["stable"] is not None for r in result["rows"]] == measured  # no search without a gamma
    fit = result["summary"]["fit"]
    assert fit["stable"] + fit["unstable"] == sum(measured) and fit["left_out"] == 240 - sum(measured)
    assert all(r["outcome"] == "budget" and r["class"] is None for r, known in zip(result["rows"], measured) if not known)


def test_damaged_and_foreign_maps(harmonia, made, model, data, tmp_path):
    result, folder, _ = made
    text = (folder / "map.json").read_text()

    def refused(contents):
        path = tmp_path / "bad.json"
        path.write_text(contents)
        done = harmonia("map", "--use", path, model, data, *CARRIED, "--drop", "age")
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and done.stdout == ""
        return done.stderr

    assert "breaks off after" in refused(text[: len(text) // 2])
    assert "is a result of 'gamma'" in refused(text.replace('"command":"map"', '"command":"gamma"'))
    assert "not valid JSON" in refused(text.replace(":", ";", 1))
    for change, said in [
        (lambda m: m["coefficients"].pop(), "the map has 2 coefficients; expected 3"),
        (lambda m: m["covariance"].pop(), "the map's covariance has 2 rows; expected 3"),
        (lambda m: m["inputs"][0].update(scale=0), "the map's scale is 0; expected a number above 0"),
        (lambda m: m["inputs"][0].update(name="other"), "the map's first inputs are not logit_p and log_gamma"),
        (lambda m: m["inputs"][1].update(mean="x"), "expected a number"),
        (lambda m: m.update(floor=-1), "the map's floor is -1; expected a number above 0"),
        (lambda m: m.update(confidence=2), "the map's confidence is 2; expected between 0 and 1"),
        (lambda m: m.update(recalibrated=3), "the map's recalibrated is neither true nor false"),
        (lambda m: m.update(recalibrated=True), "the map is recalibrated and has no calibration_covariance"),
        (lambda m: m.update(recalibrated=True, calibration_covariance=[[1, 0]]), "the map's calibration_covariance has 1 row; expected 2"),
        (lambda m: m.update(recalibrated=True, calibration_covariance=[[1, 0], [0, -1]]), "the map's calibration_covariance has a variance below 0"),
        (lambda m: m["gamma"].update(ball="cube"), "cube"),
        (lambda m: m.pop("gamma"), "summary.map has no 'gamma'"),
    ]:
        changed = copy.deepcopy(result)
        change(changed["summary"]["map"])
        assert said in refused(json.dumps(changed))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "expected --radius R to make a map, or --use FILE to ask one"),
        (["--radius", "0.1", "--use", "x.json"], "--radius excludes --use"),
        (["--radius", "0.1", "--output", "norm"], "--output"),
        (["--radius", "0.1", "--ridge", "0"], "--ridge"),
        (["--radius", "0.1", "--steps", "0"], "--steps"),
        (["--use", "no-such.json"], "no-such.json: no such file"),
    ],
)
def test_bad_usage(harmonia, model, data, arguments, said):
    done = harmonia("map", model, data, *CARRIED, "--drop", "age", *arguments)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and said in done.stderr, done.stderr
