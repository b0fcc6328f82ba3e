"""What tests of pages share."""

import json
import os
import subprocess

import pytest


@pytest.fixture(scope="session")
def look(root):
    """Opens a page: look(path, width=360, scheme="dark", script="return document.title"). No page may say anything on the
    console or ask for anything."""
    modules = subprocess.run([root / "web" / "bundle.sh", "--modules"], capture_output=True, text=True, timeout=300)
    assert modules.returncode == 0, modules.stderr
    browser = subprocess.Popen(
        ["node", root / "web" / "browser.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "NODE_PATH": modules.stdout.strip()},
    )

    def ask(page, **request):
        browser.stdin.write(json.dumps({"page": str(page), **{k: str(v) if k in ("screenshot", "print") else v for k, v in request.items()}}) + "\n")
        browser.stdin.flush()
        answer = json.loads(browser.stdout.readline())
        assert "error" not in answer, answer["error"]
        assert answer["console"] == []
        assert answer["requests"] == []
        return answer.get("value")

    yield ask
    browser.stdin.close()
    browser.wait(timeout=60)
