"""Writes the networks that gpu_bench times, with random weights: python3 bench/gpu_models.py FOLDER [--small]

ResNet-50 and ViT-B/16 for images of 3 × 224 × 224, scripted; --small: the same blocks, fewer, for 3 × 64 × 64, to try the
benchmark on a processor. Any PyTorch from 1.13 on.
"""

import argparse
from pathlib import Path

import torch
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, inputs: int, middle: int, stride: int) -> None:
        super().__init__()
        outputs = 4 * middle
        self.body = nn.Sequential(
            nn.Conv2d(inputs, middle, 1, bias=False),
            nn.BatchNorm2d(middle),
            nn.ReLU(),
            nn.Conv2d(middle, middle, 3, stride, 1, bias=False),
            nn.BatchNorm2d(middle),
            nn.ReLU(),
            nn.Conv2d(middle, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.skip: nn.Module = nn.Identity()
        if stride > 1 or inputs != outputs:
            self.skip = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.body(x) + self.skip(x))


def resnet(blocks: tuple[int, ...]) -> nn.Sequential:
    layers: list[nn.Module] = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for stage, count in enumerate(blocks):
        middle = 64 * 2**stage
        for block in range(count):
            layers.append(Bottleneck(inputs, middle, 2 if stage > 0 and block == 0 else 1))
            inputs = 4 * middle
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))


class EncoderLayer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before = nn.LayerNorm(width, eps=1e-6)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.dense = nn.Sequential(
            nn.LayerNorm(width, eps=1e-6), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, tokens, width = x.shape
        parts = self.query_key_value(self.before(x)).view(rows, tokens, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        weights = (query * (width // self.heads) ** -0.5) @ key.transpose(-2, -1)
        seen = torch.softmax(weights, -1) @ value
        x = x + self.out(seen.transpose(1, 2).reshape(rows, tokens, width))
        return x + self.dense(x)


class VisionTransformer(nn.Module):
    def __init__(self, side: int, layers: int, width: int = 768, heads: int = 12, patch: int = 16) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(0.02 * torch.randn(1, 1 + (side // patch) ** 2, width))
        self.layers = nn.Sequential(*(EncoderLayer(width, heads) for _ in range(layers)))
        self.last = nn.Sequential(nn.LayerNorm(width, eps=1e-6), nn.Linear(width, 1000))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), tokens], 1) + self.places
        return self.last(self.layers(x)[:, 0])


def settled(network: nn.Module, side: int) -> nn.Module:
    """The network with its normalisations at the statistics of random images, as after training."""
    for layer in network.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.momentum = 1.0
    with torch.no_grad():
        network.train()(torch.randn(16, 3, side, side))
    return network.eval()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    side = 64 if arguments.small else 224
    networks = {
        "resnet50": settled(resnet((1, 1, 1, 1) if arguments.small else (3, 4, 6, 3)), side),
        "vit_b_16": VisionTransformer(side, layers=2 if arguments.small else 12).eval(),
    }
    for name, network in networks.items():
        torch.jit.script(network).save(str(arguments.folder / f"{name}{'_small' if arguments.small else ''}.pt"))


if __name__ == "__main__":
    main()
