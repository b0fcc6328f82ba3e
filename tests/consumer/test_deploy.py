"""What deploy/ holds works with what it is made for: Prometheus reads the rules and fires them, systemd the unit, and every metric
that is named there is one that the monitor serves."""

import json
import re
import shutil
import socket
import subprocess
import time
import urllib.request

import pytest
from support.monitor_page import running_monitor_page

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


def test_a_rule_fires_when_gamma_changes(served, root, tmp_path):
    """A real Prometheus scrapes the monitor; HarmoniaDrift fires while an alert is open, and not before or after."""
    config = (root / "deploy" / "prometheus.yml").read_text()
    config = re.sub(r" +# Without.*\n +authorization:\n.*\n", "", config).replace("127.0.0.1:8078", served.place)
    config = config.replace("scrape_interval: 15s", "scrape_interval: 500ms\n  evaluation_interval: 500ms")
    (tmp_path / "prometheus.yml").write_text(config)
    shutil.copy(root / "deploy" / "prometheus-rules.yml", tmp_path)
    port = free_port()
    command = [tool("prometheus"), f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data", f"--web.listen-address=127.0.0.1:{port}"]
    with open(tmp_path / "log", "w") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:

        def ask(path: str) -> dict:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}", timeout=10) as answer:
                return json.load(answer)["data"]

        def until(condition):
            end = time.monotonic() + 120
            while True:
                try:
                    if condition():
                        return
                except OSError:
                    pass  # it starts
                assert time.monotonic() < end, (tmp_path / "log").read_text()
                time.sleep(0.1)

        def firing() -> list:
            return [a["labels"]["model"] for a in ask("alerts")["alerts"] if a["labels"]["alertname"] == "HarmoniaDrift" and a["state"] == "firing"]

        def seen(value: float) -> bool:
            result = ask("query?query=harmonia_alerts_open")["result"]
            return any(r["metric"]["model"] == "wine" and float(r["value"][1]) == value for r in result)

        try:
            until(lambda: seen(0))
            assert firing() == []
            served.tell("window", "first", 2)
            served.tell("alert", "first")
            until(lambda: firing() == ["wine"])
            served.tell("end", "first")
            until(lambda: seen(0) and firing() == [])
        finally:
            process.terminate()


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
