"""What tests of pages share."""

import json
import os
import subprocess

import pytest


class Browser:
    """Headless Chromium. What is sent is looked at in its order; an answer may be waited for later."""

    def __init__(self, root):
        modules = subprocess.run([root / "web" / "bundle.sh", "--modules"], capture_output=True, text=True, timeout=300)
        assert modules.returncode == 0, modules.stderr
        self.process = subprocess.Popen(
            ["node", root / "web" / "browser.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "NODE_PATH": modules.stdout.strip()},
        )

    def send(self, page, **request) -> None:
        """page: a path or an address; the rest as in web/browser.mjs."""
        self.process.stdin.write(json.dumps({"page": str(page), **{k: str(v) if k in ("screenshot", "print") else v for k, v in request.items()}}) + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict:
        answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer


@pytest.fixture(scope="session")
def browser(root):
    browser = Browser(root)
    yield browser
    browser.process.stdin.close()
    browser.process.wait(timeout=60)


@pytest.fixture(scope="session")
def look(browser):
    """Opens a page: look(path, width=360, scheme="dark", script="return document.title"). No page may say anything on the
    console or ask for anything."""

    def ask(page, **request):
        browser.send(page, **request)
        answer = browser.receive()
        assert answer["console"] == []
        assert answer["requests"] == []
        return answer.get("value")

    return ask
