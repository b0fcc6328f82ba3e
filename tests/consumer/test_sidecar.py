"""harmonia monitor as a side-car: clients of a real model server, mlserver, reach it through the monitor."""

import concurrent.futures
import contextlib
import http.client
import json
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.parse
from pathlib import Path

import pytest
from support.gateway import Answer
from support.local_server import Handler, serving

sys.path.insert(0, str(Path(__file__).parents[1] / "agreement" / "mlserver"))
from server import free_ports, running_mlserver  # noqa: E402

INFER = "/v2/models/curved/infer"
JSON = {"Content-Type": "application/json"}


def rows_of(seed: int, count: int, factor: float = 1) -> list[list[float]]:
    """Rows of two uniform features; the first is multiplied."""
    draw = random.Random(seed)
    return [[round(factor * draw.random(), 6), round(draw.random(), 6)] for _ in range(count)]


def request_of(rows: list[list[float]], name: str = "r", nested: bool = False, datatype: str = "FP64") -> bytes:
    data = rows if nested else [value for row in rows for value in row]
    return json.dumps({"id": name, "inputs": [{"name": "x", "shape": [len(rows), 2], "datatype": datatype, "data": data}]}).encode()


def ask(base: str, method: str, path: str, body: bytes | None = None, headers: dict | None = None) -> Answer:
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(base).netloc, timeout=60)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return Answer(answer.status, answer.msg, answer.read())
    finally:
        connection.close()


def raw(base: str, sent: bytes) -> bytes:
    """All that comes back until the server closes."""
    place = urllib.parse.urlsplit(base)
    with socket.create_connection((place.hostname, place.port), timeout=60) as connection:
        connection.sendall(sent)
        got = b""
        while piece := connection.recv(65536):
            got += piece
        return got


class Monitor:
    """url: where it listens. said: the lines of its standard error, as they come."""

    def __init__(self, process: subprocess.Popen):
        self.process, self.said = process, []
        line = process.stdout.readline()
        assert "the page is at http://" in line, line + process.stderr.read()
        self.url = line.split("the page is at ")[1].split(";")[0]
        self.listening = threading.Thread(target=lambda: self.said.extend(process.stderr), daemon=True)
        self.listening.start()

    def infer(self, body: bytes, path: str = INFER, **headers) -> Answer:
        return ask(self.url, "POST", path, body, {**JSON, **headers})

    def model(self) -> dict:
        (model,) = ask(self.url, "GET", "/api/status").json()["models"]
        return model

    def metric(self, name: str) -> float:
        for line in ask(self.url, "GET", "/metrics").body.decode().splitlines():
            if line.split("{")[0].split(" ")[0] == name:
                return float(line.rsplit(" ", 1)[1])
        raise AssertionError(f"no metric {name}")

    def wait(self, what, seconds: float = 60):
        """Until it is true."""
        end = time.monotonic() + seconds
        while not (found := what(self)):
            assert time.monotonic() < end and self.process.poll() is None, (self.model(), self.said)
            time.sleep(0.02)
        return found

    def wait_for_rows(self, count: int) -> dict:
        """Until so many came; the status."""
        return self.wait(lambda m: (model := m.model())["rows"] >= count and model)

    def stop(self) -> str:
        """What it printed after its first line."""
        self.process.send_signal(signal.SIGINT)
        out = self.process.stdout.read()
        assert self.process.wait(60) == 0, self.said
        return out


@pytest.fixture(scope="module")
def server():
    with running_mlserver() as base:
        yield base


@pytest.fixture(scope="module")
def base(harmonia, tmp_path_factory):
    folder = tmp_path_factory.mktemp("baseline")
    (folder / "train.csv").write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in rows_of(1, 3000)))
    made = harmonia("baseline", "fn:f4", folder / "train.csv", "--radius", 0.1, "-o", folder / "base.json")
    assert made.returncode == 0, made.stderr
    return folder / "base.json"


