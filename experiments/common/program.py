"""Runs the project's own program. Needs nothing but Python."""

import json
import subprocess
from pathlib import Path


class Program:
    """Runs `harmonia` in a folder, and keeps its results there; with `reuse` it takes what is already kept."""

    def __init__(self, build: Path, folder: Path, reuse: bool) -> None:
        self.program = (build / "harmonia").resolve()
        self.folder, self.reuse = folder, reuse

    def result(self, name: str, *arguments: object) -> dict:
        """What the program writes as JSON, which is kept as `name`."""
        path = self.folder / name
        if not (self.reuse and path.exists()):
            command = [str(self.program), *map(str, arguments), "--quiet", "--json", name]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder)
            if done.returncode != 0:
                raise SystemExit(f"{' '.join(command)} in {self.folder} failed: {done.stderr.strip()}")
        return json.loads(path.read_text(encoding="utf-8"))
