"""`attack` as a user has it: JSON, CSV, table and the errors."""

import base64
import csv
import json
import struct

import jsonschema
import pytest

BALL = "fn:ball-class?n=10&r=1"
# Two outputs: 4.5 less the sum of 30 features, and 0.
LINEAR = "cmd:python3 -uc 'import sys\nfor l in sys.stdin: print(4.5-sum(map(float,l.split(\",\"))),0,sep=\",\")'"


@pytest.fixture
def run(harmonia, root, tmp_path):
    schema = json.loads((root / "docs" / "result.schema.json").read_text())

    def run(*arguments):
        path = tmp_path / "result.json"
        done = harmonia("attack", *arguments, "--json", path, "--csv", tmp_path / "result.csv")
        assert done.returncode == 0, done.stderr
        result = json.loads(path.read_text())
        jsonschema.validate(result, schema)
        with open(tmp_path / "result.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == len(result["rows"]) == result["data"]["rows"] * len(result["summary"]["methods"])
        for a, b in zip(rows, result["rows"]):
            for field in ("class", "steps", "changed", "distortion_l2", "distortion_linf", "first_logit", "last_logit"):
                assert (a[field] == "") == (b[field] is None)
                assert b[field] is None or float(a[field]) == b[field]
            assert (a["method"], a["outcome"]) == (b["method"], b["outcome"])
        return result, rows, done

    return run


@pytest.fixture
def zeros(tmp_path):
    path = tmp_path / "zeros.csv"
    path.write_text("name," + ",".join(f"x{j}" for j in range(30)) + "\n" + "".join(f"r{i}," + ",".join(["0"] * 30) + "\n" for i in range(6)))
    return path


def test_a_linear_margin_takes_five_features(run, zeros):
    result, _, done = run(LINEAR, zeros, "--id", "name", "--radius", 1)
    for row in result["rows"]:
        assert (row["class"], row["new_class"], row["success"], row["steps"], row["changed"]) == (0, 1, True, 5, 5)
        assert (row["first_logit"], row["last_logit"], row["outcome"]) == (4.5, -0.5, "changed")
    method = result["summary"]["methods"][0]
    assert (method["changed"], method["share"], method["steps"]["median"]) == (6, 1, 5)
    assert method["low"] == pytest.approx(0.6097, abs=1e-4)  # Wilson, 6 of 6
    assert [(p["step"], p["changed"]) for p in method["curve"]] == [(1, 0), (5, 6), (25, 6)]
    assert len(result["shown"]) == 6 and len(result["shown"][0]["changes"]) == 5
    assert all(c == {"feature": c["feature"], "from": 0, "to": 1} for c in result["shown"][0]["changes"])
    assert "gamma changed the class of 6 of 6 rows" in done.stdout and "r0" in done.stdout


def test_a_million_steps_are_a_small_result(run, zeros, tmp_path):
    """The curve has a point where a row changes, and its ends, whatever the steps."""
    result, _, _ = run(LINEAR, zeros, "--id", "name", "--radius", 1, "--steps", 1 << 20)
    assert [(p["step"], p["changed"]) for p in result["summary"]["methods"][0]["curve"]] == [(1, 0), (5, 6), (1 << 20, 6)]
    assert (tmp_path / "result.json").stat().st_size < 20_000


def test_two_methods_on_the_same_rows(run, zeros):
    result, _, done = run(LINEAR, zeros, "--id", "name", "--radius", 0.4, "--steps", 13, "--against", "random", "--candidates", 4)
    gamma, random = result["summary"]["methods"]
    assert (gamma["method"], random["method"]) == ("gamma", "random")
    # Twelve steps of 0.4 are enough for gamma; of thirteen moves at random nearly all would have to go one way.
    assert gamma["changed"] == 6 and random["changed"] == 0
    comparison = result["summary"]["comparison"]
    assert (comparison["a_alone"], comparison["b_alone"], comparison["difference"]) == (6, 0, 1)
    assert comparison["p_value"] == pytest.approx(2 / 64)
    assert comparison["low"] < 1 <= comparison["high"] + 1e-12
    assert "difference of the shares +1.0000" in done.stdout
    assert gamma["evaluations"] + random["evaluations"] + 1 >= result["evaluations"] >= gamma["evaluations"] + random["evaluations"]


def test_boundary_by_labels_alone(run):
    result, _, _ = run(BALL, "grid:0..0x2,0..0x2,0..0x2,0..0x2,0..0x2,0..0x2,0..0x2,0..0x2,0..0x2,0..0x2#0", "--method", "boundary", "--radius", 0.1)
    assert 1 <= result["rows"][0]["distortion_l2"] * 10**0.5 < 1.03
    assert all(p["feature"] is None for p in result["shown"][0]["path"])


def test_threads_and_batch_change_nothing(run):
    kept = []
    for extra in (["--threads", 1], ["--threads", 4, "--batch", 16]):
        result, _, _ = run(BALL, "uniform:20", "--radius", 0.4, "--against", "boundary", *extra)
        kept.append((result["rows"], result["summary"]))
    assert kept[0] == kept[1]


def test_the_budget_leaves_rows_out_and_says_so(run, zeros):
    each = 1 + 13 * (2 * 4 + 12)
    result, _, done = run(LINEAR, zeros, "--id", "name", "--radius", 0.1, "--steps", 13, "--candidates", 4, "--max-evaluations", 2 * each + 20)
    assert [row["outcome"] for row in result["rows"]] == ["kept"] * 2 + ["budget"] * 4
    assert result["rows"][5]["class"] is None
    assert f"4 rows not attacked, because a row may take {each} evaluations" in done.stderr
    assert "4 not attacked for want of evaluations" in done.stdout


def test_a_forecast_asks_nothing(harmonia):
    done = harmonia("attack", BALL, "uniform:7", "--radius", 0.1, "--against", "random", "--dry-run")
    each = 2 * (1 + 10 * (2 * 10 + 12 * 5))  # ten features: no more than ten are moved
    assert done.stdout == f"7 rows × at most {each} evaluations = at most {7 * each} evaluations; nothing was asked of the model\n"


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--radius", 0], "--radius: '0'; expected a number above 0"),
        (["--radius", -1], "expected a number above 0"),
        ([], "--radius is required"),
        (["--radius", 1, "--steps", 0], "--steps"),
        (["--radius", 1, "--method", "magic"], "method 'magic' is not known; expected gamma, random, nes, boundary or greedy"),
        (["--radius", 1, "--against", "gamma"], "both methods are gamma; expected two different ones"),
        (["--radius", 1, "--lower", 0.99], "expected a value within the bounds, 0.99 to inf"),
        (["--radius", 1, "--lower", 2, "--upper", 1], "bounds are 2 and 1; expected the lower one to be below"),
        (["--radius", 1, "--image", "2x4"], "--image '2x4'; expected HEIGHTxWIDTH, or HEIGHTxWIDTHx3 of colours, of rows of 10 features"),
        (["--radius", 1, "--image", "10"], "--image '10'"),
        (["--radius", 1, "--image", "5x1x2"], "--image '5x1x2'"),
        (["--radius", 1, "--pictures", "out"], "--pictures is of images; expected --image HEIGHTxWIDTH, or a folder of images"),
        (["--radius", 1, "--method", "boundary", "--paper"], "the paper has no method boundary"),
        (["--method", "pgd", "--epsilon", 0.1], "has no gradients, which method pgd needs; methods that work with it are gamma, random, greedy, boundary and, by estimated gradients, nes"),
        (["--method", "pgd", "--epsilon", 0], "--epsilon: '0'; expected a number above 0"),
        (["--method", "fgsm"], "--epsilon is required: it is the size of the ball of method fgsm"),
        (["--method", "cw", "--against", "random"], "--radius is required: method random steps by it"),
        (["--method", "cw", "--target", "cat"], "target 'cat'; expected the number of a class, next, random or least"),
        (["--method", "pgd", "--epsilon", 1, "--norm", "l1"], "norm 'l1'; expected linf or l2"),
        (["--radius", 1, "--target", "next"], "method gamma looks for any other class; a target is of methods that use gradients"),
        (["--radius", 1, "--method", "boundary", "--go-on"], "method boundary takes all steps anyway; expected no --go-on with it"),
    ],
)
def test_bad_input_is_one_line(harmonia, arguments, words):
    done = harmonia("attack", BALL, "uniform:3", *arguments)
    assert done.returncode == 2
    assert words in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_going_on_is_of_the_method_that_has_it(run, zeros):
    """Beside boundary, which takes all steps, the other method goes on: five steps change the class, and eight are taken."""
    for pair in (["--against", "boundary"], ["--method", "boundary", "--against", "gamma"]):
        result, _, _ = run(LINEAR, zeros, "--id", "name", "--radius", 1, "--steps", 8, "--go-on", *pair)
        assert {row["steps"] for row in result["rows"] if row["method"] == "gamma"} == {5}
        assert all(row["success"] for row in result["rows"])
        assert [len(s["path"]) for s in result["shown"]] == [8] * 12


