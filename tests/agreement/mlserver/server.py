"""Runs mlserver with the models of this folder on free ports of the loopback interface.

    with running_mlserver() as url:
        ...  # url + "/v2/models/declared64"

As a program it prints the address, and serves until its standard input ends or it is interrupted.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent


def mlserver_program() -> pathlib.Path:
    """The mlserver of the Python that runs this; there need not be one."""
    return pathlib.Path(sys.executable).parent / "mlserver"


def free_ports(count: int) -> list[int]:
    """Ports that were free a moment ago, all different."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(url + "/v2/health/ready", timeout=2) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


@contextlib.contextmanager
def running_mlserver(ready_seconds: float = 120, port: int | None = None):
    """Gives the base URL of a server that is ready, and ends it with all its workers. port: one that is free by default."""
    http, grpc, metrics = free_ports(3)
    http = port or http
    url = f"http://127.0.0.1:{http}"
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "log"), "w+") as log:
        # A copy: mlserver writes beside the models.
        root = pathlib.Path(folder) / "models"
        shutil.copytree(HERE / "models", root)
        settings = {"host": "127.0.0.1", "http_port": http, "grpc_port": grpc, "metrics_port": metrics,
                    "metrics_dir": folder, "parallel_workers": 0, "debug": False}
        (root / "settings.json").write_text(json.dumps(settings))
        environment = dict(os.environ, PYTHONPATH=str(HERE), PYTHONDONTWRITEBYTECODE="1")
        server = subprocess.Popen([mlserver_program(), "start", str(root)], cwd=root, env=environment,
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        try:
            deadline = time.monotonic() + ready_seconds
            while not is_ready(url):
                if server.poll() is not None or time.monotonic() > deadline:
                    log.seek(0)
                    raise RuntimeError(f"mlserver is not ready (status {server.returncode}):\n{log.read()[-4000:]}")
                time.sleep(0.1)
            yield url
        finally:
            with contextlib.suppress(ProcessLookupError):
                server.send_signal(signal.SIGTERM)
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, signal.SIGKILL)
                server.wait()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with running_mlserver() as address, contextlib.suppress(KeyboardInterrupt):
        print(address, flush=True)
        sys.stdin.read()
