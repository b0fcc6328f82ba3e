"""harmonia monitor as a user has it: a file that grows, standard input, rows over HTTP; killed and started again; merged."""

import json
import random
import signal
import subprocess
import threading
import time
import urllib.request

import jsonschema
import pytest
from support.watching import HEADER, make_baseline, rows_text

@pytest.fixture(scope="module")
def base(harmonia, tmp_path_factory):
    return make_baseline(harmonia, tmp_path_factory.mktemp("baseline"))


@pytest.fixture
def watch(program, base, tmp_path):
    """Starts harmonia monitor in tmp_path; what still runs at the end is killed."""
    running = []

    def start(*words, **keywords) -> subprocess.Popen:
        keywords.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.Popen([str(program), "monitor", "fn:f4", "--baseline", str(base), *map(str, words)], cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **keywords)
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture
def merged(harmonia, root, tmp_path):
    """What `harmonia monitor --merge` writes for files in tmp_path, which is as docs/result.schema.json has it."""
    schema = json.loads((root / "docs" / "result.schema.json").read_text())

    def merge(*files) -> dict:
        done = harmonia("monitor", "--merge", *files, "--json", "merged.json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        result = json.loads((tmp_path / "merged.json").read_text())
        jsonschema.validate(result, schema)
        assert result["summary"]["rows"] == sum(w["rows"] for w in result["windows"]) == sum(p["rows"] for p in result["partitions"].values())
        for part in ("files", "windows", "model"):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate({k: v for k, v in result.items() if k != part}, schema)
        return result

    return merge


def test_a_change_in_a_file_is_found_described_and_ends(harmonia, base, tmp_path):
    (tmp_path / "live.csv").write_text(HEADER + "".join(rows_text(2, 6000, range(3000, 4500))))
    done = harmonia("monitor", "fn:f4", "--baseline", base, "--source", "live.csv", "--once", "--alerts", "alerts.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "6000 rows came, 6000 measured" in done.stdout and "1 alert" in done.stdout
    alerts = [json.loads(line) for line in (tmp_path / "alerts.jsonl").read_text().splitlines()]
    assert [a["state"] for a in alerts][0] == "open" and alerts[-1]["state"] == "ended"
    found = alerts[0]
    assert found["model"] == "fn:f4" and 3000 <= found["raised_number"] < 3200 and abs(found["since_number"] - 3000) < 60
    last = alerts[-1]
    assert last["complete"] and len(last["rows"]) == 50 and all(r["nearest"] for r in last["rows"])
    assert last["features"][0]["name"] == "a" and "a is more often" in last["text"] and "gamma is smaller" in last["text"]
    again = harmonia("monitor", "fn:f4", "--baseline", base, "--source", "live.csv", "--once", cwd=tmp_path)
    assert again.returncode == 0 and "6000 rows came" in again.stdout  # nothing was counted twice


def test_a_stream_without_change_raises_nothing(harmonia, base, tmp_path):
    (tmp_path / "live.csv").write_text(HEADER + "".join(rows_text(3, 5000)))
    done = harmonia("monitor", "fn:f4", "--baseline", base, "--source", "live.csv", "--once", cwd=tmp_path)
    assert done.returncode == 0 and "0 alerts" in done.stdout


def test_killed_ten_times_every_row_of_a_growing_file_is_counted_once(merged, watch, tmp_path):
    lines = rows_text(4, 20000, range(12000, 16000))
    live = tmp_path / "live.csv"
    live.write_text(HEADER)
    stop = threading.Event()

    def grow():
        with live.open("a") as file:
            for i in range(0, len(lines), 100):
                file.write("".join(lines[i : i + 100]))
                file.flush()
                time.sleep(0.01)
        stop.set()

    writer = threading.Thread(target=grow)
    writer.start()
    draw = random.Random(5)
    for _ in range(10):
        process = watch("--source", "live.csv", "--state", "killed.db")
        time.sleep(0.05 + 0.3 * draw.random())
        process.send_signal(signal.SIGKILL)
        process.wait()
    writer.join()
    for name in ("killed.db", "whole.db"):
        process = watch("--source", "live.csv", "--state", name, "--once")
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert "20000 rows came, 20000 measured" in out
    killed, whole = (merged(name) for name in ("killed.db", "whole.db"))
    assert killed["summary"] == whole["summary"]
    without_time = [[{k: v for k, v in w.items() if k not in ("begin", "end")} for w in m["windows"]] for m in (killed, whole)]
    assert without_time[0] == without_time[1] and len(without_time[0]) == 20


def test_a_new_file_that_begins_like_the_one_before_is_counted(harmonia, base, tmp_path):
    lines = rows_text(9, 3000)
    expected = [(lines[:1000], 1000, False), (lines[:1500], 1500, False), (lines[:500] + lines[1500:], 3500, True), (lines[:1500], 3500, False)]
    for rows, count, another in expected:  # a file, more of it, another one, and the first again
        (tmp_path / "live.csv").write_text(HEADER + "".join(rows))
        done = harmonia("monitor", "fn:f4", "--baseline", base, "--source", "live.csv", "--once", "--false-alarms", 1e-9, cwd=tmp_path)
        assert done.returncode == 0 and f"{count} rows came, {count} measured" in done.stdout, done.stdout + done.stderr
        assert ("begins like a file that is kept, and is another one: all of it is counted" in done.stderr) == another


def test_standard_input_of_json_lines_says_what_it_may_have_lost(harmonia, base, tmp_path):
    lines = "".join(json.dumps({"b": 0.5, "a": i / 1000, "id": f"r{i}"}) + "\n" for i in range(1000)) + '{"a": 1}\nnothing\n'
    done = harmonia("monitor", "fn:f4", "--baseline", base, "--false-alarms", 1e-9, input=lines, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # A feature that is left out is missing, and this model does not take that.
    assert "1000 measured" in done.stdout and "refused" in done.stdout
    again = harmonia("monitor", "fn:f4", "--baseline", base, "--false-alarms", 1e-9, input="[0.5, 0.5]\n", cwd=tmp_path)
    assert again.returncode == 0 and "1001 measured" in again.stdout
    assert "lost" in again.stderr


def served_at(process: subprocess.Popen) -> str:
    line = process.stdout.readline()
    assert "the page is at http://" in line, line + process.stderr.read()
    return line.split("the page is at ")[1].split(";")[0]


def send(url: str, body: str, batch: str) -> dict:
    request = urllib.request.Request(f"{url}/v1/rows", body.encode(), {"Content-Type": "text/csv", "X-Harmonia-Batch": batch})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


def test_a_last_line_without_its_end_is_no_other_file_when_it_gets_one(harmonia, base, tmp_path, merged):
    """A writer with a buffer, and a monitor that is run now and then."""
    live = tmp_path / "live.csv"
    words = ["monitor", "fn:f4", "--baseline", base, "--source", "live.csv", "--once", "--quiet"]
    live.write_text(HEADER + "0.1,0.1\n0.2,0.2\n0.3,0.3")
    assert harmonia(*words, cwd=tmp_path).returncode == 0
    with open(live, "a") as file:
        file.write("5\n0.4,0.4\n")
    assert harmonia(*words, cwd=tmp_path).returncode == 0
    assert merged("monitor.db")["summary"]["rows"] == 4


def test_rows_over_http_are_kept_before_the_answer_and_a_repeated_batch_counts_once(watch, merged):
    process = watch("--source", "http", "--listen", "127.0.0.1:0", "--state", "http.db")
    url = served_at(process)
    text = HEADER + "".join(rows_text(6, 100)) + "nonsense,1\n"
    said = send(url, text, "one")
    assert (said["rows"], said["refused"], said["repeated"]) == (100, 1, False)
    assert said["reasons"] == [{"row": 100, "reason": "'a' is 'nonsense'; expected a finite number"}]
    process.send_signal(signal.SIGKILL)  # it was kept before it was answered
    process.wait()
    process = watch("--source", "http", "--listen", "127.0.0.1:0", "--state", "http.db")
    url = served_at(process)
    assert send(url, text, "one")["repeated"] is True
    assert send(url, text, "two")["repeated"] is False
    with urllib.request.urlopen(f"{url}/api/status", timeout=60) as answer:
        (model,) = json.loads(answer.read())["models"]
    assert model["rows"] == 200 and model["refused"] == 2 and model["repeated_batches"] == 1
    with urllib.request.urlopen(f"{url}/metrics", timeout=60) as answer:
        assert "harmonia" in answer.read().decode()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "200 rows came" in out
    assert merged("http.db")["summary"]["rows"] == 200


def test_several_monitors_side_by_side_on_one_page(program, harmonia, watch, tmp_path):
    for name, seed in (("one", 7), ("two", 8)):
        (tmp_path / f"{name}.csv").write_text(HEADER + "".join(rows_text(seed, 1500)))
        done = watch("--source", f"{name}.csv", "--once", "--state", f"{name}.db", "--false-alarms", 0.02)
        assert done.wait(60) == 0
    page = subprocess.Popen([str(program), "serve", "--monitor", "one.db", "--monitor", "two.db", "--listen", "127.0.0.1:0"], cwd=tmp_path, text=True, stdout=subprocess.PIPE)
    try:
        url = page.stdout.readline().split(" is at ")[1].split(";")[0]
        with urllib.request.urlopen(f"{url}/api/status", timeout=60) as answer:
            one, two = json.loads(answer.read())["models"]
        assert (one["name"], two["name"]) == ("fn:f4 (one.db)", "fn:f4 (two.db)")
        assert one["rows"] == two["rows"] == 1500 and one["false_alarms"] == 0.02 and len(two["windows"]) == 2
    finally:
        page.send_signal(signal.SIGINT)
        assert page.wait(30) == 0
    other = watch("--source", "one.csv", "--once", "--state", "other.db", "--window", 500)
    assert other.wait(60) == 0
    refused = harmonia("monitor", "--merge", "one.db", "other.db", cwd=tmp_path)
    assert refused.returncode == 2 and "has other windows, another seed or another map than one.db" in refused.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "expected MODEL and --baseline FILE, or --merge FILE..."),
        (["fn:f4", "--baseline", "missing.json"], "missing.json"),
        (["fn:f4", "--baseline", "BASE", "--source", "http"], "expected --listen HOST:PORT"),
        (["fn:f4", "--baseline", "BASE", "--source", "kafka:nothing"], "expected kafka:HOST:PORT/TOPIC"),
        (["fn:f4", "--baseline", "BASE", "--alerts", "-"], "expected --quiet with it"),
        (["fn:f4?n=3", "--baseline", "BASE"], "has 2 features; model fn:f4?n=3 expects 3"),
        (["fn:f4", "--baseline", "BASE", "--state", "BASE"], "is named twice"),
        (["--merge", "none.db"], "is not there; expected the file of a monitor"),
    ],
)
def test_bad_usage_is_one_line(harmonia, base, tmp_path, words, sentence):
    done = harmonia("monitor", *[str(base) if w == "BASE" else w for w in words], cwd=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr and done.stderr.count("\n") == 1, done.stderr
