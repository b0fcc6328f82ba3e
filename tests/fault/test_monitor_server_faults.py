"""The monitor's server refuses what it should, says so, and goes on serving."""

import http.client
import socket
import time

import pytest
from support.monitor_page import running_monitor_page

CSV = {"Content_Type": "text/csv"}
ROW = "1,2,3,4\n"
BEARER = {"Authorization": "Bearer ingest-key"}


@pytest.fixture(scope="module")
def guarded(build_dir):
    with running_monitor_page(build_dir, "--read-key", "read-token", "--ingest-key", "ingest-key", "--body", 100000, "--head-seconds", 1) as page:
        yield page


def raw(page, sent: bytes, wait: float = 30) -> bytes:
    """All that comes back until the server closes."""
    host, port = page.place.split(":")
    with socket.create_connection((host, int(port)), timeout=wait) as connection:
        connection.sendall(sent)
        got = b""
        while piece := connection.recv(65536):
            got += piece
        return got


def test_rows_need_their_key(guarded):
    assert guarded.ask("POST", "/v1/rows", ROW, **CSV).status == 401
    for wrong in ("Bearer ingest-kez", "Bearer ", "Bearer read-token", "Basic ingest-key", "ingest-key"):
        assert guarded.ask("POST", "/v1/rows", ROW, Authorization=wrong, **CSV).status == 403
    assert guarded.ask("POST", "/v1/rows", ROW, **BEARER, **CSV).json()["rows"] == 1
    assert guarded.ask("GET", "/api/status", **BEARER).status == 403


@pytest.mark.parametrize("path", ["/api/status", "/api/events", "/api/alerts/1", "/metrics"])
def test_readers_need_their_token(guarded, path):
    answer = guarded.ask("GET", path)
    assert answer.status == 401 and answer.headers["WWW-Authenticate"] == "Bearer"
    assert guarded.ask("GET", path + "?token=read-token").status == 401
    assert guarded.ask("GET", path, Cookie="harmonia_page=; harmonia_1=read-token").status == 401
    assert guarded.ask("GET", path, Authorization="Bearer nonsense").status == 403
    if path != "/api/events":
        assert guarded.ask("GET", path, Authorization="bearer read-token").status in (200, 404)


def test_logging_in_gives_a_cookie_and_out_takes_it(guarded):
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    assert guarded.ask("GET", "/").status == 401
    assert guarded.ask("GET", "/?token=read-token").status == 401
    wrong = guarded.ask("POST", "/login", "token=wrong", **form)
    assert wrong.status == 403 and b"wrong" in wrong.body and wrong.headers["Set-Cookie"] is None
    answer = guarded.ask("POST", "/login", "token=read%2dtoken", **form)
    assert answer.status == 303 and answer.headers["Location"] == "/"
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "read-token" not in cookie
    held = cookie.split(";")[0]
    page = guarded.ask("GET", "/", Cookie=f"other=1; {held}")
    assert page.status == 200 and b"<script>" in page.body
    assert guarded.ask("GET", "/api/status", Cookie=held).status == 200
    assert guarded.ask("POST", "/v1/rows", ROW, Cookie=held, **CSV).status == 401
    out = guarded.ask("POST", "/logout", "", Cookie=held, **form)
    assert out.status == 303 and "Max-Age=0" in out.headers["Set-Cookie"]
    assert guarded.ask("POST", "/login", '{"token": "read-token"}', Content_Type="application/json").status == 415


def test_pages_of_others_cannot_ask(build_dir):
    """Where there is no key, names of this machine alone are answered, and no web page may send rows."""
    with running_monitor_page(build_dir) as page:
        assert page.ask("GET", "/", Host="evil.example").status == 403
        assert page.ask("GET", "/api/status", Host="evil.example:80").status == 403
        assert page.ask("GET", "/api/status", Host="localhost:1").status == 200
        assert page.ask("POST", "/v1/rows", ROW, Origin="http://evil.example", **CSV).status == 403
        assert page.ask("POST", "/v1/rows", ROW, **CSV).status == 200
        assert page.ask("OPTIONS", "/v1/rows", Origin="http://evil.example").headers["Access-Control-Allow-Origin"] is None


