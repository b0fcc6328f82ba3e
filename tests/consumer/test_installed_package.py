"""The installed package serves a project of its own: find_package, build, run."""

import re
import shutil
import subprocess

from support.onnx_models import save_mlp


def run(*command, **keywords):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, **keywords)
    assert done.returncode == 0, f"{command} failed\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_find_package_builds_and_runs(root, build_dir, tmp_path):
    prefix, build = tmp_path / "prefix", tmp_path / "build"
    run("cmake", "--install", build_dir, "--prefix", prefix)
    # The header-only libraries are ours alone: a consumer does without them.
    hidden = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("nlohmann_json", "Boost", "CLI11")]
    run("cmake", "-S", root / "examples" / "consumer", "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
        *hidden)
    run("cmake", "--build", build)
    assert run(build / "consumer") == "row 0: gamma 0.01\nrow 1: gamma 0.01\n"


def test_the_package_names_no_place_of_this_machine(root, build_dir, tmp_path):
    run("cmake", "--install", build_dir, "--prefix", tmp_path)
    for file in tmp_path.rglob("*.cmake"):
        text = file.read_text()
        assert str(root) not in text, file
        assert not re.search("nlohmann|Boost|harmonia_flags", text), file


def test_the_installed_program_runs(build_dir, tmp_path):
    run("cmake", "--install", build_dir, "--prefix", tmp_path)
    assert run(tmp_path / "bin" / "harmonia", "--version") == "0.1.0\n"


def test_a_library_of_your_own_is_installed_under_the_name_that_is_looked_for(root, tmp_path):
    own, prefix, build = tmp_path / "own", tmp_path / "prefix", tmp_path / "build"
    fetched = run(root / "scripts" / "setup.sh", "--onnxruntime").strip()
    (own / "lib").mkdir(parents=True)
    (own / "include").symlink_to(f"{fetched}/include")
    shutil.copy(f"{fetched}/lib/libonnxruntime.so.1", own / "lib" / "libonnxruntime.so.1.99.0")
    (own / "lib" / "libonnxruntime.so").symlink_to("libonnxruntime.so.1.99.0")
    without = [f"-DHARMONIA_BUILD_{part}=OFF" for part in ("CLI", "TESTS", "BENCH", "EXPERIMENTS")]
    run("cmake", "-S", root, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={own}", "-DHARMONIA_WITH_REPORT=OFF", *without)
    run("cmake", "--install", build, "--prefix", prefix, "--component", "onnxruntime")
    (library,) = (path for path in prefix.rglob("*") if path.is_file())
    assert library.name == "libonnxruntime.so.1" and library.parent.name == "harmonia"
    assert f"harmonia/{library.name})" in (build / "harmonia-config.cmake").read_text()


def test_the_installed_program_runs_onnx_models(build_dir, tmp_path):
    """The library that runs them is found where it was installed, wherever that is."""
    run("cmake", "--install", build_dir, "--prefix", tmp_path / "first")
    (tmp_path / "first").rename(tmp_path / "moved")
    model = save_mlp(tmp_path / "net.onnx", [3, 4, 2])
    program = tmp_path / "moved" / "bin" / "harmonia"
    assert "mean gamma" in run(program, "gamma", model, "uniform:5", "--radius", 0.1)
    needed = run("ldd", program)
    library = re.search(r"libonnxruntime\S* => (\S+)", needed)
    assert library and not library.group(1).startswith(str(build_dir)), needed
