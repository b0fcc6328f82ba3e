"""Trains a small convolutional network on MNIST or Fashion-MNIST, and writes the images that it is measured on. Started by `prepare`, with
Debian's Python.

    digits.py --data mnist|fashion --from DIR --out DIR --epochs N --each N

Into the folder it writes
    net.onnx, net.image.json                     the network: rows × 1 × 28 × 28, from 0 to 1, to 10 logits
    test-images-idx3-ubyte, test-labels-idx1-ubyte   the first test images of every class, class by class in turn
    logits.npy                                   PyTorch's own answers to these
    training.json                                accuracies, and how long it took
"""

import argparse
import json
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

SIDE, CLASSES, SEED = 28, 10, 1
BATCH, BLOCK, RATE, OPSET = 100, 1000, 1e-3, 13
MAGIC_IMAGES, MAGIC_LABELS = 2051, 2049
TRAINING, TEST = 6000, 1000  # of Fashion-MNIST, a class
CLOTHES = ("T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot")


@dataclass(frozen=True)
class Images:
    """pixels: rows × 28 × 28, bytes. labels: rows, bytes."""

    pixels: np.ndarray
    labels: np.ndarray

    def inputs(self) -> torch.Tensor:
        return torch.from_numpy(self.pixels.astype(np.float32) / 255)[:, None]

    def targets(self) -> torch.Tensor:
        return torch.from_numpy(self.labels.astype(np.int64))


def read_mnist(folder: Path) -> tuple[Images, Images]:
    def read(name: str) -> Images:
        pixels = np.frombuffer((folder / f"{name}-images-idx3-ubyte").read_bytes(), np.uint8, offset=16).reshape(-1, SIDE, SIDE)
        return Images(pixels, np.frombuffer((folder / f"{name}-labels-idx1-ubyte").read_bytes(), np.uint8, offset=8))

    return read("train"), read("t10k")


def read_fashion(folder: Path) -> tuple[Images, Images]:
    """A file a class: the test images, then those of training. That of class 0 has an empty image after each part."""
    training, test = [], []
    for label in range(CLASSES):
        found = [image for image in json.loads((folder / f"{label}.json").read_text())["data"] if image]
        if len(found) != TRAINING + TEST:
            raise SystemExit(f"{folder}/{label}.json: {len(found)} images, expected {TRAINING + TEST}")
        pixels = np.array(found, np.uint8).reshape(-1, SIDE, SIDE)
        test.append(pixels[:TEST])
        training.append(pixels[TEST:])
    join = lambda parts: Images(np.concatenate(parts), np.repeat(np.arange(CLASSES, dtype=np.uint8), len(parts[0])))  # noqa: E731
    return join(training), join(test)


def some_of_each(images: Images, count: int) -> Images:
    """The first of every class, in turn: any beginning of them has as many of each."""
    rows = np.stack([np.flatnonzero(images.labels == label)[:count] for label in range(CLASSES)], axis=1).reshape(-1)
    return Images(images.pixels[rows], images.labels[rows])


def write_images(images: Images, folder: Path) -> None:
    head = np.array([MAGIC_IMAGES, len(images.labels), SIDE, SIDE], ">i4").tobytes()
    (folder / "test-images-idx3-ubyte").write_bytes(head + images.pixels.tobytes())
    head = np.array([MAGIC_LABELS, len(images.labels)], ">i4").tobytes()
    (folder / "test-labels-idx1-ubyte").write_bytes(head + images.labels.tobytes())


def build() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, CLASSES),
    )  # fmt: skip


def train(images: Images, epochs: int) -> nn.Sequential:
    torch.manual_seed(SEED)
    model, inputs, targets = build(), images.inputs(), images.targets()
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    for epoch in range(epochs):
        start, total = time.monotonic(), 0.0
        for rows in torch.randperm(len(targets)).split(BATCH):
            optimiser.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs[rows]), targets[rows])
            loss.backward()
            optimiser.step()
            total += loss.item() * len(rows)
        print(f"    epoch {epoch + 1} of {epochs}: loss {total / len(targets):.4f}, {time.monotonic() - start:.1f} s", flush=True)
    return model.eval().requires_grad_(False)


def logits(model: nn.Sequential, images: Images) -> torch.Tensor:
    return torch.cat([model(part) for part in images.inputs().split(BLOCK)])


def accuracy(model: nn.Sequential, images: Images) -> float:
    return (logits(model, images).argmax(1) == images.targets()).float().mean().item()


def export(model: nn.Sequential, classes: list[str], folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, torch.zeros(1, 1, SIDE, SIDE), str(folder / "net.onnx"), opset_version=OPSET, input_names=["image"],
                          output_names=["logits"], dynamic_axes={"image": {0: "rows"}, "logits": {0: "rows"}})  # fmt: skip
    told = {"height": SIDE, "width": SIDE, "channels": "grey", "layout": "nchw", "range": [0, 1], "outputs": "logits", "classes": classes}
    (folder / "net.image.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", choices=["mnist", "fashion"], required=True)
    parser.add_argument("--from", type=Path, required=True, dest="source")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--each", type=int, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)  # sums, and so the networks, depend on the number of threads
    digits = options.data == "mnist"
    training, test = read_mnist(options.source) if digits else read_fashion(options.source)
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    model = train(training, options.epochs)
    seconds = time.monotonic() - start
    export(model, [str(digit) for digit in range(CLASSES)] if digits else list(CLOTHES), out)
    chosen = some_of_each(test, options.each)
    write_images(chosen, out)
    np.save(out / "logits.npy", logits(model, chosen).numpy())
    told = {"data": options.data, "epochs": options.epochs, "each": options.each, "seconds": seconds,
            "train_accuracy": accuracy(model, training), "test_accuracy": accuracy(model, test),
            "parameters": sum(p.numel() for p in model.parameters()), "torch": torch.__version__}  # fmt: skip
    (out / "training.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    print(f"  {options.data}: test accuracy {100 * told['test_accuracy']:.2f} %, trained in {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
