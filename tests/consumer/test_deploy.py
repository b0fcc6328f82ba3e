"""What deploy/ holds works with what it is made for: Prometheus reads the rules and fires them, systemd the unit, and every metric
that is named there is one that the monitor serves."""

import contextlib
import json
import re
import shutil
import socket
import subprocess
import urllib.request

import pytest
from support.monitor_page import running_monitor_page
from support.watching import make_baseline, rows_text, until, watching

METRIC = re.compile(r"\bharmonia_[a-z_]+\b")


@pytest.fixture(scope="module")
def served(build_dir):
    with running_monitor_page(build_dir) as page:
        yield page


def tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name}")
    return found


def test_every_metric_that_is_named_is_served(served, root):
    there = set(re.findall(r"^# HELP (\S+)", served.ask("GET", "/metrics").body.decode(), re.MULTILINE))
    for file in ("prometheus-rules.yml", "grafana-dashboard.json"):
        named = set(METRIC.findall((root / "deploy" / file).read_text()))
        assert len(named) >= 6 and named <= there, named - there


def test_prometheus_reads_the_rules(root):
    for what, file in (("rules", "prometheus-rules.yml"), ("config", "prometheus.yml")):
        done = subprocess.run([tool("promtool"), "check", what, "--syntax-only" if what == "config" else "--lint=all", file], cwd=root / "deploy", capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_dashboard_is_whole(root):
    board = json.loads((root / "deploy" / "grafana-dashboard.json").read_text())
    ids = [panel["id"] for panel in board["panels"]]
    assert len(set(ids)) == len(ids) >= 8
    for panel in board["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24 and panel["targets"] and len({t["refId"] for t in panel["targets"]}) == len(panel["targets"])


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def running_prometheus(root, folder, place: str):
    """A real Prometheus with the configuration and the rules of deploy/, which scrapes `place` twice a second; what a rule waits
    for is made 1 s. Gives a function that tells which rules fire, as (name, model or sink)."""
    config = (root / "deploy" / "prometheus.yml").read_text()
    config = re.sub(r" +# Without.*\n +authorization:\n.*\n", "", config).replace("127.0.0.1:8078", place)
    config = config.replace("scrape_interval: 15s", "scrape_interval: 500ms\n  evaluation_interval: 500ms")
    (folder / "prometheus.yml").write_text(config)
    rules = (root / "deploy" / "prometheus-rules.yml").read_text()
    (folder / "prometheus-rules.yml").write_text(re.sub(r"for: \w+", "for: 1s", rules))
    port = free_port()
    command = [tool("prometheus"), f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{port}"]
    with open(folder / "log", "w") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:

        def ask(path: str) -> dict:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}", timeout=10) as answer:
                return json.load(answer)["data"]

        def scraped() -> bool:
            try:
                return any(float(r["value"][1]) == 1 for r in ask("query?query=up")["result"])
            except OSError:
                return False  # it starts

        try:
            until(scraped, (folder / "log").read_text)
            yield lambda: {(a["labels"]["alertname"], a["labels"].get("model", a["labels"].get("sink"))) for a in ask("alerts")["alerts"] if a["state"] == "firing"}
        finally:
            process.terminate()


def test_rules_fire_for_a_live_monitor_while_gamma_is_changed(harmonia, program, root, tmp_path):
    """Rows are sent to `harmonia monitor`: HarmoniaDrift fires after some have changed, not before, and not any more when they are as
    they were; HarmoniaSinkFails fires because nobody takes the alert, and HarmoniaDown when the monitor is gone."""
    base = make_baseline(harmonia, tmp_path)
    lines = rows_text(2, 6000, range(2000, 3000))
    with watching(program, base, tmp_path, "--source", "http", "--webhook", f"http://127.0.0.1:{free_port()}/") as monitor, running_prometheus(root, tmp_path, monitor.url.removeprefix("http://")) as firing:
        sent = 0

        def send(to: int) -> None:
            nonlocal sent
            for first in range(sent, to, 500):
                assert monitor.send(lines[first : first + 500], f"from {first}")["rows"] == 500
            sent = to

        send(2000)
        assert monitor.metric('harmonia_alerts_open{model="fn:f4"}') == 0 and firing() == set()
        send(3000)
        until(lambda: firing() == {("HarmoniaDrift", "fn:f4"), ("HarmoniaSinkFails", "webhook")}, firing)
        (alert,) = monitor.status()["alerts"]
        assert alert["state"] == "open" and abs(alert["since_number"] - 2000) < 60
        send(6000)
        assert monitor.status()["alerts"][0]["state"] == "ended"
        until(lambda: firing() == {("HarmoniaSinkFails", "webhook")}, firing)
        assert monitor.stop() == 0
        until(lambda: firing() == {("HarmoniaDown", None)}, firing)


def test_systemd_reads_the_unit(root, program, tmp_path):
    """The unit as it is, but for where the program lies."""
    unit = (root / "deploy" / "harmonia-monitor.service").read_text().replace("/usr/local/bin/harmonia", str(program))
    (tmp_path / "harmonia-monitor.service").write_text(unit)
    done = subprocess.run([tool("systemd-analyze"), "verify", "--man=no", tmp_path / "harmonia-monitor.service"], capture_output=True, text=True, timeout=60)
    ours = [line for line in (done.stdout + done.stderr).splitlines() if "harmonia" in line]
    assert done.returncode == 0 and ours == [], done.stderr
    options = set(re.findall(r"(--[a-z-]+)", re.search(r"ExecStart=.*?(?=\n#)", unit, re.DOTALL).group()))
    told = subprocess.run([program, "monitor", "--help"], capture_output=True, text=True, timeout=60)
    if told.returncode == 0:  # built with the command
        assert all(option in told.stdout for option in options), options
