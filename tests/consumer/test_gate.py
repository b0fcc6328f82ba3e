"""`gate` and `card`: exit codes, JUnit XML, model cards."""

import json
import xml.etree.ElementTree as ElementTree

import jsonschema
import pytest


@pytest.fixture(scope="module")
def results(harmonia, root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")

    def make(name, *arguments):
        done = harmonia(*arguments, "--json", folder / f"{name}.json", "--quiet")
        assert done.returncode == 0, done.stderr
        return folder / f"{name}.json"

    return {
        "f2": make("f2", "gamma", "fn:f2", "uniform:100", "--radius", "0.1"),  # 0.01 everywhere
        "f4": make("f4", "gamma", "fn:f4", "uniform:100", "--radius", "0.1"),  # 0.015, from row to row
        "f4_other": make("f4_other", "gamma", "fn:f4", "uniform:100", "--radius", "0.1", "--seed", "2"),
        "f4_all": make("f4_all", "gamma", "fn:f4", "uniform:100", "--radius", "0.1", "--output", "all"),
        "wide": make("wide", "gamma", "fn:f4", "uniform:100", "--radius", "0.2"),
        "compare": make("compare", "compare", "fn:f2", "fn:f4", "uniform:100", "--radius", "0.1"),
        "booster": make("booster", "gamma", root / "examples/booster.json", root / "examples/rows.csv", "--id", "customer", "--radius", "1"),
        "booster_margin": make("booster_margin", "gamma", root / "examples/booster.json", root / "examples/rows.csv", "--id",
                               "customer", "--radius", "1", "--margin"),
        "sweep": make("sweep", "sweep", "fn:f4", "uniform:100", "--radii", "0.1,0.2"),
    }


@pytest.mark.parametrize(
    "name, limit, code, said",
    [
        ("f4", 0.03, 0, "passed: mean gamma"),
        ("f4", 0.01, 1, "failed: mean gamma"),
        ("f4", 0.015, 4, "inconclusive: mean gamma"),
        ("f2", 0.0100001, 0, "passed"),
        ("f2", 0.0099999, 1, "failed"),
        ("compare", 0.03, 0, "passed: mean gamma of fn:f2?n=2"),
        ("compare", 0.012, 1, "failed: mean gamma of fn:f4?n=2"),
        ("compare", 0.015, 4, "inconclusive: mean gamma of fn:f4?n=2"),
    ],
)
def test_limits(harmonia, results, name, limit, code, said):
    done = harmonia("gate", results[name], "--max-gamma", limit)
    assert done.returncode == code, done.stderr
    assert said in done.stdout
    assert harmonia("gate", results[name], "--max-gamma", limit, "--quiet").stdout == ""


def test_it_says_how_many_rows(harmonia, tmp_path):
    for rows, text in ((1, "1 row"), (3, "3 rows")):
        path = tmp_path / "result.json"
        assert harmonia("gamma", "fn:f1", f"uniform:{rows}", "--radius", "0.1", "--json", path).returncode == 0
        done = harmonia("gate", path, "--max-gamma", "0.001")
        assert done.returncode == 0 and done.stdout.endswith(f"] over {text} is at most 0.001\n")


def test_against_a_baseline(harmonia, results):
    same = harmonia("gate", results["f4"], "--against", results["f4"])
    assert same.returncode == 0 and "(paired over 100 rows) 0 [0, 0] is at most 0" in same.stdout
    worse = harmonia("gate", results["f4"], "--against", results["f2"])
    assert worse.returncode == 1 and "paired over 100 rows" in worse.stdout
    allowed = harmonia("gate", results["f4"], "--against", results["f2"], "--max-increase", "0.01")
    assert allowed.returncode == 0
    better = harmonia("gate", results["f2"], "--against", results["f4"], "--max-gamma", "0.0001")
    assert better.returncode == 1 and better.stdout.splitlines()[1].startswith("passed: increase of mean gamma")
    other = harmonia("gate", results["f4"], "--against", results["f4_other"])
    assert other.returncode == 4 and "two independent samples" in other.stdout


def test_paired_differences_are_those_of_compare(harmonia, results):
    pair = json.loads(results["compare"].read_text())["rows"][0]
    done = harmonia("gate", results["f2"], "--against", results["f4"])
    assert f"{pair['difference']:.4g} [{pair['low']:.4g}, {pair['high']:.4g}]" in done.stdout


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["f4"], "nothing to hold the result against; expected --max-gamma, --against or both"),
        (["f4", "--against", "wide"], "has radius 0.1, "),
        (["f4", "--against", "f4_all"], 'has output "predicted", '),
        (["f4", "--max-gamma", "nan"], "harmonia: --max-gamma: 'nan'; expected a number that is not negative"),
        (["f4", "--max-gamma", "inf"], "harmonia: --max-gamma: 'inf'; expected a number that is not negative"),
        (["f4", "--max-gamma", "-1"], "harmonia: --max-gamma: '-1'; expected a number that is not negative"),
        (["f4", "--against", "f4", "--max-increase", "nan"], "harmonia: --max-increase: 'nan'; expected a number"),
        (["sweep", "--max-gamma", "1"], "sweep"),
        (["compare", "--against", "f4"], "compare"),
        (["booster_margin", "--against", "booster"], "has margin "),
    ],
)
def test_what_cannot_be_gated(harmonia, results, arguments, message):
    done = harmonia("gate", *[results.get(a, a) for a in arguments])
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert message in done.stderr


