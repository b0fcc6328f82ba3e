"""harmonia monitor goes on measuring while those it writes to do not take anything, says so, and loses nothing."""

import contextlib
import http.server
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import threading
import urllib.request

import pytest
from support.watching import HEADER, make_baseline, rows_text, until, watching


@pytest.fixture(scope="module")
def base(harmonia, tmp_path_factory):
    return make_baseline(harmonia, tmp_path_factory.mktemp("baseline"))


class Webhook(http.server.ThreadingHTTPServer):
    """Answers nothing until `answers` is set. taken: the alerts that it answered."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Hook)
        self.answers = threading.Event()
        self.asked = 0
        self.taken: list[dict] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.asked += 1
        alert = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        late = not self.server.answers.is_set()
        self.server.answers.wait(600)
        if late:
            return  # nobody waits for it any more
        self.server.taken.append(alert)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def test_a_webhook_that_never_answers_holds_nothing_up(program, base, tmp_path):
    lines = rows_text(2, 5000, range(1000, 2000))
    live = tmp_path / "live.csv"
    live.write_text(HEADER + "".join(lines[:2000]))
    hook = Webhook()
    sink = '{sink="webhook"}'
    address = f"127.0.0.1:{hook.server_port}"
    words = ("--source", "live.csv", "--webhook", f"http://{address}/secret", "--webhook-timeout", 0.5)
    with watching(program, base, tmp_path, *words) as monitor:
        until(lambda: hook.asked > 0, monitor.status)
        with live.open("a") as file:
            file.write("".join(lines[2000:]))
        # All of it is measured, and the alert ends, though nobody has taken that it began.
        until(lambda: monitor.status()["measured"] == 5000, monitor.status)
        assert [a["state"] for a in monitor.status()["alerts"]] == ["ended"]
        until(lambda: monitor.metric(f"harmonia_alert_sink_failing{sink}") == 1, lambda: monitor.get("/metrics"))
        assert monitor.metric(f"harmonia_alert_failed_tries_total{sink}") >= 1
        assert monitor.metric(f"harmonia_alerts_waiting{sink}") >= 2
        assert [monitor.metric(f'harmonia_alert_deliveries_total{{sink="webhook",result="{result}"}}') for result in ("sent", "given_up", "dropped")] == [0, 0, 0]
        assert len([line for line in monitor.said if line.startswith(f"harmonia: the webhook at {address}: ") and line.endswith("; alerts wait")]) == 1, monitor.said
        hook.answers.set()
        until(lambda: monitor.metric(f"harmonia_alerts_waiting{sink}") == 0, lambda: monitor.said)
        assert monitor.metric(f"harmonia_alert_sink_failing{sink}") == 0
        assert [a["state"] for a in hook.taken][0] == "open" and hook.taken[-1]["state"] == "ended"
        assert 2 <= monitor.metric('harmonia_alert_deliveries_total{sink="webhook",result="sent"}') <= len(hook.taken)
        assert f"harmonia: the webhook at {address} takes alerts again" in monitor.said
        hook.answers.clear()
        assert monitor.stop() == 0
    assert not any("secret" in line for line in monitor.said)
    hook.shutdown()


def test_alerts_that_a_dead_webhook_never_took_are_said_at_the_end(program, base, tmp_path):
    (tmp_path / "live.csv").write_text(HEADER + "".join(rows_text(2, 3000, range(1000, 3000))))
    hook = Webhook()
    with watching(program, base, tmp_path, "--source", "live.csv", "--webhook", f"http://127.0.0.1:{hook.server_port}/") as monitor:
        until(lambda: hook.asked > 0 and monitor.status()["measured"] == 3000, monitor.status)
        assert monitor.stop() == 0
    assert "not delivered when the program ended" in monitor.said[-1]
    hook.shutdown()


#: Runs a command with a disk of 48 MB of its own at ./disk, which others see below /proc/PID/root.
SMALL_DISK = ("unshare", "-Urm", "sh", "-c", 'mount -t tmpfs -o size=48m tmpfs disk && exec "$@"', "sh")


def test_a_full_disk_is_said_and_all_is_kept_once_there_is_room(harmonia, program, base, tmp_path):
    (tmp_path / "disk").mkdir()
    if shutil.which("unshare") is None or subprocess.run([*SMALL_DISK, "true"], cwd=tmp_path, capture_output=True).returncode != 0:
        pytest.skip("no disk of its own can be had here")
    lines = rows_text(3, 5000, range(2000, 3000))
    live = tmp_path / "live.csv"
    live.write_text(HEADER + "".join(lines[:1000]))
    kept = tmp_path / "kept"
    kept.mkdir()
    unsaved = 'harmonia_state_unsaved{model="fn:f4"}'
    words = ("--source", "live.csv", "--state", "disk/state.db", "--alerts", "disk/alerts.jsonl")
    with watching(program, base, tmp_path, *words, before=SMALL_DISK) as monitor:
        disk = f"/proc/{monitor.process.pid}/root{tmp_path}/disk"
        until(lambda: monitor.status()["measured"] == 1000, monitor.status)
        assert monitor.metric(unsaved) == 0
        with pytest.raises(OSError, match="No space left"), open(f"{disk}/filler", "wb", buffering=0) as filler:
            while True:
                filler.write(bytes(4096))
        with live.open("a") as file:
            file.write("".join(lines[1000:3000]))
        until(lambda: monitor.status()["measured"] == 3000, monitor.status)
        until(lambda: monitor.metric(unsaved) == 1 and monitor.metric('harmonia_alert_sink_failing{sink="file"}') == 1, lambda: monitor.said)
        assert [a["state"] for a in monitor.status()["alerts"]] == ["open"]
        assert any("cannot be kept for now, and is measured on: disk/state.db" in line for line in monitor.said), monitor.said
        assert "harmonia: disk/alerts.jsonl: No space left on device; alerts wait" in monitor.said
        os.remove(f"{disk}/filler")
        with live.open("a") as file:
            file.write("".join(lines[3000:]))
        until(lambda: monitor.metric(unsaved) == 0 and monitor.status()["measured"] == 5000, lambda: monitor.said)
        until(lambda: monitor.metric('harmonia_alerts_waiting{sink="file"}') == 0, lambda: monitor.said)
        assert "harmonia: the file can be written again: all is kept" in monitor.said
        for name in ("state.db", "state.db-wal", "alerts.jsonl"):
            shutil.copy(f"{disk}/{name}", kept)
        monitor.process.kill()
    alerts = [json.loads(line) for line in (kept / "alerts.jsonl").read_text().splitlines() if line.endswith("}")]
    assert alerts[0]["state"] == "open" and alerts[-1]["state"] == "ended"
    # Read once more from where it was kept: nothing is left to count, and all is as if there had always been room.
    summaries = []
    for state in (kept / "state.db", "whole.db"):
        done = harmonia("monitor", "fn:f4", "--baseline", base, "--source", "live.csv", "--once", "--state", state, cwd=tmp_path)
        assert done.returncode == 0 and "5000 rows came, 5000 measured" in done.stdout and "1 alert" in done.stdout, done.stderr
        merged = harmonia("monitor", "--merge", state, "--json", "merged.json", cwd=tmp_path)
        assert merged.returncode == 0, merged.stderr
        summaries.append(json.loads((tmp_path / "merged.json").read_text())["summary"])
    assert summaries[0] == summaries[1]


def resident(process: subprocess.Popen) -> int:
    """Megabytes."""
    status = open(f"/proc/{process.pid}/status").read()
    return int(status.split("VmRSS:")[1].split()[0]) // 1024


def replies_to(url: str, requests: list[bytes]) -> bytes:
    """What comes back for requests that are sent one after another on one connection, which the last one closes."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        sending = threading.Thread(target=connection.sendall, args=(b"".join(requests),))
        sending.start()
        got = bytearray()
        while piece := connection.recv(1 << 20):
            got += piece
        sending.join()
        return bytes(got)


