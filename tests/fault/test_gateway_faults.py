"""The gateway passes everything on as it is, and loses no answer: whatever clients, the upstream and the embedder do."""

import gzip
import http.client
import json
import math
import os
import threading
import time

import pytest
from support.gateway import chat_answer, running_gateway, running_upstream


def right(handler, request):
    handler.say(chat_answer("re: " + request["messages"][-1]["content"]))


def turned(angle: float):
    """Embeddings on a circle: what begins with 'turned' lies at the angle, all else at 0."""
    return lambda text: [math.cos(angle), math.sin(angle)] if text.startswith("turned") else [1.0, 0.0]


def is_variant(request: dict) -> bool:
    return request["messages"][-1]["content"] != "the question"


def holding_variants(held: threading.Event):
    """Answers the question; variants once `held` is set."""

    def answer(handler, request):
        if is_variant(request):
            held.wait(60)
        handler.say(chat_answer("plain"))

    return answer


@pytest.mark.parametrize(("method", "path", "body", "headers"), [
    ("GET", "/v1/models?after=a%20b&x=1", None, {}),
    ("GET", "/v1/files/f%2F1/content", None, {"Range": "bytes=2-5"}),
    ("DELETE", "/v1/files/f-1", None, {}),
    ("PATCH", "/v1/things", b"{}", {"Content-Type": "application/merge-patch+json"}),
    ("POST", "/v1/embeddings-not", b'{"input": "a"}', {"Content-Type": "application/json", "OpenAI-Organization": "org"}),
    ("POST", "/v1/audio/transcriptions", b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nabc\r\n--b--\r\n',
     {"Content-Type": "multipart/form-data; boundary=b"}),
    ("POST", "/v1/completions", gzip.compress(b'{"prompt": "a"}'), {"Content-Type": "application/json", "Content-Encoding": "gzip"}),
    ("POST", "/v1/completions", b"no JSON \x00\xff", {"Content-Type": "text/plain"}),
    ("POST", "/v1/form", b"a=1&b=2" * 4000, {"Content-Type": "application/x-www-form-urlencoded"}),
    ("PUT", "/v1/large", b"\x01" * 20_000_000, {"Content-Type": "application/octet-stream"}),
], ids=["query", "range", "delete", "patch", "json", "multipart", "gzip", "no json", "form", "large"])  # fmt: skip
def test_calls_and_answers_pass_as_they_are(program, method, path, body, headers):
    with running_upstream(None) as (url, upstream), running_gateway(program, url, "--embed", url) as gateway:
        connection = gateway.connect()
        connection.request(method, path, body, {"Authorization": "Bearer mine", "X-Own": "1", "Accept-Encoding": "gzip, br", **headers})
        answer = connection.getresponse()
        assert answer.status == 203
        assert answer.headers["X-Upstream"] == "here"
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.headers["Content-Encoding"] is None
        assert answer.headers["X-Harmonia-Id"] is None
        assert json.loads(answer.read()) == {"method": method, "path": path, "size": len(body or b"")}
        connection.close()
        (call,) = upstream.calls
    assert call["body"] == (body or b"")
    for name, value in {"Authorization": "Bearer mine", "X-Own": "1", **headers}.items():
        assert call["headers"][name] == value
    assert not {"REMOTE_ADDR", "LOCAL_PORT", "Expect", "X-Harmonia", "User-Agent"} & set(call["headers"])


@pytest.mark.parametrize("path", ["/", "/v2/models", "/v1/../secret", "/v1/a/%2e%2e/secret", "/v1@127.0.0.1:1/x", "/%761/models"])
def test_nothing_else_is_asked_of_the_upstream(program, path):
    with running_upstream(None) as (url, upstream), running_gateway(program, url, "--embed", url) as gateway:
        answer = gateway.ask("GET", path)
        assert answer.status == 404
        assert "no such path" in answer.json()["error"]["message"]
        assert upstream.calls == []


def test_an_answer_without_a_body(program):
    with running_upstream(None) as (url, _), running_gateway(program, url, "--embed", url) as gateway:
        answer = gateway.ask("DELETE", "/v1/nothing")
        assert (answer.status, answer.body, answer.headers["Transfer-Encoding"]) == (204, b"", None)


