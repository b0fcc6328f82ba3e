"""Runs the monitor's server with made-up models (monitor_page.cpp)."""

import contextlib
import http.client
import json
import subprocess
import threading
import time
import urllib.parse

from support.gateway import Answer


class MonitorPage:
    """url: where it is. log: what it said of refused requests, a line each."""

    def __init__(self, url: str, process: subprocess.Popen):
        self.url, self.process = url, process
        self.log: list[str] = []
        self.listening = threading.Thread(target=lambda: self.log.extend(map(str.strip, process.stderr)), daemon=True)
        self.listening.start()

    def tell(self, *words) -> None:
        """A command of monitor_page.cpp: tell("window", "first", 1.5)."""
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    @property
    def place(self) -> str:
        return urllib.parse.urlsplit(self.url).netloc

    def ask(self, method: str, path: str, body=None, **headers) -> Answer:
        connection = http.client.HTTPConnection(self.place, timeout=60)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return Answer(answer.status, answer.msg, answer.read())
        finally:
            connection.close()

    def status(self, **headers) -> dict:
        answer = self.ask("GET", "/api/status", **headers)
        assert answer.status == 200, answer
        return answer.json()

    @contextlib.contextmanager
    def events(self, **headers):
        """An iterator over the data of events as they come."""
        connection = http.client.HTTPConnection(self.place, timeout=60)
        connection.request("GET", "/api/events", headers=headers)
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        assert answer.msg["Content-Type"] == "text/event-stream"
        try:
            yield (json.loads(line.removeprefix(b"data: ")) for line in answer if line.startswith(b"data: "))
        finally:
            connection.close()

    def wait_for_pages(self, count: int) -> None:
        """Until so many are kept up to date."""
        end = time.monotonic() + 60
        while f"harmonia_pages_open {count}\n".encode() not in self.ask("GET", "/metrics").body:
            assert time.monotonic() < end, f"there are not {count} pages"
            time.sleep(0.02)

    def stop(self) -> int:
        self.process.stdin.close()
        code = self.process.wait(60)
        self.listening.join(60)
        return code


@contextlib.contextmanager
def running_monitor_page(build_dir, *arguments):
    process = subprocess.Popen(
        [str(build_dir / "tests" / "harmonia_monitor_page"), *map(str, arguments)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    try:
        url = process.stdout.readline().strip()
        assert url.startswith("http://"), process.communicate(timeout=10)
        page = MonitorPage(url, process)
        yield page
        if process.poll() is None:
            assert page.stop() == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