def test_a_million_distinct_labels_change_neither_metrics_nor_memory(program, base, tmp_path):
    """Ids, unknown members, categories, batches, paths, queries and headers: a million that are all different."""
    with watching(program, base, tmp_path, "--source", "http", "--share", 0.01) as monitor:

        def post(body: str) -> dict:
            post.batch += 1
            request = urllib.request.Request(f"{monitor.url}/v1/rows", body.encode(), {"Content-Type": "application/jsonl", "X-Harmonia-Batch": f"batch-{post.batch}"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)

        post.batch = 0

        def rows(first: int, count: int) -> str:
            return "".join(f'{{"a":{i % 997 / 997},"b":{i % 991 / 991},"id":"row-{i}","column-{i}":"value-{i}"}}\n' for i in range(first, first + count))

        def series() -> int:
            return sum(not line.startswith("#") for line in monitor.get("/metrics").splitlines())

        for i in range(20):  # as much as is kept: rows, windows
            assert post(rows(i * 10000, 10000))["refused"] == 0
        before = resident(monitor.process)
        assert series() < 100
        for i in range(20, 100):
            assert post(rows(i * 10000, 10000)) == {"rows": 10000, "refused": 0, "repeated": False}
        for i in range(20):
            told = post("".join(f'{{"a":"category-{j}","b":1}}\n' for j in range(i * 5000, i * 5000 + 5000)))
            assert told["refused"] == 5000 and len(told["reasons"]) == 10
        for i in range(1000):
            post(f"[0.5, 0.{i}]")
        for i in range(100):
            one = b"GET /label-%d?name-%d=%d HTTP/1.1\r\nHost: localhost\r\nX-Label-%d: %d\r\n%s\r\n"
            got = replies_to(monitor.url, [one % (n, n, n, n, n, b"Connection: close\r\n" if n % 1000 == 999 else b"") for n in range(i * 1000, i * 1000 + 1000)])
            assert got.count(b"HTTP/1.1 404") == 1000, got[-1000:]
        assert series() < 100 and len(monitor.get("/api/status")) < 1 << 20
        assert resident(monitor.process) - before < 64
        status = monitor.status()
        assert (status["rows"], status["refused"]) == (1001000, 100000)
        assert monitor.stop() == 0


def test_the_last_million_batches_are_known(program, base, tmp_path):
    words = ("--source", "http", "--state", "state.db")
    row = ["0.5,0.5\n"]
    with watching(program, base, tmp_path, *words) as monitor:
        assert monitor.send(row, "first")["repeated"] is False
        assert monitor.stop() == 0
    with contextlib.closing(sqlite3.connect(tmp_path / "state.db")) as file:
        file.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999999) INSERT INTO batches (name) SELECT CAST('batch-' || i AS BLOB) FROM n")
        file.commit()
    with watching(program, base, tmp_path, *words) as monitor:
        assert monitor.send(row, "first")["repeated"] is True
        assert monitor.send(row, "batch-1")["repeated"] is True
        before = resident(monitor.process)
        for i in range(1000):
            assert monitor.send(row, f"new-{i}")["repeated"] is False
        assert resident(monitor.process) - before < 16
        assert monitor.send(row, "batch-999999")["repeated"] is True
        assert monitor.send(row, "new-0")["repeated"] is True
        assert monitor.send(row, "first")["repeated"] is False  # a million others came since
        assert monitor.stop() == 0
    with contextlib.closing(sqlite3.connect(tmp_path / "state.db")) as file:
        assert file.execute("SELECT count(*) FROM batches").fetchone() == (1000000,)
