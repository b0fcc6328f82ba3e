"""Runs the project's own program. Needs nothing but Python."""

import json
import shlex
import subprocess
from pathlib import Path


class Program:
    """Runs `harmonia` in a folder, and keeps its results there; with `reuse` it takes what is already kept of the same command."""

    def __init__(self, build: Path, folder: Path, reuse: bool) -> None:
        self.program = (build / "harmonia").resolve()
        self.folder, self.reuse = folder, reuse

    def result(self, name: str, *arguments: object) -> dict:
        """What the program writes as JSON, which is kept as `name`."""
        command = [str(self.program), *map(str, arguments), "--quiet", "--json", name]
        kept = self.kept(name, command) if self.reuse else None
        if kept is not None:
            return kept
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)} in {self.folder} failed: {done.stderr.strip()}")
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    def kept(self, name: str, command: list[str]) -> dict | None:
        """An earlier result, unless another command made it."""
        path = self.folder / name
        if not path.exists():
            return None
        result = json.loads(path.read_text(encoding="utf-8"))
        return result if shlex.split(result.get("command_line", ""))[1:] == command[1:] else None
