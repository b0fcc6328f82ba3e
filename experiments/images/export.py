"""Puts the exported networks right, describes them, and compares them with PyTorch."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from models import LITES, PAPER_SIDE
from photographs import label_of, photographs, square

BATCH = 10


@dataclass(frozen=True)
class Export:
    """How an ONNX file compares with PyTorch: largest difference of a logit at either size, and how many photographs it has right."""

    native: int
    difference: float
    difference_paper: float
    correct: int
    labelled: int
    parameters: int


def copy_photographs(images: Path, out: Path) -> Path:
    """Into a folder of their own, numbered in their order."""
    folder = out / "photographs"
    folder.mkdir(parents=True, exist_ok=True)
    for k, path in enumerate(photographs(images)):
        shutil.copyfile(path, folder / f"{k:02}-{path.name}")
    return folder


def planes(path: Path, side: int) -> np.ndarray:
    """3 × side × side: a photograph in colours, or grey three times at the paper's size."""
    grey = side == PAPER_SIDE
    pixels = square(path, side, grey)
    return np.repeat(pixels[None], 3, 0) if grey else pixels.transpose(2, 0, 1)


def write_inputs(images: Path, out: Path, sides: set[int]) -> None:
    """What the networks are compared on: every photograph in colours at their own sizes, and grey at the paper's."""
    for side in sides | {PAPER_SIDE}:
        pixels = np.stack([planes(path, side) for path in photographs(images)])
        np.save(out / f"inputs-{side}.npy", ((pixels - 127) / 128).astype(np.float32))


def same_padding(source: Path, target: Path) -> int:
    """TensorFlow's padding, which these networks were trained with: as ONNX says it, for any size. Returns the parameters."""
    model = onnx.load(source)
    for node in model.graph.node:
        if node.op_type == "Conv":
            kernel = next(a.ints for a in node.attribute if a.name == "kernel_shape")
            if max(kernel) > 1:
                kept = [a for a in node.attribute if a.name != "pads"]
                del node.attribute[:]
                node.attribute.extend([*kept, onnx.helper.make_attribute("auto_pad", "SAME_UPPER")])
    onnx.checker.check_model(model)
    onnx.save(model, target)
    return sum(int(np.prod(weights.dims)) for weights in model.graph.initializer)


def describe(path: Path, side: int) -> None:
    """(x − 127)/128, as the networks' own preprocessing has it."""
    path.write_text(json.dumps({"height": side, "width": side, "channels": "rgb", "layout": "nchw", "range": [0, 255], "mean": 127,
                                "std": 128, "fit": "crop", "resize": round(side / 0.875), "outputs": "logits", "classes": "classes.txt"},
                               indent=1) + "\n", encoding="utf-8")  # fmt: skip


def answers(network: Path, inputs: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(str(network), providers=["CPUExecutionProvider"])
    parts = [session.run(None, {"image": inputs[k : k + BATCH]})[0] for k in range(0, len(inputs), BATCH)]
    return np.concatenate(parts)


def finish(images: Path, out: Path, name: str) -> Export:
    """NAME.onnx with its description, and NAME.export.json."""
    side = LITES[name].side
    parameters = same_padding(out / f"{name}.symmetric.onnx", out / f"{name}.onnx")
    describe(out / f"{name}.image.json", side)
    found = {size: answers(out / f"{name}.onnx", np.load(out / f"inputs-{size}.npy")) for size in (side, PAPER_SIDE)}
    differences = [float(np.abs(found[size] - np.load(out / f"{name}-logits-{size}.npy")).max()) for size in (side, PAPER_SIDE)]
    labels = [label_of(path.name) for path in photographs(images)]
    right = sum(int(row.argmax()) == label for row, label in zip(found[side], labels))
    told = Export(side, *differences, right, sum(label is not None for label in labels), parameters)
    (out / f"{name}.export.json").write_text(json.dumps(asdict(told), indent=1) + "\n", encoding="utf-8")
    return told