def test_a_model_without_classes(harmonia):
    done = harmonia("attack", "fn:f2?n=2", "uniform:3", "--radius", 1)
    assert done.returncode == 3
    assert "a single column must hold whole numbers, or be a probability (--binary)" in done.stderr


def test_nes_needs_more_than_labels(harmonia):
    done = harmonia("attack", "fn:f2?n=2", "uniform:3", "--radius", 1, "--method", "nes")
    assert done.returncode == 2
    assert "method nes needs the outputs of the classes" in done.stderr


PLANE = "fn:soft-plane?n=4&d=1"  # class 1 where the sum is below 2; the logit falls by half of each feature


@pytest.fixture
def origin(tmp_path):
    path = tmp_path / "origin.csv"
    path.write_text("a,b,c,d\n0,0,0,0\n0,0,0.5,0\n4,4,4,4\n")
    return path


@pytest.mark.parametrize("method", ["fgsm", "rfgsm", "bim", "mifgsm", "pgd"])
def test_a_plane_is_crossed_by_a_ball_that_reaches_it(run, origin, method):
    """From the first row the plane is 0.5 away in every feature, from the second 0.375."""
    for epsilon, changed in ((0.37, [False, False]), (0.45, [False, True]), (0.51, [True, True])):
        result, _, done = run(PLANE, origin, "--method", method, "--epsilon", epsilon)
        assert [row["success"] for row in result["rows"][:2]] == changed
        assert all(row["distortion_linf"] <= epsilon + 1e-12 for row in result["rows"])
        assert result["options"]["radius"] is None and result["options"]["gradient"]["norm"] == "linf"
    assert f"{method} changed the class of 2 of 3 rows" in done.stdout


