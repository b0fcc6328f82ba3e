"""The report in a real browser: what it shows is what the results say, and nothing in them can do harm."""

import json
import os
import shutil
import subprocess

import pytest

from support.pages import SHOWN, data_of

HARMONIA_MODEL = "cmd:python3 -uc 'import sys\nfor l in sys.stdin:\n a,b=map(float,l.split(\",\")); print(\"1,0\" if a*a+b>1 else \"0,1\")'"


@pytest.fixture(scope="module")
def gamma_page(harmonia, tmp_path_factory):
    """A classifier with a curved boundary on a grid: (result, page)."""
    folder = tmp_path_factory.mktemp("gamma")
    done = harmonia("gamma", HARMONIA_MODEL, "grid:-1..1x41,-1..2x31", "--radius", "0.1", "--json", folder / "result.json", "--html", folder / "report.html")
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "result.json").read_text()), folder / "report.html"


@pytest.fixture(scope="module")
def several_page(harmonia, tmp_path_factory):
    """A comparison, two sweeps and a run on wide rows on one page: (results, page)."""
    folder = tmp_path_factory.mktemp("several")
    runs = {
        "compare": ["compare", "fn:f2", "fn:f3", "fn:f4", "grid:0..1x15,0..1x11", "--radius", "0.3"],
        "sweep2": ["sweep", "fn:f2", "uniform:50", "--radii", "log:0.1..1x5"],
        "sweep4": ["sweep", "fn:f4", "uniform:50", "--radii", "log:0.1..1x5"],
        "gamma": ["gamma", "fn:f4?n=60", "uniform:200", "--radius", "0.5", "--ball", "cross", "--sample", "12", "--explain", "3"],
    }
    for name, arguments in runs.items():
        done = harmonia(*arguments, "--json", folder / f"{name}.json")
        assert done.returncode == 0, done.stderr
    page = folder / "report.html"
    done = harmonia("report", *(folder / f"{name}.json" for name in runs), "-o", page)
    assert (done.returncode, done.stdout) == (0, f"{page}\n")
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in runs}, page


def test_numbers_equal_the_result(gamma_page, look):
    result, page = gamma_page
    shown = look(page, script=SHOWN + """
      const tables = all(document, "table").map((t) => [t.caption.innerText, all(t, "tbody tr").map(numbers)]);
      return { cards: numbers(document.querySelector(".cards")), tables, text: document.body.innerText, title: document.title };
    """)
    g = result["summary"]["gamma"]
    assert shown["cards"] == [g[k] for k in ("mean", "low", "high", "rms", "relative", "rows") if g[k] is not None]
    worst = next(rows for caption, rows in shown["tables"] if "largest" in caption)
    assert worst == [[w["gamma"], w["value"], *w["values"].values()] for w in result["summary"]["worst"]]
    assert len(worst) == 10
    zeros = sum(row["gamma"] == 0 for row in result["rows"])
    assert 0 < zeros < len(result["rows"])
    assert f"{zeros:,} (" in shown["text"] and "have γ = 0" in shown["text"]
    assert "1,271 rows exact: every point of the ball was asked" in shown["text"]
    assert result["command_line"] in shown["text"]
    assert shown["title"].startswith(HARMONIA_MODEL.replace("\n", " ")[:20]) and "grid:-1..1x41,-1..2x31" in shown["title"]


def test_marks_are_there(gamma_page, look):
    result, page = gamma_page
    (data,) = data_of(page)
    shown = look(page, script=SHOWN + """
      const plots = all(document, ".plot");
      return {
        labels: plots.map((p) => p.getAttribute("aria-label")),
        raster: all(document, "g[aria-label=raster] image").length,
        contours: all(document, "g[aria-label=contour] path").filter((p) => (p.getAttribute("d") ?? "") !== "").length,
        bars: all(document, "g[aria-label=rect] rect").length,
        swatches: all(document, ".legend li").map((e) => e.innerText),
      };
    """)
    assert [label.split(" of ")[0] for label in shown["labels"]] == ["decision regions", "gamma contours", "γ from 0 to " + shown["labels"][2][12:], "histogram"]
    assert shown["raster"] == 1
    assert shown["contours"] >= 9
    assert shown["swatches"] == ["class 0", "class 1"]
    kind = "logarithmic" if data["histogram"]["logarithmic"]["to"] - data["histogram"]["logarithmic"]["from"] > 1.5 else "linear"
    assert shown["bars"] == sum(count > 0 for count in data["histogram"][kind]["counts"])


