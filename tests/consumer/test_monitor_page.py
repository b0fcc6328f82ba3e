"""The monitor's live page in a real browser: points arrive, an alert appears, its rows are listed, and nothing that is shown
can do harm."""

import json
import random
import re
import signal
import subprocess
import urllib.request

import pytest
from support.monitor_page import running_monitor_page
from support.watching import HEADER, make_baseline, rows_text

#: For scripts in a page: until(f) waits until f() is something, and gives it.
UNTIL = """
const all = (what, within = document) => [...within.querySelectorAll(what)];
const until = async (f) => {
  for (let i = 0; i < 1200; ++i) {
    const found = f();
    if (found) return found;
    await new Promise((done) => setTimeout(done, 25));
  }
  throw new Error(`never: ${f}`);
};
const dots = () => all('[aria-label^="gamma of every window"] g[aria-label=dot] circle').length;
await until(() => document.querySelector(".cards"));
"""


@pytest.fixture
def browse(browser):
    """browse(page, meanwhile, script=…): what the script returns, `meanwhile` called while it runs. The page may ask its own
    server alone, and says nothing on the console."""

    def ask(page, meanwhile=lambda: None, quiet=True, **request):
        browser.send(page.url, **request)
        meanwhile()
        answer = browser.receive()
        assert not quiet or answer["console"] == []
        assert all(url.startswith(page.url + "/") for url in answer["requests"])
        return answer["value"]

    return ask


@pytest.fixture(scope="module")
def served(build_dir):
    with running_monitor_page(build_dir) as page:
        yield page


def test_points_arrive_and_an_alert_appears(build_dir, browse):
    with running_monitor_page(build_dir) as page:
        windows = len(page.status()["models"][0]["windows"])

        def drift():
            page.wait_for_pages(1)
            with page.events() as events:  # one after another, so that the page sees each
                next(events)
                for command in (("window", "first", 2), ("alert", "first"), ("window", "first", 1), ("end", "first")):
                    page.tell(*command)
                    next(events)
                    if command[0] == "alert":
                        page.wait_for_pages(3)  # this one, the page, and what the script opens once it saw the alert

        shown = browse(page, drift, script=UNTIL + f"""
          await until(() => dots() >= {windows + 1});
          const open = await until(() => document.querySelector('.alert[data-state="open"]'));
          const lead = document.querySelector(".lead").innerText;
          const title = document.title;
          new EventSource("/api/events");
          open.open = true;
          const rows = await until(() => all("tbody", open).length === 2 && all("tbody", open)[1].rows.length);
          await until(() => document.querySelector('.alert[data-state="ended"]'));
          return {{ lead, title, rows, dots: dots(), still: open.open, last: document.querySelector(".lead").innerText, bands: all('g[aria-label=area] path').length }};
        """)
        assert shown["lead"].startswith("γ has changed since") and shown["title"].startswith("(1) ")
        assert shown["rows"] == 50 and shown["dots"] == windows + 2 and shown["still"]
        assert shown["last"] == f"No change of γ was found in {500 * (windows + 2):,} measured rows since the last alert ended."
        assert shown["bands"] >= 1


