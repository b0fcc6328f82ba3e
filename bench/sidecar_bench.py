"""What inference costs through the monitor's side-car: median and 99 % of requests to mlserver, direct and through it.

    python bench/sidecar_bench.py build/harmonia [requests]    (python: of scripts/setup.sh --venv)

Requests of one row alternate, over a connection each that is kept, while every row is measured: with a copy of the model, and
with the server's own. The answers are compared before anything is timed.
"""

import http.client
import json
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "agreement" / "mlserver"))
from server import running_mlserver  # noqa: E402

PATH = "/v2/models/curved"


def request(draw: random.Random, name: str) -> bytes:
    return json.dumps({"id": name, "inputs": [{"name": "x", "shape": [1, 2], "datatype": "FP64", "data": [draw.random(), draw.random()]}]}).encode()


def ask(connection, body: bytes) -> bytes:
    connection.request("POST", f"{PATH}/infer", body, {"Content-Type": "application/json"})
    said = connection.getresponse()
    assert said.status == 200
    return said.read()


def compare(server: str, url: str, count: int, title: str) -> None:
    lines = {name: http.client.HTTPConnection(urllib.parse.urlsplit(base).netloc) for name, base in (("direct", server), ("side-car", url))}
    draw = random.Random(1)
    for i in range(50):
        body = request(draw, str(i))
        assert ask(lines["direct"], body) == ask(lines["side-car"], body)
    times = {name: [] for name in lines}
    for i in range(count):
        body = request(draw, str(i))
        for name, line in lines.items():
            begin = time.perf_counter()
            ask(line, body)
            times[name].append(1000 * (time.perf_counter() - begin))
    for line in lines.values():
        line.close()
    print(title)
    for name, taken in times.items():
        cuts = statistics.quantiles(taken, n=100)
        print(f"  {name:8} median {cuts[49]:7.3f} ms   99 % {cuts[98]:7.3f} ms   ({count} requests)")
    print(f"  the side-car adds {statistics.median(times['side-car']) - statistics.median(times['direct']):.3f} ms at the median")


def main(program: str, count: int) -> None:
    with running_mlserver() as server, tempfile.TemporaryDirectory() as folder:
        draw = random.Random(2)
        rows = "".join(f"{draw.random()},{draw.random()}\n" for _ in range(3000))
        (Path(folder) / "train.csv").write_text("a,b\n" + rows)
        subprocess.run([program, "baseline", "fn:f4", "train.csv", "--radius", "0.1", "-o", "base.json"], cwd=folder, check=True, capture_output=True)
        for title, model in (("measured with a copy of the model", "fn:f4"), ("measured with the server's own", server + PATH)):
            command = [program, "monitor", model, "--baseline", "base.json", "--source", f"sidecar:{server}{PATH}", "--listen", "127.0.0.1:0", "--state", f"{model[:2]}.db"]
            monitor = subprocess.Popen(command, cwd=folder, text=True, stdout=subprocess.PIPE)
            try:
                url = monitor.stdout.readline().split("the page is at ")[1].split(";")[0]
                compare(server, url, count, title)
            finally:
                monitor.send_signal(signal.SIGINT)
                print("  " + monitor.communicate(timeout=60)[0].splitlines()[0])


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()), int(sys.argv[2]) if len(sys.argv) > 2 else 500)
