"""Runs `harmonia serve --gateway`, and an upstream for it whose behaviour a test writes."""

import contextlib
import dataclasses
import http.client
import json
import re
import signal
import subprocess
import threading
import time
import urllib.parse

from support.local_server import Handler, serving


@dataclasses.dataclass
class Answer:
    """What came back, as it was sent."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self) -> dict:
        return json.loads(self.body)


class Gateway:
    """url: what clients have as their base. output: what the program said, once it has ended."""

    def __init__(self, url: str, process: subprocess.Popen):
        self.url, self.process, self.output, self.interrupted = url, process, "", False

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(urllib.parse.urlsplit(self.url).netloc, timeout=60)

    def ask(self, method: str, path: str, body: bytes | dict | None = None, **headers) -> Answer:
        """path: /v1/…. Headers: X_Harmonia="measure"."""
        if isinstance(body, dict):
            body = json.dumps(body).encode()
            headers.setdefault("Content_Type", "application/json")
        connection = self.connect()
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return Answer(answer.status, answer.msg, answer.read())
        finally:
            connection.close()

    def chat(self, text: str, more: dict | None = None, **headers) -> Answer:
        return self.ask("POST", "/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": text}], **(more or {})}, **headers)

    def gamma(self, name: str, seconds: float = 60) -> dict:
        """The measurement, once it is not pending."""
        end = time.monotonic() + seconds
        while (answer := self.ask("GET", f"/v1/gamma/{name}")).status == 202:
            assert time.monotonic() < end, "still pending"
            time.sleep(0.02)
        assert answer.status == 200, answer
        return answer.json()

    def interrupt(self) -> None:
        """Ctrl-C."""
        self.interrupted = True
        self.process.send_signal(signal.SIGINT)

    def stop(self) -> int:
        """Ctrl-C, if it was not pressed before. The exit code."""
        if not self.interrupted:
            self.interrupt()
        try:
            out, err = self.process.communicate(timeout=60)
            self.output += out + err
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return self.process.returncode


@contextlib.contextmanager
def running_gateway(program, upstream: str, *options, **keywords):
    """A gateway before the upstream that measures nothing unless it is asked to (--sample 0)."""
    command = [program, "serve", "--gateway", "--chat", upstream, "--listen", "127.0.0.1:0", *options]
    if "--sample" not in options:
        command += ["--sample", 0]
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **keywords)
    try:
        found = re.search(r" at (http://\S+/v1);", process.stdout.readline())
        assert found, process.communicate(timeout=10)
        gateway = Gateway(found.group(1), process)
        yield gateway
        if not gateway.output:
            assert gateway.stop() == 0, gateway.output
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


class Upstream:
    """answer(handler, request: dict) answers every POST of /chat/completions by handler.say() or by hand; `calls` keeps method,
    path, headers and body of all requests."""

    def __init__(self, answer):
        self.answer = answer
        self.calls: list[dict] = []
        self.ended = threading.Event()

    def chats(self) -> list[dict]:
        return [json.loads(call["body"]) for call in self.calls if call["path"].endswith("/chat/completions")]


def chat_answer(text: str) -> bytes:
    """What an endpoint answers, with its own way to write numbers."""
    return b'{"id": "chatcmpl-7", "choices": [ {"index":0, "message": {"role":"assistant","content": %s}, "finish_reason":"stop", "p": 1.50e0} ],\n "usage": {"total_tokens": 7} }\n' % json.dumps(text).encode()


@contextlib.contextmanager
def running_upstream(answer, embed=None):
    """Gives the base URL and the upstream. embed(text): the numbers that /embeddings answers with; None: it answers 500."""
    upstream = Upstream(answer)

    class Passed(Handler):
        def begin_stream(self, kind: str = "text/event-stream"):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.flush()

        def piece(self, data: bytes):
            """The last one is empty."""
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

        def any_method(self):
            body = self.body()
            upstream.calls.append({"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body})
            if self.path.endswith("/embeddings") and embed:
                texts = json.loads(body)["input"]
                return self.say(json.dumps({"data": [{"index": i, "embedding": embed(text)} for i, text in enumerate(texts)]}).encode())
            if self.path.endswith("/embeddings"):
                return self.say(b'{"error": {"message": "no embeddings today"}}', 500)
            if self.path.endswith("/nothing"):
                self.send_response(204)
                return self.end_headers()
            if self.command == "POST" and self.path.endswith("/chat/completions") and upstream.answer:
                return upstream.answer(self, json.loads(body))
            return self.say(json.dumps({"method": self.command, "path": self.path, "size": len(body)}).encode(), 203, X_Upstream="here")

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = any_method  # noqa: N815

    with serving(Passed) as url:
        try:
            yield url, upstream
        finally:
            upstream.ended.set()