def test_numbers_are_those_of_the_status(served, browse):
    served.tell("window", "first", 1.7)
    served.tell("alert", "first")
    wine = served.status()["models"][0]
    alert = served.ask("GET", "/api/alerts/1").json()
    shown = browse(served, script=UNTIL + """
      const numbers = (within) => all("data", within).map((e) => Number(e.getAttribute("value")));
      const alert = document.querySelector(".alert");
      alert.open = true;
      await until(() => all("tbody", alert).length === 2);
      const [parts, rows] = all("tbody", alert);
      for (const d of all("details")) d.open = true;
      return {
        cards: numbers(document.querySelector(".cards")),
        text: document.querySelector(".cards").innerText,
        parts: [...parts.rows].map(numbers),
        rows: [...rows.rows].map((r) => r.innerText.replaceAll("−", "-")),
        first: numbers(rows.rows[0]),
        cells: all("g[aria-label=cell] rect").length,
        what: alert.querySelector(".what").innerText,
        regions: all("details:not(.alert) table tbody tr").map((r) => r.innerText),
      };
    """)
    latest, base = wine["windows"][-1]["gamma"], wine["baseline"]["gamma"]
    assert shown["cards"] == [latest["mean"], latest["low"], latest["high"], base["mean"], base["low"], base["high"], min(wine["p_values"])]
    assert f"{wine['rows']:,}" in shown["text"] and f"{wine['evaluations']:,}" in shown["text"]
    for part, told in zip(shown["parts"], alert["parts"], strict=True):
        assert part == [*(told["before"][k] for k in ("mean", "low", "high")), *(told["now"][k] for k in ("mean", "low", "high")), told["p_value"]]
    assert len(shown["rows"]) == len(alert["rows"]) == 50
    row = alert["rows"][0]
    assert shown["first"][:3] == [row["gamma"], row["nearest"]["gamma"], row["back"]["gamma"]]
    assert row["id"] in shown["rows"][0] and f"alcohol {row['values'][0]:.4g} → {row['back']['values'][0]:.4g}" in shown["rows"][0]
    assert "none: it is looked for in the <b>first</b> 20 rows alone" in shown["rows"][-1] and "none found" in shown["rows"][-2]
    assert shown["what"] == alert["text"]
    assert shown["cells"] == sum(mean is not None for w in wine["windows"] for mean in w["region_means"])
    assert any(wine["baseline"]["regions"][0]["text"] in line for line in shown["regions"])


def test_models_side_by_side(served, browse):
    names, first, second, points, text = browse(served, script=UNTIL + """
      const before = dots();
      const tiles = all(".tile");
      tiles[1].click();
      return [tiles.map((t) => t.querySelector("b").innerText), before, dots(), all(".tile svg").length, document.querySelector("article").dataset.model];
    """)
    models = served.status()["models"]
    assert names == [m["name"] for m in models] and text == names[1] and points == 2
    assert (first, second) == tuple(len(m["windows"]) for m in models)


def test_text_stays_text(served, browse):
    """Names of models and features, and what alerts say, hold HTML."""
    served.tell("window", "first", 1)
    served.tell("alert", "first")
    bold, scripts, text = browse(served, script=UNTIL + """
      document.querySelector(".alert").open = true;
      await until(() => all(".alert tbody").length === 2);
      return [all(".what b, .tile b b").length, document.scripts.length, document.body.innerText];
    """)
    assert (bold, scripts) == (0, 1)
    assert "<b>most</b>" in text and "hue<script>" in text


@pytest.mark.parametrize("width", [360, 768, 1400])
def test_it_is_not_wider_than_its_window(served, browse, width):
    found = browse(served, width=width, script=UNTIL + """
      for (const d of document.querySelectorAll("details")) d.open = true;
      await until(() => dots() > 0);
      return document.documentElement.scrollWidth;
    """)
    assert found <= width


def test_light_and_dark(served, browse):
    script = UNTIL + """
      const colours = () => [getComputedStyle(document.body).backgroundColor, document.querySelector("g[aria-label=line]").getAttribute("stroke"), getComputedStyle(document.querySelector(".swatch.cell")).backgroundColor];
      await until(() => dots() > 0);
      const before = colours();
      document.querySelector("button.theme").click();
      return [before, colours()];
    """
    light, dark = browse(served, scheme="light", script=script), browse(served, scheme="dark", script=script)
    assert light == dark[::-1]
    assert all(a != b for a, b in zip(*light, strict=True))


def test_a_page_without_rows_says_so(build_dir, browse):
    with running_monitor_page(build_dir, "--empty") as page:
        text, points = browse(page, script=UNTIL + "await until(() => document.querySelector('svg')); return [document.body.innerText, dots()];")
        assert "No rows yet." in text and "None: there are no rows yet." in text and "No window yet" in text and points == 0


def test_the_stated_rate_and_its_assumption_are_there(served, browse):
    text = browse(served, script=UNTIL + "return document.body.innerText;")
    assert "exchangeable" in text and "at most 1 %" in text