def test_the_picture_is_that_of_the_rows(gamma_page):
    result, page = gamma_page
    (data,) = data_of(page)
    picture = data["picture"]
    assert (picture["kind"], picture["across"], picture["up"]) == ("grid", 41, 31)
    assert picture["x"] == pytest.approx([-1.025, 1.025]) and picture["y"] == pytest.approx([-1.05, 2.05])
    (model,) = picture["models"]
    for row in result["rows"]:
        cell = round((row["x"][1] + 1) / 0.1) * 41 + round((row["x"][0] + 1) / 0.05)
        assert model["gamma"][cell] == pytest.approx(row["gamma"], rel=1e-5)
        assert model["class"][cell] == row["class"]
    histogram = data["histogram"]
    assert histogram["zeros"] == sum(row["gamma"] == 0 for row in result["rows"])
    for kind in ("linear", "logarithmic"):
        assert sum(histogram[kind]["counts"]) + histogram["zeros"] + histogram["missing"] == histogram["entries"] == 1271


def test_light_dark_and_the_button(gamma_page, look):
    _, page = gamma_page
    script = """
      const colours = () => [getComputedStyle(document.body).backgroundColor, document.querySelector("g[aria-label=rect]").getAttribute("fill")];
      const before = colours();
      document.querySelector("button.theme").click();
      return [before, colours()];
    """
    light, dark = look(page, scheme="light", script=script), look(page, scheme="dark", script=script)
    assert light == dark[::-1]
    assert light[0][0] == "rgb(253, 253, 251)" and light[0][0] != light[1][0] and light[0][1] != light[1][1]


@pytest.mark.parametrize("width", [360, 768, 1400])
def test_no_page_is_wider_than_its_window(gamma_page, several_page, look, width):
    for page in (gamma_page[1], several_page[1]):
        script = "for (const d of document.querySelectorAll('details')) d.open = true; return [document.documentElement.scrollWidth, document.querySelectorAll('svg').length]"
        found, plots = look(page, width=width, script=script)
        assert found <= width and plots >= 4


def test_several_results_on_one_page(several_page, look):
    results, page = several_page
    shown = look(page, script=SHOWN + """
      const article = (i) => document.getElementById(`result-${i}`);
      return {
        links: all(document, "nav a").map((a) => a.innerText),
        models: all(article(1).querySelector("table"), "tbody tr").map((r) => [r.cells[0].innerText, r.cells[1].innerText, ...numbers(r)]),
        maps: all(article(1), ".model").length,
        dots: all(article(1), "g[aria-label=dot] circle").length,
        pairs: (() => { const d = article(1).querySelector("details"); d.open = true; return all(d, "tbody tr").map(numbers); })(),
        lines: all(article(2), "g[aria-label=line] path").length,
        points: all(article(2), "g[aria-label=dot] circle").length,
        bands: all(article(2), "g[aria-label=area] path").length,
        second: all(article(3), "svg").length,
        radii: all(article(3).querySelector("table"), "tbody tr").map(numbers),
        worst: all(article(4), "th").map((e) => e.innerText),
        text: article(1).innerText,
      };
    """)
    compare, sweep = results["compare"], results["sweep4"]
    assert len(shown["links"]) == 4
    ranked = sorted(compare["models"], key=lambda m: m["rank"])
    for row, model in zip(shown["models"], ranked, strict=True):
        g = model["gamma"]
        assert row == [str(model["rank"]), model["name"], *[g[k] for k in ("mean", "low", "high", "rms", "relative") if g[k] is not None]]
    assert shown["pairs"] == [[p["difference"], p["low"], p["high"]] for p in compare["rows"]]
    assert shown["maps"] == 3
    assert shown["dots"] == 3 + 3  # models, pairs
    assert compare["summary"]["text"] in shown["text"]
    assert (shown["lines"], shown["points"], shown["bands"], shown["second"]) == (2, 10, 2, 0)
    keys = ("radius", "mean", "low", "high", "rms", "relative")
    expected = [[row[k] for k in keys] for row in sweep["rows"]]
    for got, row in zip(shown["radii"], expected, strict=True):
        assert got == [v for k, v in zip(keys, row) if not (k in ("low", "high") and row[2] == row[3])]
    assert "x7" in shown["worst"] and "x8" not in shown["worst"]


