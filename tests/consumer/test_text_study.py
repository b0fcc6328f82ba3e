"""The study of facts and nonsense, on the real language model and the real embedder, in its quick setting."""

import csv
import json
import os
import subprocess
import sys


def test_the_quick_study_holds(root, build_dir, tmp_path):
    out = tmp_path / "text"
    done = subprocess.run(
        [root / "experiments" / "text" / "run", "--quick", "--no-plots", "--out", out], capture_output=True, text=True, timeout=600,
        env={**os.environ, "HARMONIA_BUILD": str(build_dir), "HARMONIA_PYTHON": sys.executable},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    rows = list(csv.DictReader((out / "numbers.csv").open(encoding="utf-8")))
    assert [row["id"] for row in rows] == ["f01", "f02", "n01", "n02"]
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert result["options"]["embedder"].startswith("all-MiniLM-L6-v2")
    # The same answers come from the store: the second run asks nothing.
    again = subprocess.run(
        [build_dir / "harmonia", "text", "--chat", result["models"][0]["address"], "--model", result["models"][0]["name"], "--prompts",
         out / "prompts.csv", "--variants", "4", "--repeats", "1", "--max-tokens", "16", "--store", out / "answers.sqlite",
         "--embed", f"local:{embedder_folder(root)}", "--json", tmp_path / "again.json"], capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    repeated = json.loads((tmp_path / "again.json").read_text(encoding="utf-8"))
    assert repeated["evaluations"] == 0
    assert [row["gamma"] for row in repeated["rows"]] == [row["gamma"] for row in result["rows"]]


def embedder_folder(root) -> str:
    return subprocess.run([root / "scripts" / "setup.sh", "--embedder"], capture_output=True, text=True, check=True).stdout.strip()
