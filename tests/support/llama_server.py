"""Runs llama.cpp's own server with SmolLM2-135M-Instruct on a free port of the loopback interface.

    with running_llama_server(folder) as url:    # folder: what scripts/setup.sh --llm prints
        ...  # url + "/v1/chat/completions"

As a program it prints the address, and serves until its standard input ends or it is interrupted:

    python tests/support/llama_server.py "$(scripts/setup.sh --llm)" --parallel 1
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

MODEL = "SmolLM2-135M-Instruct"
SLOTS = 4
TOKENS_PER_SLOT = 1024
THREADS = 1  # they wait for each other without rest: where the machine is busy, two are ten times slower than one


def is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(url + "/health", timeout=2) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def ask(url: str, body: dict, timeout: float = 120) -> dict:
    """The answer to one call in JSON."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return json.load(answer)


@contextlib.contextmanager
def running_llama_server(folder: Path | str, *options: str, ready_seconds: float = 120):
    """Gives the base URL of a server that is ready, and ends it. Options come last, so they win over those here."""
    folder = Path(folder)
    (model,) = folder.glob("*.gguf")
    with tempfile.TemporaryDirectory() as place, open(os.path.join(place, "log"), "w+") as log:
        server = subprocess.Popen(
            [folder / "llama-server", "--model", model, "--alias", MODEL, "--host", "127.0.0.1", "--port", "0", "--offline",
             "--threads", str(THREADS), "--threads-batch", str(THREADS), "--parallel", str(SLOTS),
             "--ctx-size", str(SLOTS * TOKENS_PER_SLOT), "--no-ui", *options],
            cwd=place, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        try:
            url, deadline = "", time.monotonic() + ready_seconds
            while not (url and is_ready(url)):
                said = Path(log.name).read_text(errors="replace")
                if server.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"llama-server is not ready (status {server.returncode}):\n{said[-4000:]}")
                if found := re.search(r"listening on (http://127\.0\.0\.1:\d+)", said):
                    url = found.group(1)
                time.sleep(0.05)
            yield url
        finally:
            with contextlib.suppress(ProcessLookupError):
                server.send_signal(signal.SIGTERM)
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with running_llama_server(*sys.argv[1:]) as address, contextlib.suppress(KeyboardInterrupt):
        print(address, flush=True)
        sys.stdin.read()
