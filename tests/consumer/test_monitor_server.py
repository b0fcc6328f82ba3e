"""What the monitor's server says to those who may ask: status, events, alerts, metrics, rows taken in."""

import json
import re
import urllib.parse

import pytest
from support.monitor_page import running_monitor_page

ROWS = "alcohol,flavanoids,hue<script>,proline\n1,2,3,4\n1,2,3\n5,6,7,8\n"


@pytest.fixture(scope="module")
def served(build_dir):
    with running_monitor_page(build_dir) as page:
        yield page


def test_the_status_is_that_of_the_models(served):
    status = served.status()
    assert [m["name"] for m in status["models"]] == ["wine", "wine & <b>more</b>"]
    wine = status["models"][0]
    assert wine["rows"] == wine["measured"] == sum(w["measured"] for w in wine["windows"])
    assert wine["false_alarms"] == 0.01 and wine["confidence"] == 0.95
    regions = wine["baseline"]["regions"]
    assert len(regions) == len(wine["p_values"]) - 1 > 1 and all("alcohol" in r["text"] or "flavanoids" in r["text"] for r in regions)
    for window in wine["windows"]:
        gamma, rows, means = window["gamma"], window["region_rows"], window["region_means"]
        assert sum(rows) == gamma["rows"] == window["next"] - window["first"]
        assert gamma["low"] < gamma["mean"] < gamma["high"]
        assert sum(n * m for n, m in zip(rows, means, strict=True)) / sum(rows) == pytest.approx(gamma["mean"], rel=1e-9)


def test_events_bring_every_change_and_no_other(served):
    with served.events() as events:
        first = next(events)
        assert first == served.status()
        served.tell("window", "second", 1.2)
        second = next(events)
        before, after = (s["models"][1] for s in (first, second))
        assert len(after["windows"]) == len(before["windows"]) + 1
        served.tell("alert", "second")
        third = next(events)
        (alert,) = third["models"][1]["alerts"]
        assert alert["state"] == "open" and alert["row_count"] == 50 and "rows" not in alert
        served.tell("end", "second")
        assert next(events)["models"][1]["alerts"][0]["state"] == "ended"


def test_an_alert_has_its_rows(served):
    served.tell("window", "first", 2)
    served.tell("alert", "first")
    name = urllib.parse.quote("wine")
    alert = served.ask("GET", f"/api/alerts/1?model={name}").json()
    assert len(alert["rows"]) == 50 and alert["names"][2] == "hue<script>"
    row = alert["rows"][0]
    assert len(row["values"]) == len(row["nearest"]["values"]) == 4 and row["back"]["features"] == [0]
    assert served.ask("GET", "/api/alerts/1?model=other").status == 404
    assert served.ask("GET", "/api/alerts/99").status == 404


def test_rows_are_taken_once(served):
    headers = {"Content_Type": "text/csv", "X_Harmonia_Batch": "batch-1"}
    first, again = (served.ask("POST", "/v1/rows", ROWS, **headers).json() for _ in range(2))
    assert first.items() >= {"rows": 2, "refused": 1, "repeated": False}.items()
    assert again.items() >= {"rows": 2, "refused": 1, "repeated": True}.items()
    (reason,) = first["reasons"]
    assert "4" in reason["reason"]
    lines = "\n".join(json.dumps([i, 0, 0, None]) for i in range(5))
    assert served.ask("POST", "/v1/rows", lines, Content_Type="application/x-ndjson").json() == {"rows": 5, "refused": 0, "repeated": False}
    whole = json.dumps({"rows": [[1, 2, 3, 4], [5, 6, 7, 8]]})
    assert served.ask("POST", "/v1/rows", whole, Content_Type="application/json; charset=utf-8").json()["rows"] == 2


def test_metrics_are_prometheus_text(served):
    wine = served.status()["models"][0]
    answer = served.ask("GET", "/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = answer.body.decode().splitlines()
    samples = {}
    for line in lines:
        if not line.startswith("#"):
            found = re.fullmatch(r'([a-z_]+)(\{(?:[a-z]+="[^"]*",?)*\})? (\S+)', line)
            assert found, line
            samples[found.group(1) + (found.group(2) or "")] = float(found.group(3))
    helped = [line.split()[2] for line in lines if line.startswith("# HELP")]
    assert len(set(helped)) == len(helped) and {s.split("{")[0] for s in samples} == set(helped)
    assert samples['harmonia_rows_total{model="wine"}'] == wine["rows"]
    assert samples['harmonia_gamma_mean{model="wine",region="all"}'] == pytest.approx(wine["windows"][-1]["gamma"]["mean"])
    assert samples['harmonia_gamma_mean{model="wine",region="3"}'] == pytest.approx(wine["windows"][-1]["region_means"][3])
    assert samples['harmonia_baseline_gamma_mean{model="wine",region="all"}'] == pytest.approx(wine["baseline"]["gamma"]["mean"])
    assert samples['harmonia_http_replies_total{status="2xx"}'] > 0


def test_ready_when_it_is(served):
    assert served.ask("GET", "/healthz").json()["status"] == "ok"
    assert served.ask("GET", "/readyz").status == 200
    served.tell("ready", "the model is being opened")
    answer = served.ask("GET", "/readyz")
    assert answer.status == 503 and answer.headers["Retry-After"] == "1" and answer.json()["error"]["message"] == "the model is being opened"
    served.tell("ready")
    assert served.ask("GET", "/readyz").status == 200


def test_every_route_is_described(served, root):
    """The routes of the source and the paths of the description are the same, and each is answered."""
    described = served.ask("GET", "/openapi.json").json()
    assert described == json.loads((root / "docs" / "monitor-api.json").read_text())
    paths = {(method.upper(), path) for path, methods in described["paths"].items() for method in methods}
    sources = "".join((root / "apps" / "cli" / f"{name}.cpp").read_text() for name in ("monitor_server", "sidecar"))
    routes = set(re.findall(r'add\(\s*"([A-Z]+)", "(/[^"]*)"', sources))
    assert routes == {(m, re.sub(r"{\w+}", "*", p)) for m, p in paths} and len(routes) > 8
    for method, path in paths - {("GET", "/api/events")}:
        answer = served.ask(method, re.sub(r"{\w+}", "1", path), b"" if method == "POST" else None)
        codes = described["paths"][path][method.lower()]["responses"]
        assert answer.status not in (404, 405) or str(answer.status) in codes or path == "/login", (path, answer)


def test_no_names_of_refs_are_missing(root):
    described = json.loads((root / "docs" / "monitor-api.json").read_text())
    for ref in re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(described)):
        found = described
        for part in ref.split("/"):
            found = found[part]


def test_a_monitor_without_ingest_takes_no_rows(build_dir):
    with running_monitor_page(build_dir, "--no-push", "--empty") as page:
        answer = page.ask("POST", "/v1/rows", ROWS, Content_Type="text/csv")
        assert answer.status == 404 and "elsewhere" in answer.json()["error"]["message"]
        assert page.status()["models"][0]["windows"] == []
        assert b"harmonia_rows_total" in page.ask("GET", "/metrics").body