@pytest.fixture
def watch(program, base, tmp_path):
    """Starts harmonia monitor in tmp_path: watch("fn:f4", "--source", "sidecar:…")."""
    running = []

    def start(*words, listen: str = "127.0.0.1:0") -> Monitor:
        command = [program, "monitor", *words, "--baseline", base, "--listen", listen]
        process = subprocess.Popen(list(map(str, command)), cwd=tmp_path, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        running.append(process)
        return Monitor(process)

    yield start
    for process in running:
        process.kill()
        process.communicate()


@contextlib.contextmanager
def stand_in(answer):
    """A server whose inference is answer(handler, body) -> (status, body, headers); gives its base and what was asked of it: a
    list of (path, headers, body)."""
    asked = []

    class Stand(Handler):
        def do_GET(self):
            asked.append((self.path, self.headers, b""))
            self.say(b'{"name": "curved", "inputs": []}')

        def do_POST(self):
            body = self.body()
            asked.append((self.path, self.headers, body))
            status, text, headers = answer(self, body)
            self.say(text, status, **headers)

    with serving(Stand) as url:
        yield url.removesuffix("/v1"), asked


def fine(_handler, _body):
    return 200, b'{"outputs": []}', {}


SAME = [
    ("GET", "/v2", None, {}),
    ("GET", "/v2/health/live", None, {}),
    ("GET", "/v2/health/ready", None, {}),
    ("HEAD", "/v2/health/ready", None, {}),
    ("GET", "/v2/models/curved", None, {}),
    ("GET", "/v2/models/curved/ready", None, {}),
    ("GET", "/v2/models/curved/versions/1", None, {}),
    ("GET", "/v2/models/curved/versions/1/ready", None, {}),
    ("GET", "/v2/models/none/ready", None, {}),
    ("POST", INFER, request_of(rows_of(2, 1), "one"), JSON),
    ("POST", INFER + "?a=%20b", request_of(rows_of(2, 3), "nested", nested=True), JSON),
    ("POST", "/v2/models/curved/versions/1/infer", request_of(rows_of(2, 2), "version"), JSON),
    ("POST", INFER, request_of(rows_of(2, 500), "packed"), {**JSON, "Accept-Encoding": "gzip"}),
    ("POST", INFER, request_of(rows_of(2, 40000), "long"), JSON),
    ("POST", INFER, b'{"inputs": []}', JSON),
    ("POST", INFER, b"\x00\xff not JSON \r\n\r\n", {"Content-Type": "application/octet-stream", "Inference-Header-Content-Length": "3"}),
    ("POST", INFER, b"\x1f\x8b packed, it says", {**JSON, "Content-Encoding": "gzip"}),
    ("POST", INFER, b"--b\r\n\r\n--b--", {"Content-Type": "multipart/form-data; boundary=b"}),
    ("POST", "/v2/models/undeclared/infer", b'{"id": "other", "inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP64", "data": [1, 2, 3, 4]}]}', JSON),
    ("POST", "/v2/models/none/infer", request_of(rows_of(2, 1), "none"), JSON),
]


def test_answers_are_those_of_the_server_byte_for_byte(server, watch):
    monitor = watch(f"{server}/v2/models/curved", "--source", "sidecar", "--share", 0.01)
    own = ("date", "connection", "keep-alive", "transfer-encoding", "content-length", "accept-ranges")
    for method, path, body, headers in SAME:
        direct, through = (ask(where, method, path, body, headers) for where in (server, monitor.url))
        assert (through.status, through.body) == (direct.status, direct.body), path
        kept = [[(n.lower(), v) for n, v in answer.headers.items() if n.lower() not in own] for answer in (direct, through)]
        assert sorted(kept[0]) == sorted(kept[1]), path
    # The rows of the requests for the watched model that were answered, and of no other; gamma's own are not measured again.
    model = monitor.wait_for_rows(1 + 3 + 2 + 500 + 40000)
    monitor.wait(lambda m: m.model()["windows"][-1]["next"] == 40506)
    assert model["rows"] == 40506 and model["refused"] == 0
    assert model["inference"] == {"requests": 5, "unread": 0, "last_unread": "", "rows": 40506, "dropped_rows": 0, "unanswered": 0}
    assert "5 inference requests passed on: the rows of 0 could not be read; 0 rows left out because too many waited, 0 when it ended" in monitor.stop()


def test_windows_are_those_of_the_same_rows_sent_to_be_measured(server, watch):
    """Whatever requests the rows come in, and however these are taken together."""
    model = f"{server}/v2/models/curved"
    draw, rows, bodies = random.Random(3), rows_of(4, 1200), []
    first = 0
    while first < len(rows):
        count = draw.choice([1, 1, 1, 2, 7, 100])
        bodies.append(request_of(rows[first : first + count], f"r{first}", nested=draw.random() < 0.5))
        first += count
    options = ["--window", 500, "--share", 0.7]
    through = watch(model, "--source", "sidecar", "--state", "sidecar.db", *options)
    for body in bodies:
        assert through.infer(body).status == 200
    sent = watch(model, "--source", "http", "--state", "http.db", *options)
    text = json.dumps({"rows": rows}).encode()
    assert ask(sent.url, "POST", "/v1/rows", text, JSON).json()["rows"] == 1200
    statuses = [monitor.wait_for_rows(1200) for monitor in (through, sent)]
    shown = [{k: s[k] for k in ("rows", "measured", "left_out", "without_value", "p_values")} for s in statuses]
    assert shown[0] == shown[1] and 700 < shown[0]["measured"] < 1000
    windows = [[{k: w[k] for k in w if k not in ("begin", "end")} for w in s["windows"]] for s in statuses]
    assert windows[0] == windows[1] and len(windows[0]) == 3 and windows[0][0]["gamma"]["mean"] > 0
    assert through.metric("harmonia_rows_total") == 1200
    assert through.metric("harmonia_inference_requests_total") == len(bodies)


def test_rows_of_many_clients_are_counted_once_each(server, watch):
    monitor = watch("fn:f4", "--source", f"sidecar:{server}/v2/models/curved")
    clients, requests = 8, 40

    def send(client: int) -> int:
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(monitor.url).netloc, timeout=60)
        sent = 0
        for i in range(requests):
            rows = rows_of(100 * client + i, 1 + i % 3)
            connection.request("POST", INFER, request_of(rows, f"{client}-{i}"), JSON)
            answer = connection.getresponse()
            found = json.loads(answer.read())
            assert answer.status == 200 and found["id"] == f"{client}-{i}" and found["outputs"][0]["shape"][0] == len(rows)
            sent += len(rows)
        return sent

    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        sent = sum(pool.map(send, range(clients)))
    model = monitor.wait_for_rows(sent)
    assert model["measured"] == sent == monitor.metric("harmonia_rows_total") and model["inference"]["requests"] == clients * requests


