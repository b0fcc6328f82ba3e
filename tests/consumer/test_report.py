"""The report in a real browser: what it shows is what the results say, and nothing in them can do harm."""

import json
import os
import re
import shutil
import subprocess

import pytest

HARMONIA_MODEL = "cmd:python3 -uc 'import sys\nfor l in sys.stdin:\n a,b=map(float,l.split(\",\")); print(\"1,0\" if a*a+b>1 else \"0,1\")'"


@pytest.fixture(scope="session")
def look(root):
    """Opens a page: look(path, width=360, scheme="dark", script="return document.title"). No page may say anything on the
    console or ask for anything."""
    modules = subprocess.run([root / "web" / "bundle.sh", "--modules"], capture_output=True, text=True, timeout=300)
    assert modules.returncode == 0, modules.stderr
    browser = subprocess.Popen(
        ["node", root / "web" / "browser.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "NODE_PATH": modules.stdout.strip()},
    )

    def ask(page, **request):
        browser.stdin.write(json.dumps({"page": str(page), **{k: str(v) if k in ("screenshot", "print") else v for k, v in request.items()}}) + "\n")
        browser.stdin.flush()
        answer = json.loads(browser.stdout.readline())
        assert "error" not in answer, answer["error"]
        assert answer["console"] == []
        assert answer["requests"] == []
        return answer.get("value")

    yield ask
    browser.stdin.close()
    browser.wait(timeout=60)


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


def data_of(page) -> list[dict]:
    """What the program gave the page."""
    return json.loads(re.search(r'id="results">(.*?)</script>', page.read_text(), re.DOTALL).group(1))


SHOWN = """
const all = (within, what) => [...within.querySelectorAll(what)];
const numbers = (within) => all(within, "data").map((e) => Number(e.getAttribute("value")));
"""


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
    assert done.stderr == "web: node is not installed (Debian: nodejs, npm); the program is built without the report\n"
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


@pytest.fixture(scope="module")
def stability_page(harmonia, tmp_path_factory):
    """Curves around three rows that are pictures of 1 × 2 pixels: (result, page)."""
    folder = tmp_path_factory.mktemp("stability")
    done = harmonia("stability", "fn:ball-class?n=2&r=1", "uniform:3", "--sigma", "0.1..2x12", "--samples", "200", "--image", "1x2",
                    "--json", folder / "result.json", "--html", folder / "report.html")
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "result.json").read_text()), folder / "report.html"


@pytest.mark.parametrize("width, scheme", [(360, "light"), (1000, "dark")])
def test_stability_curves_are_those_of_the_chosen_row(stability_page, look, width, scheme):
    result, page = stability_page
    shown = look(page, width=width, scheme=scheme, script=SHOWN + """
      const part = document.querySelector(".stability");
      const table = () => all([...part.querySelectorAll("table")].pop(), "tbody tr").map((r) => numbers(r)[1]);
      const first = table();
      part.querySelectorAll(".choice button")[2].click();
      return { first, third: table(), lead: part.querySelector(".lead").textContent, samples: all(part, ".sample canvas").length,
               captions: all(part, ".sample figcaption").map((c) => c.textContent), svgs: all(part, ".plot svg").length,
               wide: document.documentElement.scrollWidth <= innerWidth };
    """)
    assert shown["first"] == [row["probability"] for row in result["rows"][:12]]
    assert shown["third"] == [row["probability"] for row in result["rows"][24:]]
    assert shown["lead"].lower().startswith(result["summary"]["text"].lower())
    assert shown["samples"] == 9 and shown["captions"][0].startswith("the row") and shown["svgs"] == 2 and shown["wide"]


def test_stability_question_on_the_page(harmonia, look, tmp_path):
    page = tmp_path / "report.html"
    assert harmonia("stability", "fn:half-space?d=1", "uniform:40", "--sigma", "1", "--gamma", "0.7", "--html", page).returncode == 0
    words = look(page, script="return document.querySelector('.stability').innerText")
    assert "Stable or not" in words and "(0.7, 1)-stable" in words and "borderline" in words


