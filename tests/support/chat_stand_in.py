"""An OpenAI-compatible endpoint on loopback whose behaviour a test writes; it keeps every question it was asked."""

import contextlib
import hashlib
import json
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def chat_body(text: str, tokens: int = 7) -> dict:
    """What an endpoint answers to /chat/completions."""
    return {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}], "usage": {"total_tokens": tokens}}


def embedding(text: str, width: int = 8) -> list[float]:
    """Numbers that depend on the text alone."""
    drawn = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return [value / 2**31 - 1 for value in struct.unpack(f">{width}I", drawn[: 4 * width])]


class Endpoint:
    """answer(question: dict, asked: int) -> text or status or bytes: a text is an answer, a number a status, bytes a raw body,
    a function writes to the handler itself. `asked` counts how often this very question came before."""

    def __init__(self, answer):
        self.answer = answer
        self.questions: list[tuple[str, str, int | None]] = []  # model, text, seed
        self.headers: list[dict] = []
        self.lock = threading.Lock()

    def asked(self, body: dict) -> int:
        key = (body.get("model"), body["messages"][-1]["content"], body.get("seed"))
        with self.lock:
            before = self.questions.count(key)
            self.questions.append(key)
        return before


@contextlib.contextmanager
def running(answer, refuse=lambda texts: None, embed=embedding):
    """Gives the endpoint's base URL and the endpoint. refuse(texts): a status, if these are not embedded; embed(text): the numbers."""
    endpoint = Endpoint(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def send(self, status: int, body: bytes, **headers):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self):  # noqa: N802
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with endpoint.lock:
                endpoint.headers.append(dict(self.headers))
            if self.path.endswith("/embeddings"):
                texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
                if status := refuse(texts):
                    return self.send(status, json.dumps({"error": {"message": f"status {status}"}}).encode())
                data = [{"index": i, "embedding": embed(text)} for i, text in enumerate(texts)]
                return self.send(200, json.dumps({"data": data}).encode())
            said = endpoint.answer(body, endpoint.asked(body))
            if callable(said):
                return said(self)
            if isinstance(said, int):
                return self.send(said, json.dumps({"error": {"message": f"status {said}"}}).encode())
            if isinstance(said, bytes):
                return self.send(200, said)
            return self.send(200, json.dumps(chat_body(said)).encode())

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_):  # a client that went away
            pass

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def after(seconds: float, text: str):
    """An answer that takes its time."""
    time.sleep(seconds)
    return text