def test_drift_through_the_side_car_raises_an_alert(server, watch, tmp_path):
    monitor = watch(f"{server}/v2/models/curved", "--source", "sidecar", "--alerts", "alerts.jsonl")
    for i in range(30):
        assert monitor.infer(request_of(rows_of(500 + i, 50), f"before-{i}")).status == 200
    monitor.wait_for_rows(1500)
    assert monitor.model()["alerts"] == []
    for i in range(20):
        assert monitor.infer(request_of(rows_of(600 + i, 50, factor=3), f"after-{i}")).status == 200
    (alert,) = monitor.wait(lambda m: [a for a in m.model()["alerts"] if a["complete"]])
    assert alert["since_number"] >= 1400 and "a is more often" in alert["text"] and "gamma is larger" in alert["text"]
    row = json.loads((tmp_path / "alerts.jsonl").read_text().splitlines()[-1])["rows"][0]
    assert row["id"].startswith("after-")  # the id of the request that it came in


def test_a_server_that_is_gone_is_said_and_comes_back(watch):
    (port,) = free_ports(1)
    with running_mlserver(port=port) as base:
        monitor = watch(f"{base}/v2/models/curved", "--source", "sidecar", "--retries", 0)
        assert monitor.infer(request_of(rows_of(7, 10))).status == 200
        monitor.wait_for_rows(10)
    for _ in range(3):
        answer = monitor.infer(request_of(rows_of(8, 1)))
        assert answer.status == 502 and "connection refused" in answer.json()["error"]
        assert ask(monitor.url, "GET", "/v2/health/ready").status == 502
    assert ask(monitor.url, "GET", "/healthz").status == 200 and monitor.model()["inference"]["unanswered"] == 6
    with running_mlserver(port=port):
        assert monitor.infer(request_of(rows_of(9, 5))).status == 200
        assert monitor.wait_for_rows(15)["rows"] == 15
        out = monitor.stop()
    assert "15 rows came, 15 measured" in out
    assert len([line for line in monitor.said if "the model server does not answer" in line]) == 1