def test_logging_in_and_out(build_dir, browse):
    with running_monitor_page(build_dir, "--read-key", "read-token") as page:
        log_in = [["fill", "#token", "wrong"], ["click", "button"], ["waitForSelector", ".wrong"], ["fill", "#token", "read-token"], ["click", "button"], ["waitForSelector", ".cards"]]
        where, cookies, points = browse(page, quiet=False, steps=log_in, script=UNTIL + "await until(() => dots() > 0); return [location.href, document.cookie, dots()];")
        assert (where, cookies, points) == (page.url + "/", "", 12)
        out = [*log_in, ["click", "text=log out"], ["waitForSelector", "#token"]]
        assert browse(page, quiet=False, steps=[*out, ["reload"]], script="return document.querySelector('h1').innerText") == "Log in"


def test_a_page_says_when_its_server_is_gone(build_dir, browse):
    with running_monitor_page(build_dir) as page:
        script = UNTIL + "await until(() => document.querySelector('.live').dataset.state === 'lost'); return document.querySelector('.live').innerText;"

        def end():
            page.wait_for_pages(1)
            page.stop()

        assert browse(page, end, quiet=False, script=script) == "not connected; trying again"


MAP = """
const map = () => document.querySelector('[aria-label^="P against gamma"]');
const points = () => all("g.points circle", map()).length;
const alerted = () => all("g.alerted path", map()).length;
"""


def test_the_gamma_map_has_the_points_that_came(build_dir, browse):
    with running_monitor_page(build_dir, "--map") as page:

        def drift():
            page.wait_for_pages(2)  # the page, and what the script opens once it saw the points
            with page.events() as events:
                next(events)
                for command in (("window", "first", 2.5), ("alert", "first")):
                    page.tell(*command)
                    next(events)

        shown = browse(page, drift, script=UNTIL + MAP + """
          await until(() => points() > 0);
          const before = [points(), alerted()];
          new EventSource("/api/events");
          await until(() => alerted() > 0);
          const alert = document.querySelector(".alert");
          alert.open = true;
          await until(() => all("tbody", alert).length === 2);
          return {
            before, after: [points(), alerted()],
            curves: all("g[aria-label=line] path", map()).length,
            labels: all("g[aria-label=text] text", map()).map((e) => e.textContent),
            windows: all('[aria-label="mean stability of every window"] g[aria-label=dot] circle').length,
            cards: document.querySelector(".cards").innerText,
            rows: all("tbody", alert)[1].rows[0].innerText,
            tiles: all('.tile [aria-label^="Gamma Map of"] g.points circle').length,
            text: document.body.innerText,
          };
        """)
        models = page.status()["models"]
        wine, latest = models[0], models[0]["windows"][-1]["stability"]
        marked = sum(p["alert"] for p in wine["points"])
        assert shown["before"] == [300, 0] and shown["after"] == [300 - marked, marked] and marked > 10
        assert shown["curves"] == 3 and shown["labels"] == ["10 %", "50 %", "90 %"]
        assert shown["windows"] == len(wine["windows"]) and f"{100 * latest['mean']:.3g} %" in shown["cards"]
        row = page.ask("GET", "/api/alerts/1").json()["rows"][0]["stability"]
        assert f"{100 * row['probability']:.3g} %" in shown["rows"]
        # Both models side by side.
        assert shown["tiles"] == sum(not p["alert"] for m in models for p in m["points"])
        assert "keep their class through 25 steps" in shown["text"] and "fitted before, on other rows" in shown["text"]


@pytest.mark.parametrize("width", [360, 1400])
def test_a_map_fits_its_window(build_dir, browse, width):
    with running_monitor_page(build_dir, "--map") as page:
        page.tell("alert", "first")
        found = browse(page, width=width, script=UNTIL + MAP + "await until(() => points() > 0); return document.documentElement.scrollWidth;")
        assert found <= width


def test_a_map_without_points_says_so(build_dir, browse):
    with running_monitor_page(build_dir, "--map", "--empty") as page:
        text, curves = browse(page, script=UNTIL + MAP + "await until(() => map() && map().querySelector('svg')); return [document.body.innerText, all('g[aria-label=line] path', map()).length];")
        assert "No measured row yet" in text and curves == 3


def test_without_a_map_there_is_none(served, browse):
    assert browse(served, script=UNTIL + MAP + "await until(() => dots() > 0); return map() === null && !document.body.innerText.includes('Gamma Map');")


