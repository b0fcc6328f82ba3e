"""The package as `pip install .` installs it, built once for the same sources (scripts/wheel.sh)."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def installed() -> Path:
    done = subprocess.run([ROOT / "scripts" / "wheel.sh", sys.executable], capture_output=True, text=True, timeout=1700)
    assert done.returncode == 0, f"the package does not build\n{done.stdout}\n{done.stderr}"
    return Path(done.stdout.strip())


PLACE = installed()
sys.path.insert(0, str(PLACE))


@pytest.fixture(scope="session")
def package() -> Path:
    """Where the package is installed."""
    return PLACE


@pytest.fixture(autouse=True, scope="session")
def no_window():
    import matplotlib

    matplotlib.use("agg")
