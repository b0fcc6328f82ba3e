"""The package as it is installed: from a clean copy, with other versions of NumPy, typed, its examples true."""

import doctest
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import harmonia as hm

# Examples of the last two need PyTorch: test_python_modules_training.py runs them.
LEFT_OUT = ("_native", "_alignment", "pytorch")
MODULES = ["harmonia"] + [f"harmonia.{m.name}" for m in pkgutil.iter_modules(hm.__path__) if m.name not in LEFT_OUT]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_docstrings(name):
    done = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert done.failed == 0


def test_every_public_name_has_an_example():
    import harmonia.lightgbm
    import harmonia.sklearn
    import harmonia.xgboost

    public = [getattr(hm, name) for name in hm.__all__ if not name.startswith("_")]
    public += [harmonia.sklearn.gamma_scorer, harmonia.xgboost.GammaCallback, harmonia.lightgbm.gamma_callback]
    public += [getattr(hm.text, name) for name in hm.text.__all__ if name != "FAMILIES"]
    for thing in public:
        assert thing.__doc__, thing
        if not (isinstance(thing, type) and issubclass(thing, (Exception, hm.Pair))):
            assert ">>>" in thing.__doc__, thing


def test_what_is_installed(package: Path, root: Path):
    files = {p.name for p in (package / "harmonia").iterdir()}
    assert {"py.typed", "_native.pyi", "__init__.py", "sklearn.py", "xgboost.py", "lightgbm.py", "pytorch.py", "text.py"} <= files
    assert not (package / "lib").exists() and not (package / "include").exists() and not (package / "bin").exists()
    assert hm.__version__ == re.search(r"VERSION (\d+\.\d+\.\d+)", (root / "CMakeLists.txt").read_text()).group(1)
    assert Path(hm.__file__).is_relative_to(package)


def test_the_stub_names_what_the_extension_has():
    from harmonia import _native

    stub = (Path(hm.__file__).parent / "_native.pyi").read_text()
    stated = set(re.findall(r"^(?:class|def) (\w+)", stub, re.MULTILINE))
    real = {name for name in dir(_native) if not name.startswith("_") and name != "OUTCOMES"}
    assert stated == real


def test_pins_of_the_build_are_those_of_the_tests(root: Path):
    pins = set((root / "tests" / "requirements.txt").read_text().split())
    for wanted in re.search(r"requires = \[(.*)\]", (root / "pyproject.toml").read_text()).group(1).split(", "):
        assert wanted.strip('"') in pins


def test_only_numpy_is_needed(package: Path):
    """Importing and measuring load none of the optional packages."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import harmonia; "
        "print(harmonia.gamma(lambda x: x[:, 0], [[1.0, 2.0]]).summary.rows, "
        "[m for m in ('pandas', 'matplotlib', 'sklearn', 'xgboost', 'lightgbm', 'tqdm', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, package], capture_output=True, text=True, timeout=60)
    assert done.stdout == "1 []\n", done.stderr


def test_pip_install_from_a_clean_copy(root: Path, tmp_path: Path):
    """What git knows of, and nothing else, is enough to build and install."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.fail("the consumer test needs the repository's own git")
    copy = tmp_path / "copy"
    for name in filter(None, listed.stdout.split("\0")):
        if (root / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, copy / name)
    target = tmp_path / "site"
    # In the folder that scripts/wheel.sh uses, so that the compiler's cache knows the files.
    environment = {**os.environ, "CCACHE_BASEDIR": str(copy), "CCACHE_NOHASHDIR": "1", "SKBUILD_BUILD_DIR": "build-python"}
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-build-isolation",
         "--no-deps", "--target", target, "."], cwd=copy, env=environment, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, done.stdout + done.stderr
    code = "import sys; sys.path.insert(0, sys.argv[1]); import harmonia; print(harmonia.gamma('fn:f2', 'uniform:5', 0.1))"
    ran = subprocess.run([sys.executable, "-c", code, target], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ran.stdout.startswith("GammaResult(5 rows, mean gamma 0.01"), ran.stderr


def test_the_example_of_the_readme(root: Path, tmp_path: Path, monkeypatch):
    blocks = re.findall(r"^```python\n(.*?)^```", (root / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    blocks = [block for block in blocks if "torch" not in block]  # that one needs PyTorch: test_python_modules_training.py
    assert len(blocks) == 2
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert "(178 rows, mean gamma 0.07849 [0.05497, 0.1116]" in repr(names["result"])
    assert (tmp_path / "result.json").exists()