@pytest.mark.parametrize("width, scheme", [(360, "dark"), (1000, "light")])
def test_persistence_of_two_groups_and_along_a_path(harmonia, look, tmp_path, width, scheme):
    page = tmp_path / "groups.html"
    done = harmonia("persistence", "fn:ball-class?n=2&r=1", "uniform:40", "--against", "grid:0.9..1.1x5,0..0x2", "--gamma", "0.6,0.7",
                    "--json", tmp_path / "groups.json", "--html", page)
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "groups.json").read_text())["summary"]
    shown = look(page, width=width, scheme=scheme, script=SHOWN + """
      const part = document.querySelector(".persistence");
      const words = part.innerText;
      part.querySelectorAll(".choice button")[1].click();
      return { words, again: part.innerText, bars: all(part, ".plot svg rect").length, svgs: all(part, ".plot svg").length,
               least: numbers([...part.querySelectorAll("table tbody tr")][0]), wide: document.documentElement.scrollWidth <= innerWidth };
    """)
    assert summary["text"][4:] in shown["words"] and "For γ 0.6" in shown["words"] and "For γ 0.7" in shown["again"]
    assert "Telling the rows from the others" in shown["words"] and shown["bars"] > 4 and shown["svgs"] >= 2 and shown["wide"]
    assert summary["least"][0]["sigma"] in shown["least"]
    ends = tmp_path / "ends.csv"
    ends.write_text("0,0\n3,0\n")
    done = harmonia("persistence", "fn:ball-class?n=2&r=1", "--between", f"{ends}#0", f"{ends}#1", "--steps", "20", "--gamma", "0.7",
                    "--html", page)
    assert done.returncode == 0, done.stderr
    words = look(page, width=width, scheme=scheme, script="return document.querySelector('.persistence').innerText")
    assert "Class 1 becomes 0 between t = 0.3 and 0.35" in words and "class 0" in words and "Along the path" in words


def test_crossings_of_boundaries(harmonia, root, look, tmp_path):
    wines = root / "examples" / "wine" / "wines.csv"
    for model in ("mlp-2", "gbdt-2"):
        done = harmonia(
            "boundary", root / "examples" / "wine" / f"{model}.onnx", wines, f"{wines}#100", "--label", "class",
            "--json", tmp_path / f"{model}.json", "--html", tmp_path / f"{model}.html",
        )
        assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "mlp-2.json").read_text())
    angle = result["summary"]["angle"]
    script = SHOWN + """
      const tables = all(document, "table").map((t) => [t.caption.innerText, all(t, "tbody tr").map(numbers)]);
      const ways = all(document, ".plot").find((p) => p.getAttribute("aria-label") === "classes along the segments");
      return { tables, labels: all(document, ".plot").map((p) => p.getAttribute("aria-label")), text: document.body.innerText,
               ticks: all(ways, "g[aria-label=rule] line").length, wedges: all(document, "g[aria-label=line] path[fill-opacity], g[fill-opacity] path").length,
               wide: document.documentElement.scrollWidth > innerWidth };
    """
    for width, scheme in ((1000, "light"), (360, "dark")):
        shown = look(tmp_path / "mlp-2.html", width=width, scheme=scheme, script=script)
        assert not shown["wide"]
        assert shown["labels"] == ["angles of the segments with the boundary on a quarter circle", "classes along the segments"]
        degrees = [n for row in next(rows for caption, rows in shown["tables"] if caption == "Degrees") for n in row]
        assert degrees == [angle["mean"], angle["low"], angle["high"], *angle["quantiles"].values(), angle["error_median"], angle["error_max"]]
        assert result["summary"]["text"] in shown["text"] and "128 rows crossing: the class changes there" in shown["text"]
        drawn = {row["row"] for row in result["rows"] if row["t"] is not None}
        first = sorted(drawn)[:40]
        assert shown["ticks"] == sum(row["row"] in first and row["t"] is not None for row in result["rows"])
        assert shown["wedges"] == sum(count > 0 for count in angle["histogram"])
        assert "γ" not in shown["text"]
    done = harmonia("report", tmp_path / "mlp-2.json", tmp_path / "gbdt-2.json", "-o", tmp_path / "both.html")
    assert done.returncode == 0, done.stderr
    both = look(tmp_path / "both.html", script='return [...document.querySelectorAll(".plot")].map((p) => p.getAttribute("aria-label"))')
    assert both[0] == "mean angles, result by result" and both.count("classes along the segments") == 2


