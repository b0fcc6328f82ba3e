"""Runs `harmonia monitor` on streams of two uniform features, in which the first becomes smaller for a while."""

import contextlib
import json
import random
import signal
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

HEADER = "a,b\n"


def rows_text(seed: int, count: int, moved: range = range(0)) -> list[str]:
    """Lines of two uniform features; of those in `moved` the first is a fifth of that."""
    draw = random.Random(seed)
    lines = []
    for i in range(count):
        a, b = draw.random(), draw.random()
        lines.append(f"{a * (0.2 if i in moved else 1):.6f},{b:.6f}\n")
    return lines


def make_baseline(harmonia, folder: Path) -> Path:
    """The baseline of fn:f4 on 3,000 such rows."""
    (folder / "train.csv").write_text(HEADER + "".join(rows_text(1, 3000)))
    made = harmonia("baseline", "fn:f4", folder / "train.csv", "--radius", 0.1, "-o", folder / "base.json")
    assert made.returncode == 0, made.stderr
    return folder / "base.json"


def until(condition: Callable[[], bool], told: Callable[[], object] = lambda: "never") -> None:
    """Waits for it, two minutes at most; then fails with what `told` says."""
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, told()
        time.sleep(0.05)


class Watching:
    """A monitor that runs. said: its lines on standard error, as they come."""

    def __init__(self, process: subprocess.Popen):
        self.process = process
        self.said: list[str] = []
        self.listening = threading.Thread(target=lambda: self.said.extend(map(str.strip, process.stderr)), daemon=True)
        self.listening.start()
        line = process.stdout.readline()
        assert "the page is at http://" in line, (line, self.said)
        self.url = line.split("the page is at ")[1].split(";")[0]
        # Nobody else reads it, and a pipe holds little.
        self.out: list[str] = []
        self.reading = threading.Thread(target=lambda: self.out.extend(process.stdout), daemon=True)
        self.reading.start()

    def get(self, path: str) -> str:
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return answer.read().decode()

    def status(self) -> dict:
        (model,) = json.loads(self.get("/api/status"))["models"]
        return model

    def metric(self, name: str) -> float:
        """Of the series that is written so, labels included."""
        return next(float(line.rsplit(" ", 1)[1]) for line in self.get("/metrics").splitlines() if line.rsplit(" ", 1)[0] == name)

    def send(self, lines: list[str], batch: str) -> dict:
        request = urllib.request.Request(f"{self.url}/v1/rows", (HEADER + "".join(lines)).encode(), {"Content-Type": "text/csv", "X-Harmonia-Batch": batch})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(60)
        self.listening.join(60)
        self.reading.join(60)
        return code


@contextlib.contextmanager
def watching(program: Path, base: Path, folder: Path, *words, before: tuple[str, ...] = ()):
    """`harmonia monitor fn:f4 --listen` with further words, in the folder, by a command that becomes it; killed at the end if it
    still runs."""
    command = [*before, program, "monitor", "fn:f4", "--baseline", base, "--listen", "127.0.0.1:0", *words]
    process = subprocess.Popen(list(map(str, command)), cwd=folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield Watching(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
