"""What an unmeasured call costs through the gateway: the median of calls to an upstream of known latency, direct and through it.

    python bench/gateway_bench.py build/harmonia [calls]    (python: of scripts/setup.sh --venv)

Calls alternate, over a connection each that is kept. The answers are compared before anything is timed.
"""

import http.client
import statistics
import sys
import time
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from support.gateway import chat_answer, running_gateway, running_upstream  # noqa: E402

LATENCY_SECONDS = 0.02
BODY = b'{"model": "m", "messages": [{"role": "user", "content": "What is the capital of France?"}]}'


def answer(handler, _request):
    time.sleep(LATENCY_SECONDS)
    handler.say(chat_answer("Paris. " * 100))


def ask(connection) -> bytes:
    connection.request("POST", "/v1/chat/completions", BODY, {"Content-Type": "application/json"})
    said = connection.getresponse()
    assert said.status == 200
    return said.read()


def main(program: str, calls: int) -> None:
    with running_upstream(answer) as (url, _), running_gateway(program, url, "--embed", url) as gateway:
        lines = {name: http.client.HTTPConnection(urllib.parse.urlsplit(base).netloc) for name, base in (("direct", url), ("gateway", gateway.url))}
        assert ask(lines["direct"]) == ask(lines["gateway"])
        times = {name: [] for name in lines}
        for _ in range(calls):
            for name, line in lines.items():
                begin = time.perf_counter()
                ask(line)
                times[name].append(1000 * (time.perf_counter() - begin))
        for line in lines.values():
            line.close()
    for name, taken in times.items():
        low, middle, high = (statistics.quantiles(taken, n=20)[i] for i in (0, 9, 18))
        print(f"{name:8} median {middle:7.3f} ms   (5 % {low:7.3f}, 95 % {high:7.3f}; {calls} calls, upstream {1000 * LATENCY_SECONDS:g} ms)")
    cost = statistics.median(times["gateway"]) - statistics.median(times["direct"])
    print(f"the gateway adds {cost:.3f} ms at the median (goal: below 5 ms)")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 500)