@pytest.mark.parametrize("options", [["--method", "cw", "--steps", 300, "--constant", 5], ["--method", "lbfgs"]])
def test_the_nearest_row_is_found(run, origin, options):
    result, _, _ = run(PLANE, origin, *options)
    for row, distance in zip(result["rows"], (1, 0.75)):
        assert row["success"] and row["distortion_l2"] * 2 == pytest.approx(distance, rel=0.02)
    assert result["options"]["gradient"]["norm"] == "l2"


def test_rows_come_to_a_target(run, origin):
    result, rows, done = run(PLANE, origin, "--method", "pgd", "--epsilon", 0.51, "--target", 0, "--against", "bim")
    assert [(row["target"], row["outcome"]) for row in result["rows"][:3]] == [(0, "changed")] * 2 + [(0, "already")]
    assert [row["target"] for row in rows] == ["0"] * 6
    assert [m["rows"] for m in result["summary"]["methods"]] == [2, 2]
    assert result["summary"]["comparison"]["rows"] == 2
    assert "pgd brought 2 of 2 rows to their target, bim 2" in done.stdout
    assert "1 not attacked, being of the target's class" in done.stdout


def test_a_control_beside_gradients(run, origin):
    result, _, _ = run(PLANE, origin, "--method", "bim", "--epsilon", 0.51, "--against", "random", "--radius", 0.1)
    assert [m["changed"] for m in result["summary"]["methods"]] == [2, 0]


def test_a_target_that_does_not_exist(harmonia, origin):
    done = harmonia("attack", PLANE, origin, "--method", "pgd", "--epsilon", 1, "--target", 2)
    assert done.returncode == 2
    assert done.stderr == f"harmonia: target 2; model {PLANE} has the classes 0 to 1\n"


def test_gradients_are_in_the_forecast(harmonia, origin):
    for options, each in ((["pgd", "--epsilon", 1], 12), (["fgsm", "--epsilon", 1], 3), (["cw"], 101), (["lbfgs", "--steps", 7], 99)):
        done = harmonia("attack", PLANE, origin, "--method", *options, "--dry-run")
        assert done.stdout.startswith(f"3 rows × at most {each} evaluations"), done.stdout


def test_images_are_written(run, tmp_path):
    """Rows of 5 × 6 pixels: PNG files of those that changed, and in the result."""
    (tmp_path / "zeros.csv").write_text(",".join(f"x{j}" for j in range(30)) + "\n" + 3 * (",".join(["0"] * 30) + "\n"))
    result, _, _ = run(LINEAR, tmp_path / "zeros.csv", "--radius", 1, "--image", "5x6", "--lower", 0, "--upper", 1, "--pictures", tmp_path / "out")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [f"row-{i}-{kind}.png" for i in range(3) for kind in ("adversarial", "strip")]
    size = lambda data: struct.unpack(">II", data[16:24])  # noqa: E731
    assert size((tmp_path / "out" / "row-0-adversarial.png").read_bytes()) == (6, 5)
    assert size((tmp_path / "out" / "row-0-strip.png").read_bytes())[0] > 6 * 96
    shown = result["shown"][0]
    assert size(base64.b64decode(shown["png"])) == (6, 5)
    assert shown["png"] != shown["adversarial_png"]
    assert [s["step"] for s in shown["strip"]] == [1, 2, 3, 4] and {s["class"] for s in shown["strip"]} == {0}


def test_probabilities_of_images_are_attacked_before_their_softmax(run, root):
    """The description beside the network says that it answers with probabilities; gamma and attack take its logits."""
    digits = root / "examples" / "digits"
    result, _, _ = run(digits / "net.onnx", digits / "photos", "--radius", 120, "--steps", 2, "--candidates", 4)
    assert result["options"]["margin"] is True
    assert any(not 0 <= row["first_logit"] <= 1 for row in result["rows"])
