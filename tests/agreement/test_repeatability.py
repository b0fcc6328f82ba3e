"""The same seed gives the same rows, whatever the threads, the batch, and interruptions."""

import json
import os
import signal
import subprocess
import time

import pytest

RUNS = [
    ["fn:f4?n=30", "uniform:50", "--radius", "0.5"],
    ["fn:f4?n=30", "uniform:50", "--radius", "0.5", "--ball", "cross", "--sample", "12"],
    ["fn:f3?n=30", "uniform:50", "--radius", "0.5", "--ball", "cross", "--precision", "0.2", "--floor", "1e-6"],
    ["fn:f4?n=30", "uniform:50", "--radius", "0.5", "--ball", "rotated:2", "--average", "solid"],
    ["fn:f4?n=30", "uniform:50", "--radius", "0.5", "--ball", "random-pairs:20"],
    ["fn:f4?n=30", "uniform:50", "--radius", "0.5", "--ball", "rademacher:20"],
    ["fn:f4?n=30", "uniform:50", "--radius", "0.5", "--ball", "gaussian:20", "--max-evaluations", "1000"],
    ["fn:f4?n=30", "uniform:50", "--radius", "0.5", "--explain", "3", "--output", "all"],
]


def rows_text(path) -> str:
    text = path.read_text()
    return text[text.index('"rows": [') : text.index("\n],")]


@pytest.mark.parametrize("arguments", RUNS, ids=lambda a: " ".join(a[4:]) or "default")
def test_threads_and_batches_do_not_matter(harmonia, tmp_path, arguments):
    seen = set()
    for threads in ("1", "2", "3"):
        for batch in ("1", "7", "4096"):
            path = tmp_path / "result.json"
            done = harmonia("gamma", *arguments, "--threads", threads, "--batch", batch, "--json", str(path))
            assert done.returncode == 0, done.stderr
            seen.add(rows_text(path))
    assert len(seen) == 1
    harmonia("gamma", *arguments, "--seed", "2", "--json", str(path))
    assert rows_text(path) not in seen


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_run_goes_on(harmonia, program, tmp_path, stop):
    """Stopped (or killed) in the middle and started again, three times over, a run comes to the same result."""
    arguments = ["gamma", "fn:f3?n=400", "uniform:1500", "--radius", "0.5", "--ball", "cross", "--sample", "150", "--explain", "2"]
    whole = tmp_path / "whole.json"
    assert harmonia(*arguments, "--json", str(whole)).returncode == 0
    resumed, journal = tmp_path / "resumed.json", tmp_path / "journal"
    arguments += ["--json", str(resumed), "--resume", str(journal)]
    interruptions = 0
    for delay in (0.15, 0.25, 0.2, 0.3):
        process = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(delay)
        process.send_signal(stop)
        _, errors = process.communicate(timeout=60)
        if process.returncode == 0:
            break
        interruptions += 1
        assert not resumed.exists()
        if stop != signal.SIGKILL:
            assert process.returncode == 130
            assert f"the same command goes on from {journal}" in errors
            assert sorted(os.listdir(tmp_path)) == ["journal", "whole.json"]
    assert interruptions > 0
    done = harmonia(*arguments)
    assert done.returncode == 0, done.stderr
    assert not journal.exists()
    one, two = json.loads(whole.read_text()), json.loads(resumed.read_text())
    for result in (one, two):
        del result["seconds"], result["command_line"]
    assert one == two


def test_a_journal_of_another_run_is_refused(harmonia, program, tmp_path):
    journal = tmp_path / "journal"
    arguments = ["gamma", "fn:f3?n=400", "uniform:5000", "--ball", "cross", "--sample", "150", "--resume", str(journal)]
    process = subprocess.Popen([program, *arguments, "--radius", "0.5"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.time() + 30
    while not journal.exists() or journal.stat().st_size < 4000:
        assert time.time() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    done = harmonia(*arguments, "--radius", "0.4")
    assert done.returncode == 2
    assert done.stderr == f"harmonia: {journal} is the journal of another run (or none); name another file, or remove it\n"


def test_changed_data_is_noticed(harmonia, program, tmp_path):
    rows, journal = tmp_path / "rows.csv", tmp_path / "journal"
    rows.write_text("a,b\n" + "".join(f"{i},{i + 1}\n" for i in range(200)))
    slow = "cmd:sh -c 'while read line; do sleep 0.003; echo 1; done'"
    arguments = ["gamma", slow, str(rows), "--radius", "0.5", "--resume", str(journal), "--threads", "1", "--batch", "10"]
    process = subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.time() + 30
    while not journal.exists() or journal.read_text().count("\n") < 5:
        assert time.time() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    rows.write_text(rows.read_text().replace("1,2\n", "1,3\n", 1))
    done = harmonia(*arguments)
    assert done.returncode == 2
    assert done.stderr == "harmonia: row 1 is not what it was when the run stopped; start anew\n"


def test_a_file_that_became_shorter_is_noticed(harmonia, tmp_path):
    rows, journal = tmp_path / "rows.csv", tmp_path / "journal"
    rows.write_text("a,b\n" + "".join(f"{i},{i + 1}\n" for i in range(20)))
    arguments = ["gamma", "fn:f2", rows, "--radius", "0.5", "--resume", journal]
    assert harmonia(*arguments, "--max-evaluations", "70").returncode == 0  # ten rows, and the journal stays
    rows.write_text("a,b\n0,1\n1,2\n")
    done = harmonia(*arguments)
    assert (done.returncode, done.stderr) == (
        2, f"harmonia: {rows} no longer has row 2, which was measured when the run stopped; start anew\n")


def test_a_larger_budget_goes_on(harmonia, tmp_path):
    journal, result = tmp_path / "journal", tmp_path / "result.json"
    journal.write_text("")  # as mktemp leaves it
    arguments = ["gamma", "fn:f4?n=5", "uniform:20", "--radius", "0.5", "--json", result, "--resume", journal]
    for budget, exact in (("60", 4), ("150", 11), ("1000", 20)):
        assert harmonia(*arguments, "--max-evaluations", budget).returncode == 0
        assert json.loads(result.read_text())["summary"]["outcomes"].get("exact") == exact
    assert not journal.exists()


def test_ids_and_labels_are_carried(harmonia, tmp_path):
    rows, result = tmp_path / "rows.csv", tmp_path / "result.json"
    rows.write_text('name,x,y,truth\nann,1,2,yes\n"bob, the 2nd",3,4,no\n')
    done = harmonia("gamma", "fn:f2", str(rows), "--id", "name", "--label", "truth", "--radius", "0.1", "--json", str(result),
                    "--csv", str(tmp_path / "result.csv"))
    assert done.returncode == 0, done.stderr
    got = json.loads(result.read_text())["rows"]
    assert [(row["id"], row["label"]) for row in got] == [("ann", "yes"), ("bob, the 2nd", "no")]
    assert '"bob, the 2nd",no' in (tmp_path / "result.csv").read_text()
