"""EfficientNet-Lite0 with its own weights as TorchScript. Started by `prepare`, with Debian's Python.

    network.py --images DIR --out NET.pt --rows ROWS.npy

The network takes rows of 224 × 224 × 3 numbers from 0 to 1, red, green and blue of every pixel together, and answers with 1000 logits.
What PyTorch answers to ROWS.npy goes to NET.npy.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

from lite import Logits, load

SIDE = 224
BATCH = 10


class Photographs(nn.Module):
    """What the network's own preprocessing does, (255 x − 127) / 128, and then the network."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.logits = Logits(network)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # In memory too the channels come first: for the other order cuDNN takes seconds to make plans of single precision.
        colours = x.reshape(-1, SIDE, SIDE, 3).permute(0, 3, 1, 2).contiguous()
        return self.logits((colours * 255 - 127) / 128)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rows", type=Path, required=True)
    options = parser.parse_args()
    sys.path.insert(0, str(options.images))
    network = Photographs(load(options.images, "lite0", SIDE)).eval()
    rows = torch.from_numpy(np.load(options.rows))
    np.save(options.out.with_suffix(".npy"), torch.cat([network(part) for part in rows.split(BATCH)]).numpy())
    torch.jit.trace(network, rows[:2]).save(str(options.out))


if __name__ == "__main__":
    main()
