"""Memory at a million features: as many rows as the batch holds and sixteen more, not the ball's million points."""

import json
import subprocess
import sys

import pytest

INPUTS = 1_000_000
# Runs a command and prints the most memory that it had, in KiB. A process of its own: what a child is said to have had
# begins with what its parent had, and the tests' own process has loaded much.
WATCH = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(child.pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("batch", [8, 32])
@pytest.mark.parametrize("ball", ["cross", "simplex+anti", "random-pairs:8"])
def test_a_million_features_stay_within_the_batch_and_sixteen_rows(program, tmp_path, ball, batch, threads):
    result = tmp_path / "result.json"
    sample = [] if ball.startswith("random") else ["--sample", "16"]
    watched = subprocess.run(
        [sys.executable, "-I", "-S", "-c", WATCH, program, "gamma", f"fn:f2?n={INPUTS}", "uniform:4", "--radius", "0.1",
         "--ball", ball, *sample, "--batch", str(batch), "--threads", str(threads), "--quiet", "--json", result],
        capture_output=True, text=True, check=True,
    )
    rows = json.loads(result.read_text())["rows"]
    # The mean of |x|² over a sphere around x is |x|² + r².
    assert [row["gamma"] for row in rows] == pytest.approx([0.01] * 4, abs=1e-7)
    # Of the whole program, what it takes to start included.
    assert int(watched.stdout) * 1024 <= 1.1 * 8 * INPUTS * (batch + 16)