def test_health_and_unknown_measurements(program):
    with running_upstream(None) as (url, upstream), running_gateway(program, url, "--embed", url) as gateway:
        assert gateway.ask("GET", "/health").json()["status"] == "ok"
        assert gateway.ask("GET", "/v1/gamma/none").status == 404
        assert upstream.calls == []


def test_an_unmeasured_answer_has_the_upstream_s_bytes(program):
    with running_upstream(right) as (url, _), running_gateway(program, url, "--embed", url) as gateway:
        answer = gateway.chat("hello")
        assert answer.body == chat_answer("re: hello")
        assert gateway.chat("hello", X_Harmonia="skip").body == answer.body
    assert "2 calls passed on, 0 chosen to be measured" in gateway.output


def test_gamma_of_the_last_message_of_the_user(program):
    """Every variant is answered 0.3 rad away; the rest of the conversation and the parameters are the client's."""

    call = {"model": "m", "temperature": 0.5, "max_tokens": 9999, "n": 1, "seed": 5, "tools": [], "messages": [
        {"role": "system", "content": "be brief"}, {"role": "user", "content": "first"}, {"role": "assistant", "content": "a"},
        {"role": "user", "content": [{"type": "text", "text": "no"}, {"type": "text", "text": "words"}, {"type": "image_url", "image_url": {"url": "u"}}]},
        {"role": "tool", "content": "t"}]}  # fmt: skip

    def answer(handler, request):
        words = request["messages"][3]["content"][1]["text"]
        handler.say(chat_answer("plain" if words == "words" else "turned"))

    options = ["--variants", 6, "--budget-ms", 60000, "--max-tokens", 50]
    with running_upstream(answer, turned(0.3)) as (url, upstream), running_gateway(program, url, "--embed", url, *options) as gateway:
        said = gateway.ask("POST", "/v1/chat/completions", call, X_Harmonia="measure", Authorization="Bearer mine", Idempotency_Key="1")
        assert said.status == 200
        found = said.json().pop("harmonia")
        assert said.body.startswith(chat_answer("plain").rstrip()[:-1].rstrip())
        assert found["status"] == "measured"
        for name in ("gamma", "plain", "low", "high"):
            assert found[name] == pytest.approx(0.3, abs=1e-6)
        assert found["paper"] == pytest.approx(math.sqrt(1 - math.cos(0.3)), abs=1e-6)
        assert (found["band"], found["convention"], found["variants"], found["changed"], found["cut"]) == ("likely hallucination", "angle", 6, 6, 0)
        assert found["resultant"] == pytest.approx(1, abs=1e-6)
        assert said.headers["X-Harmonia-Id"] == found["id"]
        assert float(said.headers["X-Harmonia-Gamma"]) == pytest.approx(0.3, abs=1e-5)
        assert said.headers["X-Harmonia-Band"] == "likely hallucination"
        assert said.headers["X-Harmonia-Convention"] == "angle"
        # By our id and by the upstream's.
        assert gateway.ask("GET", "/v1/gamma/" + found["id"]).json() == found
        assert gateway.ask("GET", "/v1/gamma/chatcmpl-7").json() == found
        first, *variants = upstream.chats()
    assert first == call
    assert len(variants) == 6
    for sent in variants:
        words = sent["messages"][3]["content"][1]["text"]
        assert words.startswith("words ") and len(words) > len("words ")
        sent["messages"][3]["content"][1]["text"] = "words"
        assert sent.pop("stream") is False
        assert sent.pop("max_tokens") == 50
        assert sent == {name: value for name, value in call.items() if name not in ("max_tokens", "n")}
    for made in upstream.calls[1:]:
        if made["path"].endswith("/chat/completions"):
            assert made["headers"]["Authorization"] == "Bearer mine"
            assert "Idempotency-Key" not in made["headers"]


def test_identical_answers_have_gamma_exactly_0_and_repeats_give_the_floor(program):
    with running_upstream(lambda handler, _: handler.say(chat_answer("same")), turned(1)) as (url, upstream):
        with running_gateway(program, url, "--embed", url, "--repeats", 2, "--variants", 3, "--sample", 1) as gateway:
            found = gateway.gamma(gateway.chat("the question", {"seed": 3}).json()["harmonia"]["id"])
    assert (found["gamma"], found["changed"], found["floor"], found["excess"], found["calls"]) == (0, 0, 0, 0, 5)
    assert found["band"] == "probably trustworthy"
    assert sorted(chat["seed"] for chat in upstream.chats()) == [3, 3, 3, 3, 4, 5]


