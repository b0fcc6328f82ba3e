"""The commands that the documents show work as shown."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENTS = ("README.md",)
RUNNABLE = ("build/harmonia", "./examples/", "./experiments/")


def commands(text: str) -> list[str]:
    """Of the sh blocks, every command that starts with a program of ours; a line that ends in \\ goes on."""
    found = []
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        found += [line for line in block.replace("\\\n", " ").splitlines() if line.startswith(RUNNABLE)]
    return found


SHOWN = [command for name in DOCUMENTS for command in commands((ROOT / name).read_text(encoding="utf-8"))]


def test_commands_are_found():
    text = "```sh\nmake demo\nbuild/harmonia gamma \\\n  x\n```\n```\nbuild/harmonia no\n```\n"
    assert commands(text) == ["build/harmonia gamma    x"]
    assert len(SHOWN) >= 5


@pytest.mark.parametrize("command", SHOWN)
def test_command(command: str, root: Path, build_dir: Path, program: Path, tmp_path: Path):
    (tmp_path / "build").symlink_to(build_dir)
    assert program.samefile(build_dir / "harmonia"), "HARMONIA_PROGRAM and HARMONIA_BUILD_DIR are of different builds"
    shutil.copytree(root / "examples", tmp_path / "examples")
    done = subprocess.run(
        ["bash", "-euc", command], cwd=tmp_path, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize(("beginning", "verb"), [("2 models on", "compare"), ("gamma of", 'gamma "cmd:'), ("classes of", "stability"), ("persistence of", "persistence"), ("attack on", "attack"), ("map of", "map")])
def test_a_table_is_the_one_that_the_first_such_command_prints(beginning: str, verb: str, harmonia, root: Path):
    text = (root / "README.md").read_text(encoding="utf-8")
    shown = re.search(rf"^```\n({beginning} .*?)^```", text, re.DOTALL | re.MULTILINE)
    assert shown
    command = next(c for c in SHOWN if c.startswith(f"build/harmonia {verb}"))
    real = harmonia(*shlex.split(command)[1:], cwd=root).stdout.splitlines()
    for line in shown.group(1).splitlines():
        assert line == "  …" or line in real, line


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name: str):
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_the_library_example_is_the_one_that_is_built():
    example = (ROOT / "examples" / "consumer" / "main.cpp").read_text(encoding="utf-8").strip()
    assert example in (ROOT / "README.md").read_text(encoding="utf-8")
