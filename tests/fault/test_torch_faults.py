"""TorchScript files that cannot be used: one line that says why, exit code 2 for the file and 3 for what the module does."""

import os
import shutil
import subprocess

import numpy as np
import pytest


def refused(harmonia, model, *parts, data="uniform:5", code=2, options=(), **keywords):
    done = harmonia("gamma", model, data, "--radius", 0.1, *options, **keywords)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("harmonia: "), done.stderr
    for part in parts:
        assert part in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("contents", "says"),
    [
        (b"", "is empty"),
        (bytes(range(256)) * 9, "is no TorchScript"),
        (b"\x80\x02cposix\nsystem\n", "is a pickle"),
        (b"PK\x03\x04" + bytes(500), "is cut off"),
        (b"PK\x03\x04 something else PK\x05\x06" + bytes(18), "is an archive of something else"),
    ],
)
def test_what_is_no_torchscript(harmonia, tmp_path, contents, says):
    (tmp_path / "net.pt").write_bytes(contents)
    refused(harmonia, tmp_path / "net.pt", f"net.pt {says}", "expected what torch.jit.script(module).save(FILE)")


def test_no_such_file(harmonia, tmp_path):
    refused(harmonia, tmp_path / "net.pt", "net.pt: No such file")


@pytest.mark.parametrize("name", ["weights.pt", "pickled.pt", "old.pth"])
def test_weights_without_code(harmonia, torch_models, name):
    refused(harmonia, torch_models / name, name, "no code", "torch.jit.script(module).save(FILE)")


def test_a_broken_archive(harmonia, torch_models, tmp_path):
    whole = (torch_models / "net.pt").read_bytes()
    for name, contents in {"cut": whole[: len(whole) // 2], "holed": whole[:300] + bytes(300) + whole[600:]}.items():
        (tmp_path / f"{name}.pt").write_bytes(contents)
        refused(harmonia, tmp_path / f"{name}.pt", f"{name}.pt")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("text", "answers with String; expected a tensor of numbers"),
        ("table", "answers with GenericDict; expected a tensor"),
        ("mean", "answers 2 rows with a tensor of shape [1, 4]; expected as many rows"),
        ("empty", "answers 2 rows with a tensor of shape [2, 0]"),
        ("raises", "failed: "),
        ("elsewhere", "failed: "),
        ("twoinputs", "failed: "),
    ],
)
def test_modules_that_cannot_be_asked(harmonia, torch_models, name, says):
    refused(harmonia, torch_models / f"{name}.pt", says, code=3, data=torch_models / "rows.npy")


def test_answers_that_are_not_finite(harmonia, torch_models):
    refused(harmonia, torch_models / "notanumber.pt", "answered nan in output 0", code=3, data=torch_models / "rows.npy")


def test_a_module_that_fails_later(harmonia, torch_models, tmp_path):
    rows = np.zeros((9, 4))
    rows[8] = 1000
    np.save(tmp_path / "rows.npy", rows)
    refused(harmonia, torch_models / "later.pt", "failed: ", "too far", code=3, data=tmp_path / "rows.npy")


def test_rows_of_another_width(harmonia, torch_models):
    refused(harmonia, torch_models / "net.pt", "(2x2 and 4x16)", code=3)


@pytest.mark.parametrize(("device", "says"), [("cuda:0", "finds no GPU here"), ("cuda:9", "GPU"), ("tpu", "expected cpu, cuda or cuda:N"), ("cuda:x", "expected cpu, cuda or cuda:N")])
def test_devices(harmonia, torch_models, device, says):
    refused(harmonia, torch_models / "net.pt", f"--device {device}: ", says, data=torch_models / "rows.npy", options=("--device", device),
            env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})  # fmt: skip


def test_a_device_is_of_torchscript_alone(harmonia):
    refused(harmonia, "fn:f1", "--device cuda: model fn:f1 is of kind function", options=("--device", "cuda"))


def test_there_is_no_margin(harmonia, torch_models):
    refused(harmonia, torch_models / "net.pt", "--margin: ", "of kind torch", data=torch_models / "rows.npy", options=("--margin",))


def test_without_the_library(harmonia, program, tmp_path):
    """Its file has to look right: what is wrong with the file is said first."""
    (tmp_path / "net.pt").write_bytes(b"PK\x03\x04 a/data.pkl a/constants.pkl PK\x05\x06" + bytes(18))
    alone = {k: v for k, v in os.environ.items() if k != "HARMONIA_TORCH"}
    refused(harmonia, tmp_path / "net.pt", "needs libharmonia_torch.so, which cannot be loaded", "'make torch' builds it",
            env={**alone, "HARMONIA_TORCH": "/no/such/library.so"})  # fmt: skip
    refused(harmonia, tmp_path / "net.pt", "libc.so.6 has no harmonia_torch_sources", "'make torch' builds",
            env={**alone, "HARMONIA_TORCH": "libc.so.6"})  # fmt: skip
    (tmp_path / "bin").mkdir()
    shutil.copy(program, tmp_path / "bin" / "harmonia")
    done = subprocess.run([tmp_path / "bin" / "harmonia", "gamma", tmp_path / "net.pt", "uniform:5", "--radius", "0.1"], capture_output=True,
                          text=True, timeout=60, env=alone)  # fmt: skip
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "needs libharmonia_torch.so, which is neither beside this program nor in its ../lib" in done.stderr
    assert "'make torch' builds it, HARMONIA_TORCH names one elsewhere" in done.stderr