def test_the_sampled_share_is_what_was_asked_for(program):
    """400 calls at 0.25: 100, give or take five standard deviations of 8.7. Draws are keyed, so the number is always the same."""
    with running_upstream(lambda handler, _: handler.say(chat_answer("a"))) as (url, _), running_gateway(program, url, "--embed", url, "--sample", 0.25) as gateway:
        connection = gateway.connect()

        def is_sampled(path):
            connection.request("POST", path, b'{"messages": []}')
            answer = connection.getresponse()
            answer.read()
            return answer.headers["X-Harmonia-Id"] is not None

        assert 57 <= sum(is_sampled("/v1/chat/completions") for _ in range(400)) <= 143
        assert not any(is_sampled("/v1/completions") for _ in range(50))
        connection.close()


def test_an_answer_is_not_delayed_beyond_its_budget(program):
    held = threading.Event()
    with running_upstream(holding_variants(held), turned(1)) as (url, _):
        for budget in (0, 100):
            with running_gateway(program, url, "--embed", url, "--budget-ms", budget, "--variants", 2) as gateway:
                held.clear()
                answer = gateway.chat("the question", X_Harmonia="measure")  # comes although no variant is answered
                said = answer.json()["harmonia"]
                assert said == {"id": answer.headers["X-Harmonia-Id"], "status": "pending"}
                assert answer.headers["X-Harmonia-Gamma"] is None
                later = gateway.ask("GET", "/v1/gamma/" + said["id"])
                assert (later.status, later.json()) == (202, said)
                held.set()
                assert gateway.gamma(said["id"])["gamma"] == 0


@pytest.mark.parametrize(("case", "reason"), [
    ("embedder refuses", "no embeddings today"), ("embedder is down", "connection refused"), ("429", "status 429"),
    ("no message", "no message of the user"), ("not JSON", "no answer to a chat"), ("tool call", "the answer has no text"),
])  # fmt: skip
def test_an_answer_is_not_lost_when_measuring_fails(program, case, reason):
    bodies = {"not JSON": b"<html>", "tool call": b'{"choices": [{"message": {"content": null, "tool_calls": []}}]}'}

    def answer(handler, request):
        if case == "429" and is_variant(request):
            return handler.say(b'{"error": {"message": "slow down"}}', 429, Retry_After="0")
        return handler.say(bodies.get(case, chat_answer("plain")))

    with running_upstream(answer, None if case == "embedder refuses" else turned(1)) as (url, _):
        embed = "http://127.0.0.1:1/v1" if case == "embedder is down" else url
        options = ["--embed", embed, "--variants", 2, "--retries", 0, "--budget-ms", 30000, "--sample", 1]
        with running_gateway(program, url, *options) as gateway:
            role = "system" if case == "no message" else "user"
            said = gateway.ask("POST", "/v1/chat/completions", {"messages": [{"role": role, "content": "the question"}]})
            assert said.status == 200
            found = gateway.gamma(said.headers["X-Harmonia-Id"])
            assert found["status"] == "failed"
            assert reason in found["reason"]
            if case == "not JSON":
                assert said.body == b"<html>"
            else:
                assert said.json()["harmonia"] == found
                assert said.json()["choices"]


def test_a_full_queue_is_said(program):
    held = threading.Event()
    with running_upstream(holding_variants(held), turned(1)) as (url, upstream):
        options = ["--embed", url, "--variants", 2, "--sample", 1, "--max-pending", 1, "--measuring-threads", 1]
        with running_gateway(program, url, *options) as gateway:
            first = gateway.chat("the question").json()["harmonia"]["id"]
            while not any(map(is_variant, upstream.chats())):  # until it is under way
                time.sleep(0.01)
            second, third = (gateway.chat("the question").json()["harmonia"] for _ in range(2))
            assert second["status"] == "pending"
            assert third["status"] == "failed"
            assert "queue is full" in third["reason"]
            held.set()
            assert gateway.gamma(first)["status"] == gateway.gamma(second["id"])["status"] == "measured"