def test_a_server_that_is_slow_is_not_waited_for(watch):
    given = threading.Event()
    with stand_in(lambda *_: (given.wait(60), fine(*_))[1]) as (base, _):
        monitor = watch("fn:f4", "--source", f"sidecar:{base}/v2/models/curved", "--timeout", 0.5)
        answer = monitor.infer(request_of(rows_of(1, 1)))
        given.set()
        assert answer.status == 504 and "no answer within 0.5 s" in answer.json()["error"]
        assert monitor.infer(request_of(rows_of(1, 2))).status == 200
        assert monitor.wait_for_rows(2)["rows"] == 2


def test_it_ends_while_a_server_goes_on_answering(watch):
    """A byte now and then is no silence; it has a few seconds from the signal on."""
    ended = threading.Event()

    def trickle(handler, _body):
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        with contextlib.suppress(OSError):
            while not ended.wait(0.2):
                handler.wfile.write(b" ")
                handler.wfile.flush()
        return 200, b"", {}

    with stand_in(trickle) as (base, asked):
        monitor = watch("fn:f4", "--source", f"sidecar:{base}/v2/models/curved")
        threading.Thread(target=lambda: monitor.infer(request_of(rows_of(1, 1))), daemon=True).start()
        until = time.monotonic() + 30
        while not asked and time.monotonic() < until:
            time.sleep(0.05)
        assert asked
        monitor.process.send_signal(signal.SIGTERM)
        try:
            assert monitor.process.wait(30) in (0, 130, 143)
        finally:
            ended.set()


def test_a_full_queue_leaves_rows_out_and_inference_goes_on(watch, tmp_path):
    """The model that measures waits for a file; those who ask for inference do not."""
    (tmp_path / "model.py").write_text(
        "import math, os, sys, time\n"
        "for number, line in enumerate(sys.stdin):\n"
        "    while number > 0 and not os.path.exists('go'):\n"
        "        time.sleep(0.02)\n"
        "    print(math.exp(sum(map(float, line.split(',')))), flush=True)\n"
    )
    big = request_of(rows_of(5, 60000))
    with stand_in(fine) as (base, asked):
        monitor = watch(f"cmd:{sys.executable} model.py", "--source", f"sidecar:{base}/v2/models/curved", "--share", 0.001)
        for count in range(1, 7):
            assert monitor.infer(big).body == b'{"outputs": []}' and len(asked) == count
        # One is measured, the next one was read, one waits: no two of this size do. Others may come before these are taken.
        monitor.wait(lambda m: m.model()["inference"]["requests"] == 6)
        dropped = monitor.model()["inference"]["dropped_rows"]
        assert dropped in (180000, 240000, 300000) and monitor.metric("harmonia_inference_rows_dropped_total") == dropped
        assert monitor.model()["rows"] == 0
        assert monitor.model()["inference"]["rows"] == 360000 - dropped
        (tmp_path / "go").touch()
        model = monitor.wait_for_rows(360000 - dropped)
        assert model["rows"] == 360000 - dropped and model["measured"] > 0
        assert f"{dropped} rows left out because too many waited" in monitor.stop()
    assert any("rows of inference come faster than they are measured" in line for line in monitor.said)