def test_headings_captions_and_labels(several_page, look):
    shown = look(several_page[1], script=SHOWN + """
      return {
        headings: all(document, "h1, h2, h3, h4").map((e) => Number(e.tagName[1])),
        uncaptioned: all(document, "table").filter((t) => !t.caption?.textContent).length,
        unlabelled: all(document, ".plot, button").filter((e) => !(e.getAttribute("aria-label") || e.innerText)).length,
        lang: document.documentElement.lang,
      };
    """)
    assert shown["headings"].count(1) == 1 and shown["headings"][0] == 1
    assert all(b <= a + 1 for a, b in zip(shown["headings"], shown["headings"][1:]))
    assert (shown["uncaptioned"], shown["unlabelled"], shown["lang"]) == (0, 0, "en")


def test_it_prints(several_page, look, tmp_path):
    look(several_page[1], scheme="dark", print=tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)"><!-- \u2028 {{}} ${1}'


def test_hostile_names_are_text(several_page, harmonia, look, tmp_path):
    results, _ = several_page

    def spoil(value):
        if isinstance(value, dict):
            return {k if k in known else f"{k}{HOSTILE}": spoil(v) for k, v in value.items()}
        if isinstance(value, list):
            return [spoil(v) for v in value]
        return f"{value}{HOSTILE}" if isinstance(value, str) and value not in kept else value

    known = {k for r in results.values() for k in [*r, *r["summary"], *r["data"], *r["options"], *r.get("model", {}), *r["rows"][0]]}
    known |= {"name", "x", "models", "gamma", "mean", "low", "high", "rank", "rms", "values", "exact", "sampled"}
    kept = {"harmonia/1", "compare", "sweep", "gamma"}
    paths = []
    for name, result in results.items():
        result = json.loads(json.dumps(result))
        result["summary"]["warnings"] = ["careful"]
        result["summary"]["segments"] = {"by": "town", "values": [{"value": "north", "rows": 3, "mean": 0.1, "low": 0.05, "high": 0.2}]}
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(spoil(result)))
    page = tmp_path / "report.html"
    assert harmonia("report", *paths, "-o", page).returncode == 0
    shown = look(page, width=360, script="""
      await new Promise((done) => setTimeout(done, 300));
      return [document.images.length, document.scripts.length, document.documentElement.scrollWidth, document.body.innerText];
    """)
    assert shown[:3] == [0, 2, 360]
    assert shown[3].count("<img src=x onerror=") > 20
    one = tmp_path / "one.html"
    assert harmonia("report", paths[-1], "-o", one).returncode == 0
    assert look(one, script="return [document.images.length, document.title]")[1].count("<img src=x") >= 2
    assert "default-src 'none'" in one.read_text()


@pytest.mark.parametrize("data, says", [
    ("uniform:120000", "averaged over 120 × 80 cells"),
    ("grid:0..1x500,0..1x300", "each point drawn stands for 2 × 2 of them"),
])
def test_many_rows_stay_a_small_page(harmonia, look, tmp_path, data, says):
    page = tmp_path / "report.html"
    done = harmonia("gamma", "fn:f4", data, "--radius", "0.3", "--html", page, "--quiet")
    assert done.returncode == 0, done.stderr
    assert page.stat().st_size < 3_000_000
    text, images = look(page, script="return [document.body.innerText, document.querySelectorAll('svg').length]")
    assert says in text and images >= 3
    (picture,) = [d["picture"] for d in data_of(page)]
    for model in picture["models"]:
        gammas = [g for g in model["gamma"] if g is not None]
        assert 8000 < len(gammas) <= 40000


def test_scattered_rows(harmonia, look, tmp_path):
    """Few are dots; many that fill their box evenly are areas; many that do not are dots still."""
    page, data = tmp_path / "report.html", tmp_path / "rows.csv"
    marks = "return [document.querySelectorAll('g[aria-label=raster] image').length, document.querySelectorAll('g[aria-label=dot] circle').length]"
    assert harmonia("gamma", "fn:f4", "uniform:500", "--radius", "0.3", "--html", page).returncode == 0
    assert look(page, script=marks) == [0, 1000]
    assert harmonia("gamma", "fn:f4", "uniform:3000", "--radius", "0.3", "--html", page).returncode == 0
    assert look(page, script=marks) == [2, 0]
    data.write_text("a,b\n" + "".join(f"{i % 37},{i % 37 + (i % 41) / 100}\n" for i in range(1500)))
    assert harmonia("gamma", "fn:f2", data, "--radius", "0.3", "--html", page).returncode == 0
    assert look(page, script=marks) == [0, 3000]


def test_rows_of_one_feature_are_a_line(harmonia, look, tmp_path):
    page = tmp_path / "report.html"
    assert harmonia("gamma", "fn:f3?n=1", "grid:0..6x50", "--radius", "0.5", "--html", page).returncode == 0
    assert look(page, script="return document.querySelectorAll('g[aria-label=line] path').length") == 2