def test_old_results_are_forgotten(program):
    with running_upstream(right, turned(1)) as (url, _), running_gateway(program, url, "--embed", url, "--variants", 2, "--sample", 1, "--keep", 2) as gateway:
        names = [gateway.chat("the question").json()["harmonia"]["id"] for _ in range(3)]
        assert [gateway.ask("GET", f"/v1/gamma/{name}").status == 404 for name in names] == [True, False, False]


def test_keys(program):
    environment = {**os.environ, "OWN": "gateway-secret", "UP": "upstream-secret"}
    options = ["--gateway-key-env", "OWN", "--key-env", "UP", "--variants", 2, "--budget-ms", 30000]
    with running_upstream(right, turned(1)) as (url, upstream), running_gateway(program, url, "--embed", url, *options, env=environment) as gateway:
        for wrong in ({}, {"Authorization": "Bearer gateway-secre"}, {"Authorization": "Bearer upstream-secret"}, {"Authorization": "gateway-secret"}):
            for path in ("/v1/chat/completions", "/v1/models", "/v1/gamma/x"):
                answer = gateway.ask("GET" if "chat" not in path else "POST", path, b"{}" if "chat" in path else None, **wrong)
                assert answer.status == 401
                assert answer.headers["WWW-Authenticate"] == "Bearer"
                assert answer.json()["error"]["code"] == "invalid_api_key"
        assert upstream.calls == []
        answer = gateway.chat("the question", X_Harmonia="measure", Authorization="Bearer gateway-secret")
        assert answer.json()["harmonia"]["status"] == "measured"
    asked = [call["headers"] for call in upstream.calls if "chat" in call["path"]]
    assert [headers["Authorization"] for headers in asked] == 3 * ["Bearer upstream-secret"]
    assert "secret" not in gateway.output
    assert "secret" not in answer.body.decode()


def test_a_web_page_does_not_spend_the_upstream_s_key(program):
    with running_upstream(right) as (url, upstream), running_gateway(program, url, "--embed", url, "--key-env", "UP", env={**os.environ, "UP": "secret"}) as gateway:
        assert gateway.chat("the question", Origin="http://example.com").status == 403
        assert upstream.calls == []
        assert gateway.chat("the question").status == 200


def test_an_upstream_that_is_down_is_said(program):
    with running_gateway(program, "http://127.0.0.1:1/v1", "--embed", "http://127.0.0.1:1/v1", "--sample", 1) as gateway:
        answer = gateway.chat("hello")
        assert answer.status == 502
        assert answer.json()["error"]["message"] == "harmonia gateway: endpoint http://127.0.0.1:1/v1: connection refused"


def test_an_upstream_that_breaks_off_or_is_silent(program):
    def answer(handler, request):
        if request["messages"][-1]["content"] == "silent":
            upstream.ended.wait(60)
            return
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"choices"')
        handler.close_connection = True

    with running_upstream(answer) as (url, upstream), running_gateway(program, url, "--embed", url, "--pass-timeout", 0.5) as gateway:
        answer = gateway.chat("broken")
        assert (answer.status, "closed before" in answer.json()["error"]["message"]) == (502, True)
        answer = gateway.chat("silent")
        assert (answer.status, "no answer within 0.5 s" in answer.json()["error"]["message"]) == (504, True)
        assert answer.json()["error"]["code"] == "gateway_timeout"


def events(*texts: str) -> list[bytes]:
    return [b"data: " + json.dumps({"id": "chatcmpl-9", "choices": [{"index": 0, "delta": {"content": text}}]}).encode() + b"\n\n" for text in texts]


def streaming(go: threading.Event, kind: str = "text/event-stream; charset=utf-8"):
    """Streams 'turned around' to the question, its second half once `go` is set; answers variants at once."""

    def answer(handler, request):
        if is_variant(request):
            return handler.say(chat_answer("turned around"))
        assert request["stream"] is True
        handler.begin_stream(kind)
        first, second = events("turned", " around")
        handler.piece(first)
        go.wait(60)
        handler.piece(second + b"data: [DO")
        handler.piece(b"NE]\n\n")
        return handler.piece(b"")

    return answer


