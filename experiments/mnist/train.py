"""Trains the networks with PyTorch and writes them as ONNX files."""

import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from models import PIXELS, Network

BATCH = 100
BLOCK = 10_000  # rows at a time where nothing is learnt
RATE = 1e-3
OPSET = 13
MAGIC_IMAGES, MAGIC_LABELS = 2051, 2049


@dataclass(frozen=True)
class Images:
    """pixels: rows × 784, from 0 to 1. labels: rows."""

    pixels: torch.Tensor
    labels: torch.Tensor


def read_images(folder: Path, name: str, count: int) -> Images:
    """The files `NAME-images-idx3-ubyte` and `NAME-labels-idx1-ubyte`."""
    raw, tags = ((folder / f"{name}-{kind}-ubyte").read_bytes() for kind in ("images-idx3", "labels-idx1"))
    shapes = tuple(np.frombuffer(raw, ">i4", 4)), tuple(np.frombuffer(tags, ">i4", 2))
    expected = (MAGIC_IMAGES, count, 28, 28), (MAGIC_LABELS, count)
    if shapes != expected:
        raise SystemExit(f"{folder}/{name}: headers are {shapes}, expected {expected}")
    pixels = np.frombuffer(raw, np.uint8, offset=16).reshape(count, PIXELS)
    labels = np.frombuffer(tags, np.uint8, offset=8)
    return Images(torch.from_numpy(pixels.astype(np.float32) / 255), torch.from_numpy(labels.astype(np.int64)))


class Square(nn.Module):
    """Pixels as a picture of one channel. nn.Unflatten cannot be exported."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(-1, 1, 28, 28)


def convolutions(channels: int) -> tuple[list[nn.Module], int]:
    """From 28 × 28 pixels down to 6 × 6, and how many numbers are left."""
    layers: list[nn.Module] = [Square()]
    for inputs in (1, channels, channels, channels):
        layers += [nn.Conv2d(inputs, channels, 5), nn.ReLU()]
    return [*layers, nn.MaxPool2d(2), nn.Flatten()], channels * 6 * 6


def build(network: Network) -> nn.Sequential:
    """ReLU after every layer but the last; the outputs are logits."""
    layers, inputs = convolutions(network.channels) if network.channels else ([], PIXELS)
    for width in network.widths:
        layers += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
    return nn.Sequential(*layers[:-1])


def penalty(model: nn.Sequential, network: Network) -> torch.Tensor | float:
    """Of each fully connected layer, its lambda times the sum of its squared weights over its units."""
    layers = [layer for layer in model if isinstance(layer, nn.Linear)]
    return sum(weight * layer.weight.square().sum() / layer.out_features for weight, layer in zip(network.penalties, layers))


def train(network: Network, images: Images, epochs: int, seed: int) -> nn.Sequential:
    torch.manual_seed(seed)
    model = build(network)
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    for epoch in range(epochs):
        start, total = time.monotonic(), 0.0
        for rows in torch.randperm(len(images.labels)).split(BATCH):
            optimiser.zero_grad()
            loss = nn.functional.cross_entropy(model(images.pixels[rows]), images.labels[rows]) + penalty(model, network)
            loss.backward()
            optimiser.step()
            total += loss.item() * len(rows)
        print(f"    epoch {epoch + 1} of {epochs}: loss {total / len(images.labels):.4f}, {time.monotonic() - start:.1f} s", flush=True)
    return model.eval().requires_grad_(False)


def classes(model: nn.Sequential, pixels: torch.Tensor) -> torch.Tensor:
    return model(pixels).argmax(1)


def accuracy(model: nn.Sequential, images: Images) -> float:
    found = torch.cat([classes(model, part) for part in images.pixels.split(BLOCK)])
    return (found == images.labels).float().mean().item()


def export(model: nn.Sequential, path: Path) -> None:
    """Input `pixels`, rows × 784; output `logits`, rows × 10; any number of rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, torch.zeros(1, PIXELS), str(path), opset_version=OPSET, input_names=["pixels"], output_names=["logits"],
                          dynamic_axes={"pixels": {0: "rows"}, "logits": {0: "rows"}})  # fmt: skip
