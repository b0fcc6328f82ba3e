"""The pages of stability, persistence, boundary, map, attack and images in a real browser."""

import json

import pytest

from support.pages import SHOWN, data_of


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