def test_bytes_pass_and_their_rows_are_read(watch):
    """The binary tensor extension, as Triton's clients send it."""
    head = json.dumps({"id": "b", "inputs": [{"name": "x", "shape": [3, 2], "datatype": "FP32", "parameters": {"binary_data_size": 24}}]}).encode()
    body = head + struct.pack("<6f", 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    reply = bytes(range(256)) * 20000  # longer than what is read whole
    with stand_in(lambda *_: (200, reply, {"Content_Type": "application/octet-stream", "Inference_Header_Content_Length": "5"})) as (base, asked):
        monitor = watch("fn:f4", "--source", f"sidecar:{base}/v2/models/curved")
        length = {"Inference-Header-Content-Length": str(len(head)), "Content-Type": "application/octet-stream"}
        answer = ask(monitor.url, "POST", INFER, body, length)
        assert answer.body == reply and answer.headers["Inference-Header-Content-Length"] == "5"
        assert answer.headers["Content-Type"] == "application/octet-stream"
        assert asked[-1][2] == body and asked[-1][1]["Inference-Header-Content-Length"] == str(len(head))
        monitor.wait_for_rows(3)
        # What cannot be read passes as well, and is counted.
        for wrong, said in (
            (request_of([[1, 2]], datatype="BYTES"), "is of datatype BYTES; expected numbers"),
            (b'{"inputs": [{"name": "x", "shape": [1, 3], "datatype": "FP64", "data": [1, 2, 3]}]}', "shape [1,3]; expected [rows, …] with 2 values a row"),
            (b"\xff\x00", "is not JSON"),
        ):
            assert monitor.infer(wrong).body == reply and asked[-1][2] == wrong
            assert said in monitor.wait(lambda m, said=said: said in (text := m.model()["inference"]["last_unread"]) and text)
        inference = monitor.model()["inference"]
        assert (inference["requests"], inference["unread"], monitor.model()["rows"]) == (4, 3, 3)
        assert monitor.metric("harmonia_inference_requests_unread_total") == 3


def test_headers_go_on_but_for_those_of_the_connection(watch):
    """Those of the clients: --header is sent with the monitor's own evaluations alone."""
    answer = {"outputs": [{"name": "y", "shape": [1], "datatype": "FP64", "data": [1]}]}
    with stand_in(lambda *_: (200, json.dumps(answer).encode(), {"Connection": "X-Hop", "X_Hop": "1", "X_Kept": "a%0d%0ab", "Set_Cookie": "a=b"})) as (base, asked):
        monitor = watch(f"{base}/v2/models/curved", "--source", "sidecar", "--share", 1e-9, "--header", "Authorization: Bearer ours")
        assert all(headers["Authorization"] == "Bearer ours" for _, headers, _ in asked)
        sent = {
            "Authorization": "Bearer theirs%2F", "X-Evil": "a%0d%0aX-Injected: b", "Connection": "keep-alive, X-Mine", "X-Mine": "1",
            "TE": "trailers", "Upgrade": "h2c", "Proxy-Connection": "close", "X-Empty": "", "Cookie": "c=%20d", "Accept-Encoding": "br",
        }
        answer = monitor.infer(request_of([[1, 2]]), **sent)
        got = asked[-1][1]
        assert (got["Authorization"], got["X-Evil"], got["Cookie"], got["X-Empty"]) == ("Bearer theirs%2F", "a%0d%0aX-Injected: b", "c=%20d", "")
        assert got["Accept-Encoding"] == "br" and "harmonia" in got["Via"]
        assert not {"x-mine", "te", "upgrade", "proxy-connection", "x-injected"} & {name.lower() for name in got}
        assert answer.headers["X-Kept"] == "a%0d%0ab" and answer.headers["X-Hop"] is None and answer.headers["Set-Cookie"] == "a=b"
        assert answer.headers["X-Frame-Options"] is None and answer.headers["Cache-Control"] is None


SMUGGLED = b"GET /v2/health/live HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.mark.parametrize(
    "head",
    [
        b"POST %s HTTP/1.1\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n",
        b"POST %s HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 50\r\n",
        b"POST %s HTTP/1.1\r\nContent-Length: +5\r\n",
        b"POST %s HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n",
        b"POST %s HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        b"POST %s HTTP/1.1\r\nTransfer-Encoding : chunked\r\n",
        b"POST %s HTTP/1.1\r\nX: a\r\n Content-Length: 5\r\n",
        b"POST %s HTTP/1.1\r\nX: a\nContent-Length: 5\r\n",
        b"POST %s HTTP/1.1\r\nX: a\rb\r\n",
        b"GET /v2/models/curved HTTP/1.1\r\nContent-Length: 50\r\n",
    ],
    ids=["both", "two", "plus", "other", "twice", "blank", "folded", "line feed", "return", "get"],
)
def test_nothing_is_smuggled(watch, head):
    with stand_in(fine) as (base, asked):
        monitor = watch("fn:f4", "--source", f"sidecar:{base}/v2/models/curved")
        head = head % INFER.encode() if b"%s" in head else head
        got = raw(monitor.url, head + b"Host: a\r\n\r\n" + b"0\r\n\r\n" + SMUGGLED)
        assert got.startswith(b"HTTP/1.1 400") and got.count(b"HTTP/1.1") == 1 and asked == []
        assert monitor.infer(request_of([[1, 2]])).status == 200