MAP_MODEL = "cmd:python3 -uc 'import sys\nfor l in sys.stdin:\n a,b,c=map(float,l.split(\",\")); print(f\"{a*a*a+b},{2*c-a},{a*b}\")'"


@pytest.fixture(scope="module")
def map_page(harmonia, tmp_path_factory):
    """A map of three classes: (result, page)."""
    folder = tmp_path_factory.mktemp("map")
    how = ["--region", "box:0..1,0..1,0..1", "--radius", "0.2", "--ball", "cross", "--steps", "2"]
    done = harmonia("map", MAP_MODEL, "grid:0..1x9,0..1x8,0..1x7", *how, "--json", folder / "result.json", "--html", folder / "report.html")
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "result.json").read_text()), folder / "report.html"


def test_map(map_page, look):
    result, page = map_page
    script = SHOWN + """
    const tables = all(document, "table").map((t) => all(t, "tr").map((r) => all(r, "th, td").map((c) => c.textContent)));
    return {tables, dots: document.querySelectorAll(".gammamap [aria-label=dot] path, .gammamap [aria-label=dot] circle").length,
            buttons: all(document, ".gammamap button").map((b) => b.textContent), text: document.body.textContent};
    """
    shown = look(page, script=script)
    validation = result["summary"]["validation"]
    assert shown["dots"] == len(result["rows"]) + len(validation["bins"])
    assert shown["buttons"] == ["rows", "density"]
    assert f"keep their class through 2 steps" in shown["text"]
    classes = next(t for t in shown["tables"] if t[0][:2] == ["class", "rows"])
    assert [row[0].split(" ")[0] for row in classes[1:]] == [g["class"] for g in result["summary"]["table"]["classes"]] + ["all"]
    held = next(t for t in shown["tables"] if t[0][0] == "AUROC of the map")
    assert float(held[0][1].split(" ")[0]) == pytest.approx(validation["auroc"]["value"], rel=1e-3)
    dense = look(page, scheme="dark", script="document.querySelectorAll('.gammamap button')[1].click(); return document.querySelectorAll('.gammamap [aria-label=rect] rect').length")
    density = data_of(page)[0]["density"]
    assert dense == sum(a + b > 0 for a, b in zip(density["stable"], density["unstable"])) > 10
    assert sum(density["stable"]) == sum(r["stable"] for r in result["rows"])


@pytest.mark.parametrize("width, scheme", [(360, "light"), (1000, "dark")])
def test_attacks_of_two_methods(harmonia, look, tmp_path, width, scheme):
    done = harmonia("attack", "fn:ball-class?n=6&r=1", "uniform:30", "--radius", "0.2", "--against", "boundary", "--steps", "8",
                    "--json", tmp_path / "result.json", "--html", tmp_path / "report.html")
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    shown = look(tmp_path / "report.html", width=width, scheme=scheme, script=SHOWN + """
      const part = document.querySelector(".attack");
      return { lead: part.querySelector(".lead").textContent, svgs: all(part, ".plot svg").length, words: part.innerText,
               numbers: numbers(all(part, "table tbody tr")[0]), wide: document.documentElement.scrollWidth <= innerWidth };
    """)
    assert shown["lead"].lower().startswith(result["summary"]["text"].lower())
    assert shown["svgs"] == 1 and shown["wide"]
    assert "gamma against boundary" in shown["words"] and "What was changed" in shown["words"]
    assert shown["numbers"][0] == result["summary"]["methods"][0]["share"]


