"""Makes tests/data/torch: networks with random weights in both precisions, rows, and what PyTorch answers.

/usr/bin/python3 tests/data/make_torch.py, with Debian's PyTorch (scripts/setup.sh torch). Answers and gradients are those
of the network in double precision; the gradients are of y0² − y1."""

import copy
import json
from pathlib import Path

import torch
from torch import nn

FOLDER = Path(__file__).resolve().parent / "torch"
ROWS = 7


class Residual(nn.Module):
    """What a trace does not see: a loop, a branch, several outputs, a step in place."""

    def __init__(self):
        super().__init__()
        self.into, self.step, self.out = nn.Linear(5, 6), nn.Linear(6, 6), nn.Linear(6, 3)

    def forward(self, x):
        x.mul_(1.5)
        h = torch.tanh(self.into(x))
        for _ in range(3):
            h = h + torch.sin(self.step(h))
        if h.dim() == 2:
            h = h * 0.5
        return self.out(h), h


def networks():
    yield "dense", [6], nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 9), nn.SiLU(), nn.Linear(9, 3), nn.Softmax(1))
    yield "conv", [2, 6, 5], nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(4, 5, 2),
                                           nn.Softplus(), nn.Flatten(), nn.Linear(10, 4))  # fmt: skip
    yield "residual", [5], Residual()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    torch.manual_seed(1)
    for name, shape, network in networks():
        for part in network.modules():
            if isinstance(part, nn.BatchNorm2d):
                nn.init.normal_(part.running_mean)
                nn.init.uniform_(part.running_var, 0.5, 2)
        network.eval()
        torch.jit.script(network).save(str(FOLDER / f"{name}32.pt"))
        double = copy.deepcopy(network).double()
        torch.jit.script(double).save(str(FOLDER / f"{name}64.pt"))
        x = torch.randn(ROWS, *shape).double().requires_grad_()
        y = double(x.clone())
        y = y[0] if isinstance(y, tuple) else y
        (gradient,) = torch.autograd.grad((y[:, 0] ** 2 - y[:, 1]).sum(), x)
        found = {"shape": shape, "x": x.flatten(1).tolist(), "y": y.tolist(), "gradient": gradient.flatten(1).tolist()}
        (FOLDER / f"{name}.json").write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