def test_what_is_no_request_of_the_protocol_is_not_passed_on(watch):
    with stand_in(fine) as (base, asked):
        monitor = watch("fn:f4", "--source", f"sidecar:{base}/v2/models/curved")
        for method, path in (("POST", "/v2/repository/models/curved/unload"), ("GET", "/v2/models/../health"), ("GET", "/v2/models/%2e%2e/ready"), ("GET", "/v2/models//ready")):
            assert ask(monitor.url, method, path).status == 404, path
        assert ask(monitor.url, "GET", INFER).status == 405
        answer = raw(monitor.url, b"POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % (INFER.encode(), (64 << 20) + 1))
        assert answer.startswith(b"HTTP/1.1 413") and isinstance(json.loads(answer.split(b"\r\n\r\n")[1])["error"], str)
        assert ask(monitor.url, "POST", "/v1/rows", b"1,2\n", {"Content-Type": "text/csv"}).status == 404
        assert asked == []
        chunks = raw(monitor.url, b"POST %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n" % INFER.encode())
        assert chunks.startswith(b"HTTP/1.1 200") and asked[-1][2] == b"{}" and asked[-1][1]["Content-Length"] == "2"


def test_a_side_car_of_itself_says_so(watch):
    (port,) = free_ports(1)
    monitor = watch("fn:f4", "--source", f"sidecar:http://127.0.0.1:{port}/v2/models/curved", listen=f"127.0.0.1:{port}")
    answer = monitor.infer(request_of([[1, 2]]))
    assert answer.status == 508 and "passes on to itself" in answer.json()["error"] and monitor.model()["rows"] == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["fn:f4", "--source", "sidecar"], "expected --listen HOST:PORT"),
        (["fn:f4", "--source", "sidecar", "--listen", "127.0.0.1:0"], "side-car of 'fn:f4'; expected a model server"),
        (["fn:f4", "--source", "sidecar:http://127.0.0.1:1", "--listen", "127.0.0.1:0"], "expected http(s)://host[:port]/v2/models/NAME"),
    ],
)
def test_bad_usage_is_one_line(harmonia, base, tmp_path, words, sentence):
    done = harmonia("monitor", *words, "--baseline", base, cwd=tmp_path)
    assert done.returncode == 2 and sentence in done.stderr and done.stderr.count("\n") == 1, done.stderr
