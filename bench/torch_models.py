"""Writes the network that torch_bench times: /usr/bin/python3 bench/torch_models.py FOLDER (Debian's PyTorch)."""

import sys
from pathlib import Path

import torch

SIZES = (784, 1568, 1568, 10)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    layers = [torch.nn.Linear(a, b) for a, b in zip(SIZES, SIZES[1:])]
    steps = [step for layer in layers for step in (layer, torch.nn.ReLU())][:-1]
    torch.jit.script(torch.nn.Sequential(*steps).eval()).save(str(folder / "network.pt"))
    # The same weights for the side that has no libtorch: of every layer the matrix, outputs × inputs, then the bias.
    with open(folder / "network.weights", "wb") as file:
        for layer in layers:
            for tensor in (layer.weight, layer.bias):
                file.write(tensor.detach().numpy().tobytes())


if __name__ == "__main__":
    main()