def test_a_stream_passes_as_it_comes(program):
    go = threading.Event()
    with running_upstream(streaming(go), turned(1)) as (url, upstream), running_gateway(program, url, "--embed", url, "--variants", 2) as gateway:
        connection = gateway.connect()
        connection.request("POST", "/v1/chat/completions", json.dumps({"stream": True, "stream_options": {"include_usage": True}, "messages": [{"role": "user", "content": "the question"}]}),
                           {"X-Harmonia": "measure", "Accept-Encoding": "gzip"})  # fmt: skip
        answer = connection.getresponse()
        first, second = events("turned", " around")
        assert answer.read(len(first)) == first  # the rest is not written yet
        assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert answer.headers["Content-Encoding"] is None
        name = answer.headers["X-Harmonia-Id"]
        assert gateway.ask("GET", "/v1/gamma/" + name).json() == {"id": name, "status": "pending"}
        assert gateway.ask("GET", "/v1/gamma/chatcmpl-9").json()["id"] == name
        go.set()
        assert answer.read() == second + b"data: [DONE]\n\n"
        connection.close()
        found = gateway.gamma(name)
        assert (found["gamma"], found["changed"], found["variants"]) == (0, 0, 2)
        for sent in upstream.chats()[1:]:
            assert sent["stream"] is False
            assert "stream_options" not in sent


@pytest.mark.parametrize("said", [True, False], ids=["its length is said", "its length is not said"])
def test_an_answer_that_is_too_long_to_be_measured_passes_in_pieces(program, said):
    """Its end is written once the client has its beginning, and more than may be measured."""
    go, longest = threading.Event(), 1 << 24
    answer_bytes = b'{"id": "chatcmpl-7", "text": "' + b"x" * (longest + 1000) + b'"}'
    first, rest = answer_bytes[: longest + 100], answer_bytes[longest + 100 :]

    def answer(handler, _request):
        if said:
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(answer_bytes)))
            handler.end_headers()
            handler.wfile.write(first)
            handler.wfile.flush()
            assert go.wait(60)
            handler.wfile.write(rest)
        else:
            handler.begin_stream("application/json")
            handler.piece(first)
            assert go.wait(60)
            handler.piece(rest)
            handler.piece(b"")

    with running_upstream(answer, turned(1)) as (url, upstream), running_gateway(program, url, "--embed", url, "--sample", 1, "--budget-ms", 30000) as gateway:
        connection = gateway.connect()
        connection.request("POST", "/v1/chat/completions", json.dumps({"messages": [{"role": "user", "content": "the question"}]}))
        answer = connection.getresponse()
        assert answer.read(len(first)) == first
        go.set()
        assert answer.read() == rest
        connection.close()
        found = gateway.gamma(answer.headers["X-Harmonia-Id"])
        assert (found["status"], found["reason"]) == ("failed", f"the answer is too long to be measured; expected at most {longest} bytes")
        assert len(upstream.calls) == 1


def test_a_stream_that_breaks_off_breaks_off_for_the_client_too(program):
    def answer(handler, _request):
        handler.begin_stream()
        handler.piece(events("turned")[0])
        handler.close_connection = True

    with running_upstream(answer, turned(1)) as (url, _), running_gateway(program, url, "--embed", url, "--sample", 1) as gateway:
        connection = gateway.connect()
        connection.request("POST", "/v1/chat/completions", json.dumps({"stream": True, "messages": [{"role": "user", "content": "the question"}]}))
        answer = connection.getresponse()
        with pytest.raises(http.client.IncompleteRead):
            answer.read()
        connection.close()
        assert "broke off" in gateway.gamma(answer.headers["X-Harmonia-Id"])["reason"]


def test_a_client_that_leaves_ends_the_upstream_s_work(program):
    left = threading.Event()

    def answer(handler, _request):
        handler.begin_stream()
        try:
            while not upstream.ended.wait(0.01):
                handler.piece(events("turned")[0])
        except OSError:
            left.set()

    with running_upstream(answer, turned(1)) as (url, upstream), running_gateway(program, url, "--embed", url, "--sample", 1) as gateway:
        connection = gateway.connect()
        connection.request("POST", "/v1/chat/completions", json.dumps({"stream": True, "messages": [{"role": "user", "content": "the question"}]}))
        answer = connection.getresponse()
        assert answer.read(5) == b"data:"
        answer.close()
        connection.close()
        assert left.wait(30)
        assert "broke off" in gateway.gamma(answer.headers["X-Harmonia-Id"])["reason"]


