"""Machines whose processor has less than this one's: without AVX, by QEMU, and with AVX2 alone, by valgrind's own
emulation, which leave AVX-512 out. What runs is the same program, which has to find that out by itself."""

import platform
import subprocess

import pytest

PROCESSORS = {
    "no AVX": ["qemu-x86_64", "-cpu", "Nehalem"],
    "AVX2 alone": ["valgrind", "-q", "--tool=none"],
}
# Every kernel against another way, or against the plain one.
KERNELS = "TreeBalls.EveryPoint*:TreeSlices.AreTaken*:TreeSliceBalls.FewRows*:Random.EveryInstructionSet*:OnnxDense.*"

pytestmark = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="instruction sets of x86-64")


@pytest.fixture(params=PROCESSORS, ids=lambda name: name.replace(" ", "-"))
def processor(request):
    return PROCESSORS[request.param]


def test_every_kernel_that_is_there(processor, build_dir):
    done = subprocess.run([*processor, build_dir / "tests" / "harmonia_tests", f"--gtest_filter={KERNELS}"],
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert "[  PASSED  ]" in done.stdout


# What asks neither for the C library's functions nor for long doubles, which are others there.
@pytest.mark.parametrize("arguments", [
    ("gamma", "examples/booster.json", "examples/rows.csv", "--id", "customer", "--scale", "std", "--radius", "0.5"),
    ("gamma", "examples/wine/gbdt-2.onnx", "examples/wine/wines.csv", "--label", "class", "--radius", "0.1", "--ball", "cross"),
    ("gamma", "fn:f2?n=100", "uniform:20", "--radius", "0.01", "--ball", "gaussian:50"),
], ids=["xgboost", "onnx-trees", "normals"])
def test_results_are_the_same_to_the_last_digit(arguments, processor, program, root, tmp_path):
    tables = []
    for name, by in (("here", []), ("there", processor)):
        table = tmp_path / f"{name}.csv"
        done = subprocess.run([*by, program, *arguments, "--quiet", "--csv", table], capture_output=True, text=True, cwd=root,
                              timeout=300)
        assert done.returncode == 0, done.stderr
        tables.append(table.read_text())
    assert tables[0] == tables[1]
    assert len(tables[0].splitlines()) > 2