def test_a_key_is_needed_where_others_reach_it(build_dir):
    with pytest.raises(AssertionError, match="0.0.0.0 takes rows from other machines; expected a key for that"):
        with running_monitor_page(build_dir, "--host", "0.0.0.0"):
            pass
    with running_monitor_page(build_dir, "--host", "0.0.0.0", "--ingest-key", "ingest-key") as page:
        assert page.url.startswith("http://0.0.0.0:")


def test_what_is_too_long_is_refused(guarded):
    answer = guarded.ask("POST", "/v1/rows", ROW * 30000, **BEARER, **CSV)
    assert answer.status == 413 and "100000 bytes" in answer.json()["error"]["message"]
    chunks = (ROW.encode() * 1000 for _ in range(1000))  # their sum is not said beforehand
    connection = http.client.HTTPConnection(guarded.place, timeout=60)
    try:
        connection.request("POST", "/v1/rows", chunks, {"Content-Type": "text/csv", "Authorization": "Bearer ingest-key"}, encode_chunked=True)
        assert connection.getresponse().status == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # it did not wait for all of it
    finally:
        connection.close()
    many = b"".join(b"X-H%d: %s\r\n" % (i, b"a" * 1000) for i in range(100))
    assert b" 200 " not in raw(guarded, b"GET /healthz HTTP/1.1\r\nHost: a\r\n" + many + b"\r\n")[:20]
    assert guarded.ask("GET", "/" + "a" * 20000).status in (400, 414)
    assert guarded.ask("POST", "/v1/rows", ROW, X_Harmonia_Batch="b" * 201, **BEARER, **CSV).status == 400
    assert guarded.ask("GET", "/healthz").status == 200


def test_what_is_no_row_is_refused_with_reasons(guarded):
    ask = lambda body, kind: guarded.ask("POST", "/v1/rows", body, Content_Type=kind, **BEARER)
    for kind in ("text/plain", "multipart/form-data; boundary=x", "application/xml", ""):
        assert ask(ROW, kind).status == 415
    assert guarded.ask("POST", "/v1/rows", ROW, Content_Encoding="gzip", **BEARER, **CSV).status == 415
    for body, kind in (("", "text/csv"), ("a,b\n1,2\n", "text/csv")):
        answer = ask(body, kind)
        assert answer.status == 400 and len(answer.json()["error"]["message"]) > 10, answer
    for body in ("[1, 2, 3", '{"rows": 3}', "[1, 2, 3]"):
        assert ask(body, "application/json").json().get("rows", 0) == 0
    assert ask("\xff\x00".encode("latin-1") * 100, "text/csv").status in (200, 400)


def test_a_full_queue_asks_to_come_again(guarded):
    for outcome, seconds in (("full", "1"), ("stopped", "5"), ("late", "5")):
        guarded.tell("push", outcome)
        answer = guarded.ask("POST", "/v1/rows", ROW, **BEARER, **CSV)
        assert (answer.status, answer.headers["Retry-After"]) == (503, seconds)
    guarded.tell("push", "kept")
    assert guarded.ask("POST", "/v1/rows", ROW, **BEARER, **CSV).status == 200


@pytest.mark.parametrize("path", ["/../../etc/passwd", "/..%2f..%2fetc/passwd", "/api/alerts/../../status", "//etc/passwd", "/api/alerts/", "/api/alerts/1/2", "/.git/config", "/%00"])
def test_nothing_is_served_from_the_disk(guarded, path):
    assert guarded.ask("GET", path, Authorization="Bearer read-token").status == 404


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_else_changes_anything(guarded, method):
    answer = guarded.ask(method, "/v1/rows", Authorization="Bearer ingest-key")
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    assert guarded.ask(method, "/api/status", Authorization="Bearer read-token").status == 405