def test_ctrl_c_drops_measurements_and_says_so(program):
    held = threading.Event()
    with running_upstream(holding_variants(held), turned(1)) as (url, upstream):
        with running_gateway(program, url, "--embed", url, "--sample", 1, "--measuring-threads", 1) as gateway:
            for _ in range(3):
                assert gateway.chat("the question").status == 200
            while not any(map(is_variant, upstream.chats())):
                time.sleep(0.01)
            assert gateway.stop() == 0
    assert "3 calls passed on, 3 chosen to be measured; 3 measurements under way or waiting dropped" in gateway.output


def test_ctrl_c_does_not_wait_for_connections_that_are_only_kept_open(program):
    """A server of httplib would wait five seconds for the client's next call."""
    with running_upstream(right) as (url, _), running_gateway(program, url, "--embed", url) as gateway:
        kept, unused = gateway.connect(), gateway.connect()
        kept.request("GET", "/health")
        assert kept.getresponse().read()
        unused.connect()
        gateway.interrupt()
        assert gateway.process.wait(timeout=4) == 0
        for connection in (kept, unused):
            assert connection.sock.recv(1) == b""
            connection.close()


def test_ctrl_c_lets_answers_under_way_end(program):
    go = threading.Event()
    with running_upstream(streaming(go), turned(1)) as (url, _), running_gateway(program, url, "--embed", url) as gateway:
        connection = gateway.connect()
        connection.request("POST", "/v1/chat/completions", json.dumps({"stream": True, "messages": [{"role": "user", "content": "the question"}]}))
        answer = connection.getresponse()
        first, second = events("turned", " around")
        assert answer.read(len(first)) == first
        gateway.interrupt()
        threading.Timer(0.5, go.set).start()
        assert answer.read() == second + b"data: [DONE]\n\n"
        connection.close()
        assert gateway.stop() == 0


@pytest.mark.parametrize(("arguments", "said"), [
    ([], "expected --gateway or --monitor FILE"),
    (["--gateway"], "--chat is required"),
    (["--gateway", "--chat", "http://127.0.0.1:1/v1", "--monitor", "a.db"], "expected --gateway or --monitor FILE"),
    (["--chat", "http://127.0.0.1:1/v1"], "expected --gateway"),
    (["--gateway", "--chat", "ftp://x"], "no http(s) address"),
    (["--gateway", "--chat", "http://127.0.0.1:1/v1", "--listen", "127.0.0.1:x"], "expected HOST:PORT"),
    (["--gateway", "--chat", "http://127.0.0.1:1/v1", "--listen", "192.0.2.1:80"], "cannot listen on 192.0.2.1:80"),
    (["--gateway", "--chat", "http://127.0.0.1:1/v1", "--sample", "2"], "a number from 0 to 1"),
    (["--gateway", "--chat", "http://127.0.0.1:1/v1", "--family", "shouting"], "expected one of appended"),
    (["--gateway", "--chat", "http://127.0.0.1:1/v1", "--key-env", "NO_SUCH_KEY"], "--key-env NO_SUCH_KEY: no such variable"),
    (["--gateway", "--chat", "http://127.0.0.1:1/v1", "--key-env", "HOME", "--listen", "0.0.0.0:0"], "expected --gateway-key-env"),
    (["--gateway", "--chat", "http://127.0.0.1:1/v1", "--header", "NoColon"], "header 1 is not of the form 'Name: value' on one line"),
    (["--gateway", "--chat", "http://127.0.0.1:1/v1", "--gateway-key-file", "/dev/zero"], "--gateway-key-file /dev/zero: has more than 65536 bytes"),
])  # fmt: skip
def test_bad_options_are_said_in_a_line(harmonia, arguments, said):
    done = harmonia("serve", *arguments, *(["--embed", "http://127.0.0.1:1/v1"] if arguments else []))
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_port_that_is_taken_is_said(program, harmonia):
    with running_upstream(None) as (url, _), running_gateway(program, url, "--embed", url) as gateway:
        done = harmonia("serve", "--gateway", "--chat", url, "--embed", url, "--listen", gateway.url.split("/")[2])
        assert done.returncode == 2
        assert "that is free" in done.stderr