def test_attacks_on_many_rows_say_what_is_left_out(harmonia, look, tmp_path):
    """Of 2,100 rows those from 2,050 on alone can change: the page has their classes, though it has not all rows."""
    (tmp_path / "rows.csv").write_text("name,a,b\n" + "".join(f"r{i},{-9 if i < 2050 else 0},0\n" for i in range(2100)))
    done = harmonia("attack", "fn:half-space?d=1", tmp_path / "rows.csv", "--id", "name", "--radius", "2", "--steps", "2", "--against", "random",
                    "--json", tmp_path / "result.json", "--html", tmp_path / "report.html")
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    gamma, random = result["summary"]["methods"]
    assert gamma["changed"] == 50 and random["changed"] == 50
    assert [s["id"] for s in result["shown"]] == 2 * [f"r{i}" for i in range(2050, 2062)]
    assert all((s["success"], s["changed"]) == (True, len(s["changes"])) and s["class"] != s["new_class"] for s in result["shown"])
    shown = look(tmp_path / "report.html", script="""
      for (const d of document.querySelectorAll("details")) d.open = true;
      const part = document.querySelector(".attack");
      const cells = (t) => [...t.querySelectorAll("tbody tr")].map((r) => [...r.children].map((c) => c.textContent));
      return { words: part.innerText, tables: [...part.querySelectorAll("table")].map(cells) };
    """)
    assert "Rows shown: of gamma, 12 of the 50 whose class changed and none of the 2,050 that kept it; of random, 12 of the 50" in shown["words"]
    changed, rows = shown["tables"][-2:]
    assert [r[0] for r in changed] == 2 * [f"r{i}" for i in range(2050, 2062)]
    assert "The first 100 of 2,100 rows, by each method; the result has all" in shown["words"]
    assert [r[:2] for r in rows] == [[f"r{i}", m] for m in ("gamma", "random") for i in range(100)]


def test_rows_that_changed_come_first_in_an_attack(harmonia, look, tmp_path):
    (tmp_path / "rows.csv").write_text("name,a,b\n" + "".join(f"r{i},{-9 if i % 2 == 0 else 0},0\n" for i in range(6)))
    done = harmonia("attack", "fn:half-space?d=1", tmp_path / "rows.csv", "--id", "name", "--radius", "2", "--steps", "2", "--html", tmp_path / "report.html")
    assert done.returncode == 0, done.stderr
    shown = look(tmp_path / "report.html", script="""
      const tables = [...document.querySelectorAll(".attack table")];
      return { words: document.querySelector(".attack").innerText, rows: [...tables[1].querySelectorAll("tbody tr")].map((r) => r.children[0].textContent) };
    """)
    assert shown["rows"] == ["r1", "r3", "r5", "r0", "r2", "r4"]
    assert "Rows shown: of gamma, all of the 3 whose class changed and all of the 3 that kept it." in shown["words"]


def test_images_are_shown_by_gamma(harmonia, look, root, tmp_path):
    """The thumbnails are those of the result, lowest first, and each has loaded."""
    done = harmonia("gamma", root / "examples" / "digits" / "net.onnx", root / "examples" / "digits" / "photos", "--radius", "20",
                    "--ball", "pixel", "--json", tmp_path / "result.json", "--html", tmp_path / "report.html")
    assert done.returncode == 0, done.stderr
    shown = json.loads((tmp_path / "result.json").read_text())["summary"]["images"]
    found = look(tmp_path / "report.html", script="""
      for (const image of document.querySelectorAll(".thumbnail img")) { image.loading = "eager"; await image.decode(); }
      return [...document.querySelectorAll(".thumbnail")].map((f) => [f.querySelector("img").alt, f.querySelector("img").naturalWidth, f.querySelector("data").value]);
    """)
    assert [f[:2] for f in found] == [[s["id"], 8] for s in shown]
    assert [float(f[2]) for f in found] == [s["gamma"] for s in shown]


def test_a_picture_that_is_no_picture_is_left_out(harmonia, look, root, tmp_path):
    result = tmp_path / "result.json"
    done = harmonia("gamma", root / "examples" / "digits" / "net.onnx", root / "examples" / "digits" / "photos", "--radius", "20",
                    "--ball", "pixel", "--json", result)
    assert done.returncode == 0, done.stderr
    told = json.loads(result.read_text())
    told["summary"]["images"][0]["png"] = "x\" onerror=alert(1)"
    result.write_text(json.dumps(told))
    assert harmonia("report", result, "-o", tmp_path / "report.html").returncode == 0
    assert look(tmp_path / "report.html", script="return document.querySelectorAll('.thumbnail').length") == 23
