"""What the Python tests share. HARMONIA_PROGRAM and HARMONIA_BUILD_DIR override where the build is looked for."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from support.llama_server import running_llama_server

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def build_dir() -> Path:
    """The release build."""
    return Path(os.environ.get("HARMONIA_BUILD_DIR", ROOT / "build"))


@pytest.fixture(scope="session")
def program(build_dir: Path) -> Path:
    """The command-line program."""
    path = Path(os.environ.get("HARMONIA_PROGRAM", build_dir / "harmonia"))
    assert path.is_file(), f"no program at {path}; run 'make build' first"
    return path


@pytest.fixture(scope="session")
def harmonia(program: Path):
    """Runs the program: harmonia("gamma", "fn:f1", "uniform:10", "--radius", 0.1).stdout.

    Arguments become text; further keywords go to subprocess.run. Never raises for an exit code.
    """

    def run(*arguments, timeout: float = 120, **keywords) -> subprocess.CompletedProcess:
        if "input" not in keywords:
            keywords.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run(
            [str(program), *map(str, arguments)], capture_output=True, text=True, timeout=timeout, **keywords
        )

    return run


@pytest.fixture(scope="session")
def torch_library(build_dir: Path) -> Path:
    """libharmonia_torch, where it is built (make torch)."""
    path = build_dir / "libharmonia_torch.so"
    if not path.is_file():
        pytest.skip(f"no {path}; 'make torch' builds it")
    return path


@pytest.fixture(scope="session")
def torch_models(torch_library: Path, tmp_path_factory) -> Path:
    """A folder with the TorchScript files of support/torch_models.py, made by Debian's own Python."""
    folder = tmp_path_factory.mktemp("torch")
    script = ROOT / "tests" / "support" / "torch_models.py"
    made = subprocess.run(["/usr/bin/python3", script, folder], capture_output=True, text=True, timeout=300)
    assert made.returncode == 0, made.stderr
    return folder


def cached(what: str) -> Path:
    """A folder of the cache that scripts/setup.sh makes."""
    found = subprocess.run([ROOT / "scripts" / "setup.sh", f"--{what}"], capture_output=True, text=True, timeout=60)
    assert found.returncode == 0, f"no folder of '{what}'; 'scripts/setup.sh {what}' makes it {found.stderr}"
    return Path(found.stdout.strip())


@pytest.fixture(scope="session")
def kafka_jars() -> Path:
    """The folder of a Kafka broker's jars."""
    return cached("kafka")


@pytest.fixture(scope="session")
def embedder() -> Path:
    """The folder of all-MiniLM-L6-v2.onnx and vocab.txt."""
    return cached("embedder")


@pytest.fixture(scope="session")
def llama_server():
    """The address of a server of SmolLM2-135M-Instruct."""
    with running_llama_server(cached("llm")) as url:
        yield url


@pytest.fixture(scope="session")
def embed_texts(build_dir: Path):
    """What the local embedder makes of texts: embed_texts("tokens", folder, texts, 256), or "embed" and threads.

    The result of subprocess.run, its output in bytes.
    """
    path = build_dir / "tests" / "harmonia_embed_texts"
    assert path.is_file(), f"no program at {path}; run 'make build' first"

    def run(what: str, folder, texts: list[str], number: int) -> subprocess.CompletedProcess:
        command = [path, what, folder, str(number)]
        return subprocess.run(command, input=json.dumps(texts).encode(), capture_output=True, timeout=600)

    return run
