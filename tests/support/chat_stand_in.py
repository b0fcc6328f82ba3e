"""An OpenAI-compatible endpoint on loopback whose behaviour a test writes; it keeps every question it was asked."""

import contextlib
import hashlib
import json
import struct
import threading
import time

from support.local_server import Handler, serving


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

    class Answering(Handler):
        def do_POST(self):  # noqa: N802
            body = json.loads(self.body())
            with endpoint.lock:
                endpoint.headers.append(dict(self.headers))
            if self.path.endswith("/embeddings"):
                texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
                if status := refuse(texts):
                    return self.refuse(status)
                data = [{"index": i, "embedding": embed(text)} for i, text in enumerate(texts)]
                return self.say(json.dumps({"data": data}).encode())
            said = endpoint.answer(body, endpoint.asked(body))
            if callable(said):
                return said(self)
            if isinstance(said, int):
                return self.refuse(said)
            if isinstance(said, bytes):
                return self.say(said)
            return self.say(json.dumps(chat_body(said)).encode())

        def refuse(self, status: int):
            self.say(json.dumps({"error": {"message": f"status {status}"}}).encode(), status)

    with serving(Answering) as url:
        yield url, endpoint


def after(seconds: float, text: str):
    """An answer that takes its time."""
    time.sleep(seconds)
    return text
