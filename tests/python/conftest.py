"""The package as `pip install .` installs it, built once for the same sources (scripts/wheel.sh), or the one in
HARMONIA_PACKAGE."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

# test_python_torch.py runs these under a Python that has PyTorch (tests/torch may look like one, without an origin).
TORCH = importlib.util.find_spec("torch")
collect_ignore_glob = [] if TORCH is not None and TORCH.origin else ["test_python_modules*.py"]


def installed() -> Path:
    if "HARMONIA_PACKAGE" in os.environ:
        return Path(os.environ["HARMONIA_PACKAGE"])
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
