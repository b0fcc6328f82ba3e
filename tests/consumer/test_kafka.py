"""Against a real Kafka broker: every row is counted once, whatever is killed, and alerts arrive."""

import contextlib
import json
import random
import signal
import subprocess
import time
from collections import defaultdict
from pathlib import Path

import pytest
from support.kafka_broker import KafkaBroker

WINDOW = 500
PARTITIONS = 4
PATIENCE = 300  # seconds until a test gives up waiting


@pytest.fixture(scope="module")
def tools(build_dir: Path) -> Path:
    folder = build_dir / "tests"
    if not (folder / "harmonia_kafka_counter").is_file():
        pytest.skip("this build has no Kafka (librdkafka-dev)")
    return folder


@pytest.fixture()
def broker(tools: Path, kafka_jars: Path, tmp_path: Path):
    place = tmp_path / "broker"
    place.mkdir()
    with KafkaBroker(kafka_jars, place) as running:
        yield running


def kafka_tool(tools: Path, broker: KafkaBroker, *arguments, **keywords) -> str:
    done = subprocess.run([tools / "harmonia_kafka_tool", broker.address, *map(str, arguments)], capture_output=True,
                          text=True, timeout=PATIENCE, **keywords)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Counter:
    """A process that reads the topic into a journal, as a monitor into its file."""

    def __init__(self, tools: Path, broker: KafkaBroker, place: Path, name: str):
        self.command = [tools / "harmonia_kafka_counter", broker.address, "rows", "monitors", str(WINDOW), place / f"{name}.journal"]
        self.journal = Path(self.command[-1])
        self.notes = place / f"{name}.notes"
        self.process = None

    def start(self) -> None:
        with open(self.notes, "a") as notes:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stderr=notes)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process = None

    def stop(self) -> None:
        """In an orderly way, so that its partitions are handed on at once."""
        assert self.process.poll() is None, self.notes.read_text()
        self.process.stdin.close()
        assert self.process.wait(PATIENCE) == 0, self.notes.read_text()
        self.process = None

    def windows(self) -> dict:
        """What it counted: (partition, window) → offset → value."""
        windows = defaultdict(dict)
        text = self.journal.read_text() if self.journal.exists() else ""
        for line in text[: text.rfind("\n") + 1].splitlines():
            partition, first, following, *rows = line.split()
            for row in rows:
                offset, value = row.split(":")
                assert int(first) <= int(offset) < int(following), line
                window = windows[partition, int(offset) // WINDOW]
                assert offset not in window, f"{offset} of {partition} was counted twice by one monitor"
                window[offset] = value
        return windows


def merged(counters: list[Counter]) -> dict:
    """Every window once, as `harmonia monitor --merge` has it: of several the longest, which holds the others."""
    longest: dict = {}
    for counter in counters:
        for key, window in counter.windows().items():
            other = longest.get(key, {})
            short, long = sorted([window, other], key=lambda one: max(map(int, one), default=-1))
            assert short.items() <= long.items(), f"window {key}: the longer does not hold the shorter"
            longest[key] = long
    rows = {}
    for (partition, _), window in longest.items():
        rows.update({(partition, int(offset)): value for offset, value in window.items()})
    return rows


class Rows:
    """Rows that are produced: every partition gets consecutive offsets, and now and then what is no row."""

    def __init__(self):
        self.expected: dict = {}
        self.ends = [0] * PARTITIONS
        self.number = 0

    def make(self, count: int) -> str:
        lines = []
        for _ in range(count):
            partition = self.number % PARTITIONS
            value = {17: "", 41: " nonsense", 43: ' {"number": "text", "other": 1}'}.get(self.number % 50)
            if value is None:
                forms = [f"[{self.number}, 0]", f'{{"other": null, "number": {self.number}, "id": "a"}}', f"{self.number},1.5"]
                value = " " + forms[self.number % 3]
                self.expected[f"rows/{partition}", self.ends[partition]] = str(self.number)
            else:
                self.expected[f"rows/{partition}", self.ends[partition]] = "!"
            lines.append(f"{partition}{value}\n")
            self.ends[partition] += 1
            self.number += 1
        return "".join(lines)


class Monitor(Counter):
    """harmonia monitor itself."""

    def __init__(self, program: Path, base: Path, broker: KafkaBroker, place: Path, name: str, group: str = "monitors"):
        settings = place / "kafka.settings"
        settings.write_text("# of the tests\nsession.timeout.ms = 3000\nheartbeat.interval.ms=500\n")
        self.command = [program, "monitor", "fn:f3", "--baseline", base, "--source", f"kafka:{broker.address}/rows", "--group", group,
                        "--kafka-settings", settings,
                        "--window", str(WINDOW), "--state", place / f"{name}.db", "--quiet"]
        self.state = place / f"{name}.db"
        self.notes = place / f"{name}.notes"
        self.process = None

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(PATIENCE)
        self.process.stdin.close()
        self.process = None


def wait_until(counted, rows: Rows, readers: list[Counter]) -> None:
    """Until so many are counted as were produced."""
    deadline = time.monotonic() + PATIENCE
    while (count := counted()) < len(rows.expected):
        for reader in readers:
            assert reader.process is None or reader.process.poll() is None, reader.notes.read_text()
        assert time.monotonic() < deadline, (count, len(rows.expected), [reader.notes.read_text() for reader in readers])
        time.sleep(0.3)


def torment(tools: Path, broker: KafkaBroker, readers: list[Counter], counted) -> Rows:
    """Produces rows while two readers are killed ten times, share the topic and hand it on, and the broker is killed, stopped and
    started. Gives what was produced, once it is counted."""
    draw = random.Random(8)
    rows = Rows()
    kafka_tool(tools, broker, "create", "rows", PARTITIONS)

    def produce(count: int) -> None:
        kafka_tool(tools, broker, "produce", "rows", input=rows.make(count))

    first, second = readers
    produce(1777)
    first.start()
    for kills in range(10):
        produce(draw.randrange(200, 1500))
        time.sleep(draw.uniform(0, 2))
        if kills == 2:
            second.start()  # from here on two share the partitions
        victim = draw.choice([one for one in readers if one.process is not None])
        victim.kill()
        if kills == 4:
            broker.kill()
            time.sleep(1)
            broker.start()
        time.sleep(draw.uniform(0, 1))
        victim.start()
    wait_until(counted, rows, readers)
    second.stop()  # an orderly re-balance, and back
    produce(900)
    wait_until(counted, rows, readers)
    second.start()
    broker.stop()
    time.sleep(2)
    broker.start()
    produce(900)
    wait_until(counted, rows, readers)
    for reader in readers:
        reader.stop()
    return rows


@contextlib.contextmanager
def killed_at_the_end(readers: list[Counter]):
    try:
        yield readers
    finally:
        for reader in readers:
            if reader.process is not None:
                reader.kill()


@pytest.fixture()
def counters(tools: Path, broker: KafkaBroker, tmp_path: Path):
    with killed_at_the_end([Counter(tools, broker, tmp_path, name) for name in ("a", "b")]) as two:
        yield two


def test_every_row_is_read_once(tools, broker, counters):
    rows = torment(tools, broker, counters, lambda: len(merged(counters)))
    assert merged(counters) == rows.expected
    assert all(counter.windows() for counter in counters)  # both had their share


def test_monitors_count_every_row_once(tools, program, harmonia, broker, tmp_path):
    """And their windows are those of one that nobody disturbed."""
    draw = random.Random(1)
    (tmp_path / "train.csv").write_text("number,other\n" + "".join(f"{draw.random() * 20000},{draw.random()}\n" for _ in range(500)))
    made = harmonia("baseline", "fn:f3", tmp_path / "train.csv", "--radius", 0.1, "-o", tmp_path / "base.json")
    assert made.returncode == 0, made.stderr

    def sums(*monitors: Monitor) -> dict:
        files = [one.state for one in monitors if one.state.exists()]
        done = harmonia("monitor", "--merge", *files, "--json", tmp_path / "merged.json", "--quiet")
        return json.loads((tmp_path / "merged.json").read_text()) if done.returncode == 0 else {}

    def counted(*monitors: Monitor) -> int:
        summary = sums(*monitors).get("summary", {"rows": 0, "refused": 0})
        return summary["rows"] + summary["refused"]

    a, b, alone = (Monitor(program, tmp_path / "base.json", broker, tmp_path, name, group)
                   for name, group in (("a", "monitors"), ("b", "monitors"), ("alone", "alone")))
    with killed_at_the_end([a, b, alone]):
        rows = torment(tools, broker, [a, b], lambda: counted(a, b))
        alone.start()
        wait_until(lambda: counted(alone), rows, [alone])
        alone.stop()
    both, one = sums(a, b), sums(alone)
    refused = sum(value == "!" for value in rows.expected.values())
    assert (both["summary"]["rows"], both["summary"]["refused"]) == (len(rows.expected) - refused, refused)
    for window in both["windows"] + one["windows"]:
        del window["begin"], window["end"]  # when rows came
    assert both["windows"] == one["windows"] and both["summary"] == one["summary"]
    assert all(sums(monitor)["summary"]["rows"] > 0 for monitor in (a, b))


def test_a_broker_that_is_away_is_waited_for_and_said(tools, broker, counters):
    rows = Rows()
    kafka_tool(tools, broker, "create", "rows", PARTITIONS)
    broker.kill()
    counter = counters[0]
    counter.start()
    deadline = time.monotonic() + PATIENCE
    while "answer" not in counter.notes.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    broker.start()
    kafka_tool(tools, broker, "produce", "rows", input=rows.make(1000))
    wait_until(lambda: len(merged(counters)), rows, counters)
    counter.stop()
    assert counter.notes.read_text() == (
        f"Kafka: no broker of {broker.address} answers; waiting\nKafka at {broker.address} answers again\n")
    assert merged(counters) == rows.expected


def test_alerts_arrive_although_the_broker_was_away(tools, broker):
    kafka_tool(tools, broker, "create", "alerts", 1)
    broker.kill()
    sender = subprocess.Popen([tools / "harmonia_kafka_counter", broker.address, "alerts"], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with contextlib.closing(sender.stdin) as lines:
        lines.write("".join(json.dumps({"id": i}) + "\n" for i in range(5)))
    broker.start()
    assert sender.stdout.read() == "5 sent, 0 failed\n"
    assert sender.wait(PATIENCE) == 0
    read = kafka_tool(tools, broker, "read", "alerts", 5)
    assert [json.loads(line)["id"] for line in read.splitlines()] == list(range(5))