def test_only_what_was_measured_whole_is_exact(harmonia, look, tmp_path):
    """A sample whose pairs all say the same has an interval of no width, and is a sample still."""
    path, page = tmp_path / "result.json", tmp_path / "report.html"

    def shown(*arguments):
        assert harmonia(*arguments, "--radius", "0.1", "--json", path).returncode == 0
        result = json.loads(path.read_text())
        for statistics in [*(m["gamma"] for m in result.get("models", [])), *([] if "models" in result else [result["summary"]["gamma"]])]:
            statistics["low"] = statistics["high"] = statistics["mean"]
        path.write_text(json.dumps(result))
        assert harmonia("report", path, "-o", page).returncode == 0
        return look(page, script="return (document.querySelector('.cards') ?? document.querySelector('table')).innerText")

    sampled = ["--ball", "cross", "--sample", "20"]
    assert "exact" in shown("gamma", "fn:f2?n=40", "uniform:20")
    assert "exact" not in shown("gamma", "fn:f2?n=40", "uniform:20", *sampled)
    assert "exact" in shown("compare", "fn:f2?n=40", "fn:f3?n=40", "uniform:20")
    table = shown("compare", "fn:f2?n=40", "fn:f3?n=40", "uniform:20", *sampled)
    assert "exact" not in table and table.count("20 sampled") == 2


def test_html_alone_leaves_nothing_behind(harmonia, tmp_path):
    (tmp_path / "tmp").mkdir()
    done = harmonia("gamma", "fn:f2", "uniform:5", "--radius", "0.1", "--html", tmp_path / "report.html", env={**os.environ, "TMPDIR": str(tmp_path / "tmp")})
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(tmp_path)) == ["report.html", "tmp"] and os.listdir(tmp_path / "tmp") == []


def test_bad_results_are_one_line(harmonia, tmp_path):
    good = tmp_path / "good.json"
    assert harmonia("gamma", "fn:f2", "uniform:5", "--radius", "0.1", "--json", good).returncode == 0
    text = good.read_text()
    page = tmp_path / "report.html"
    cases = {
        "cut": (text[: len(text) // 2], "breaks off after"),
        "schema": (text.replace("harmonia/1", "harmonia/9"), "has schema 'harmonia/9'; this version reads harmonia/1"),
        "words": ("not JSON", "is no result: expected"),
        "empty": ("", "is empty; expected a result"),
        "type": (text.replace('"gamma":', '"gamma":"high","g":', 1), "gamma is the text 'high'; expected a number"),
        "frame": (text.replace('"summary"', '"sum"'), "has no 'summary'"),
        "model": (text.replace('"path"', '"way"'), "model has no 'path'"),
    }
    for name, (content, message) in cases.items():
        path = tmp_path / f"{name}.json"
        path.write_text(content)
        done = harmonia("report", path, "-o", page)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, name
        assert done.stderr.startswith(f"harmonia: {path}") and message in done.stderr, done.stderr
        assert not page.exists()
    done = harmonia("report", tmp_path / "no.json", "-o", page)
    assert (done.returncode, done.stderr) == (2, f"harmonia: {tmp_path / 'no.json'}: no such file\n")
    done = harmonia("report", good, "-o", good)
    assert (done.returncode, done.stderr) == (2, f"harmonia: {good} is named twice; expected a file of its own for the page\n")
    assert harmonia("report").returncode == 2


def test_without_npm_the_build_says_so(root, tmp_path):
    """What `harmonia report` prints where the page could not be bundled; the next build tries again."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("bash", "cat", "sha256sum", "mkdir", "sed", "cmp", "mv", "touch", "dirname"):
        (tools / tool).symlink_to(shutil.which(tool))
    done = subprocess.run([root / "web" / "bundle.sh", tmp_path / "out"], env={"PATH": str(tools), "HOME": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr == "web: node is not installed (Debian: nodejs, npm); the program is built without pages\n"
    written = tmp_path / "out" / "report_assets.cpp"
    assert '"this build has no report: node is not installed (Debian: nodejs, npm)"' in written.read_text()
    assert os.listdir(tmp_path / "out") == ["report_assets.cpp"]


def test_the_lock_file_names_no_registry(root):
    lock = json.loads((root / "web" / "package-lock.json").read_text())
    assert len(lock["packages"]) > 20
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]
    wanted = json.loads((root / "web" / "package.json").read_text())
    for name, version in {**wanted["dependencies"], **wanted["devDependencies"]}.items():
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