def test_the_command_itself(harmonia, program, browser, tmp_path):
    """`harmonia monitor --source http --listen`: rows are sent, drift among them, and the page has the alert and its rows."""
    done = harmonia("baseline", "fn:f4", "uniform:3000", "--radius", 0.3, "-o", tmp_path / "base.json")
    assert done.returncode == 0, done.stderr
    command = [program, "monitor", "fn:f4", "--baseline", tmp_path / "base.json", "--source", "http", "--listen", "127.0.0.1:0", "--state", tmp_path / "state.db", "--window", 500]
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True) as process:
        try:
            url = re.search(r"http://[\d.:]+", process.stdout.readline()).group()
            draw = random.Random(1)

            def send(batch: int, low: float) -> dict:
                rows = "x0,x1\n" + "".join(f"{draw.uniform(low, 1)},{draw.uniform(low, 1)}\n" for _ in range(500))
                request = urllib.request.Request(f"{url}/v1/rows", rows.encode(), {"Content-Type": "text/csv", "X-Harmonia-Batch": f"batch {batch}"})
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return json.load(answer)

            assert all(send(i, 0 if i < 8 else 0.55) == {"rows": 500, "refused": 0, "repeated": False} for i in range(12))
            assert send(11, 0)["repeated"]
            browser.send(url, script=UNTIL + """
              const alert = await until(() => document.querySelector('.alert[data-state="open"]'));
              alert.open = true;
              const rows = await until(() => all("tbody", alert).length === 2 && all("tbody", alert)[1].rows.length);
              return [dots(), rows, alert.querySelector(".what").innerText, document.querySelector(".cards").innerText];
            """)
            answer = browser.receive()
            assert answer["console"] == []
            points, rows, text, cards = answer["value"]
            assert (points, rows) == (12, 50) and "gamma" in text and "6,000" in cards
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0


def test_the_files_of_several_monitors_side_by_side(harmonia, program, browser, tmp_path):
    """`harmonia serve --monitor a.db --monitor b.db`: a tile each, and what is shown is that of the one that is chosen."""
    base = make_baseline(harmonia, tmp_path)
    for name, moved in (("calm", range(0)), ("moved", range(3000, 6000))):
        (tmp_path / f"{name}.csv").write_text(HEADER + "".join(rows_text(7, 6000, moved)))
        done = harmonia("monitor", "fn:f4", "--baseline", base, "--source", f"{name}.csv", "--once", "--state", f"{name}.db", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    command = [str(program), "serve", "--monitor", "calm.db", "--monitor", "moved.db", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        try:
            url = re.search(r"http://[\d.:]+", process.stdout.readline()).group()
            for width in (360, 1400):
                browser.send(url, width=width, script=UNTIL + """
                  const shown = () => [document.querySelector("article").dataset.model, dots(), all(".alert").length, document.querySelector(".lead").innerText];
                  await until(() => dots() === 6);
                  const tiles = all(".tile");
                  const before = shown();
                  tiles[1].click();
                  await until(() => all(".alert").length === 1);
                  const alert = document.querySelector(".alert");
                  alert.open = true;
                  await until(() => all("tbody", alert).length === 2);
                  return { tiles: tiles.map((t) => t.innerText), before, after: shown(), width: document.documentElement.scrollWidth, tinted: all('[aria-label^="gamma of every window"] rect').map((r) => r.getBoundingClientRect().width / r.closest("svg").getBoundingClientRect().width)[0], reasons: all("tbody tr", alert).map((r) => r.innerText).filter((t) => t.includes("none: ")).length };
                """)
                answer = browser.receive()
                assert answer["console"] == []
                seen = answer["value"]
                calm, moved = seen["tiles"]
                assert calm.startswith("fn:f4 (calm.db)\n") and moved.startswith("fn:f4 (moved.db)\n")
                assert seen["before"][:3] == ["fn:f4 (calm.db)", 6, 0] and seen["after"][:3] == ["fn:f4 (moved.db)", 6, 1]
                assert seen["before"][3].startswith("No change of γ was found in 6,000 measured rows") and seen["after"][3].startswith("γ has changed since")
                assert seen["width"] <= width and seen["reasons"] >= 30
                assert 0.15 < seen["tinted"] < 0.35  # three windows of ten
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