def test_junit(harmonia, results, tmp_path):
    xml = tmp_path / "gate.xml"
    done = harmonia("gate", results["compare"], "--max-gamma", "0.015", "--junit", xml)
    assert done.returncode == 4
    root = ElementTree.parse(xml).getroot()
    assert root.tag == "testsuites"
    (suite,) = root
    assert {k: suite.get(k) for k in ("tests", "failures", "errors", "skipped")} == {"tests": "2", "failures": "0", "errors": "1", "skipped": "0"}
    first, second = suite.findall("testcase")
    assert first.get("classname") == "harmonia.gate" and first.get("name") == "mean gamma of fn:f2?n=2"
    assert first.find("failure") is None and first.find("error") is None
    assert second.find("error").get("type") == "inconclusive"
    assert second.find("error").get("message") in done.stdout
    assert harmonia("gate", results["f4"], "--max-gamma", "0.01", "--junit", xml).returncode == 1
    (case,) = ElementTree.parse(xml).getroot().iter("testcase")
    assert case.find("failure").get("message").startswith("mean gamma 0.01")


def test_junit_of_names_that_xml_has_no_letters_for(harmonia, results, tmp_path):
    result = json.loads(results["compare"].read_text())
    result["models"][0]["name"] = 'a<b> & "c" \x01\x1b[31m ✓'
    path, xml = tmp_path / "odd.json", tmp_path / "gate.xml"
    path.write_text(json.dumps(result))
    assert harmonia("gate", path, "--max-gamma", "1", "--junit", xml).returncode == 0
    name = next(ElementTree.parse(xml).getroot().iter("testcase")).get("name")
    assert 'a<b> & "c" ' in name and "✓" in name


@pytest.mark.parametrize("name", ["f4", "f4_all", "compare", "sweep"])
def test_cards(harmonia, root, results, name, tmp_path):
    result = json.loads(results[name].read_text())
    card = tmp_path / "card.md"
    assert harmonia("card", results[name], "-o", card).returncode == 0
    text = card.read_text()
    assert text.startswith("## Harmonic robustness\n")
    assert result["command_line"] in text and "| seed | 1 |" in text
    assert "A small γ does not say that the model is right" in text
    if name == "f4":
        gamma = result["summary"]["gamma"]
        assert f"| all rows | {gamma['mean']:.4g} | [{gamma['low']:.4g}, {gamma['high']:.4g}] |" in text
    else:
        assert result["summary"].get("text", "") in text.replace("\\", "")
    schema = json.loads((root / "docs" / "card.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    done = harmonia("card", results[name], "--format", "json")
    read = json.loads(done.stdout)
    jsonschema.validate(read, schema)
    assert read["of"] == result["command"] and read["options"]["seed"] == 1


def test_a_card_of_something_else(harmonia, tmp_path):
    path = tmp_path / "other.json"
    path.write_text('{"schema": "other"}')
    done = harmonia("card", path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_bad_result_files(harmonia, results, tmp_path):
    text = results["f4"].read_text()
    path = tmp_path / "cut.json"
    for broken in ("", "[]", text[: len(text) // 2], text.replace('"gamma":', '"gama":'), text.replace('"summary"', '"sumary"')):
        path.write_text(broken)
        for command in (["gate", path, "--max-gamma", "1"], ["card", path]):
            done = harmonia(*command)
            assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