def test_what_follows_a_refused_body_is_no_request(guarded):
    """A body that is not read must not be taken for the next request of the same connection."""
    inner = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
    got = raw(guarded, b"POST /v1/rows HTTP/1.1\r\nHost: a\r\nContent-Type: text/csv\r\nContent-Length: %d\r\n\r\n" % len(inner) + inner)
    assert got.startswith(b"HTTP/1.1 401") and got.count(b"HTTP/1.1") == 1 and b"Connection: close" in got


@pytest.mark.parametrize("sent", [b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"GET / HTTP/9.9\r\n\r\n", b"A" * 100000], ids=["nothing", "no path", "TLS", "version", "long"])
def test_what_is_no_request_is_refused(guarded, sent):
    got = raw(guarded, sent)
    assert b" 200 " not in got[:20] and len(got) < 10000
    assert guarded.ask("GET", "/healthz").status == 200


def test_ranges_do_not_multiply_a_page(guarded):
    """Two thousand overlapping ranges of a page would be hundreds of megabytes."""
    answer = guarded.ask("GET", "/metrics", Authorization="Bearer read-token", Range="bytes=" + ",".join(["0-"] * 500))
    assert answer.status in (200, 416) and len(answer.body) < 100000


def slow(page, count: int) -> list[socket.socket]:
    """Connections that send a part of a head and nothing more."""
    host, port = page.place.split(":")
    found = []
    for _ in range(count):
        found.append(socket.create_connection((host, int(port)), timeout=60))
        found[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n")
    return found


def test_slow_clients_are_let_go(build_dir):
    """More slow clients than threads: all are closed, though each goes on sending, and others are served meanwhile or after."""
    with running_monitor_page(build_dir, "--head-seconds", 1, "--connections", 8) as page:
        held = slow(page, 12)
        for _ in range(6):  # a header now and then
            time.sleep(0.3)
            for connection in held:
                try:
                    connection.sendall(b"X: y\r\n")
                except OSError:
                    pass
        assert page.ask("GET", "/healthz").status == 200
        for connection in held:
            try:
                while connection.recv(4096):
                    pass
            except ConnectionResetError:
                pass
            connection.close()


def test_too_many_clients_are_told(build_dir):
    with running_monitor_page(build_dir, "--head-seconds", 60, "--connections", 4) as page:
        held = slow(page, 8)
        time.sleep(0.3)
        answer = page.ask("GET", "/healthz")
        assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
        for connection in held:
            connection.close()
        end = time.monotonic() + 30
        while page.ask("GET", "/healthz").status != 200:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert page.stop() == 0
        assert any("a connection was refused: 503" in line for line in page.log)


def test_pages_are_bounded_and_counted_down(build_dir):
    with running_monitor_page(build_dir, "--pages", 2) as page:
        with page.events() as a, page.events() as b:
            assert next(a) == next(b)
            answer = page.ask("GET", "/api/events")
            assert (answer.status, answer.headers["Retry-After"]) == (503, "10")
        page.wait_for_pages(0)


def test_it_ends_though_pages_are_open(build_dir):
    with running_monitor_page(build_dir) as page, page.events() as events:
        next(events)
        held = slow(page, 3)
        assert page.stop() == 0
        for connection in held:
            connection.close()


def test_refusals_are_logged_and_a_flood_is_not(build_dir):
    with running_monitor_page(build_dir, "--read-key", "read-token") as page:
        for i in range(300):
            assert page.ask("GET", "/api/status", X_Label=f"value-{i}", Authorization=f"Bearer {i}").status == 403
        metrics = page.ask("GET", "/metrics", Authorization="Bearer read-token").body
        assert b'harmonia_http_replies_total{status="4xx"} 300' in metrics and metrics.count(b"\n") < 250
        assert page.stop() == 0
    assert page.log[0] == "GET /api/status from 127.0.0.1 was refused: 403"
    assert 10 <= len(page.log) < 300
