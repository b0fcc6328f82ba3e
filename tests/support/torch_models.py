"""TorchScript files for the tests, made by Debian's own Python: torch_models.py FOLDER writes them all, and what PyTorch
answers to the rows of rows.npy (answers-NAME.npy). The networks net, conv and grey are there as ONNX files too."""

import sys
import warnings
from pathlib import Path
from typing import Dict, List, Tuple

import numpy as np
import torch
from torch import Tensor, nn


class Pair(nn.Module):
    def forward(self, x) -> Tuple[Tensor, Tensor]:
        return x[:, :2] * x[:, 1:3], x


class Listed(nn.Module):
    def forward(self, x) -> List[Tensor]:
        return [torch.sin(x), x]


class Single(nn.Module):
    def forward(self, x):
        return (x * x).sum(1)


class Squeezed(nn.Module):
    def forward(self, x):
        return torch.cos(x[:, :3]).squeeze()


class Whole(nn.Module):
    """Whole numbers, which have no gradient."""

    def forward(self, x):
        return x.argmax(1)


class Text(nn.Module):
    def forward(self, x) -> str:
        return "yes"


class Table(nn.Module):
    def forward(self, x) -> Dict[str, Tensor]:
        return {"y": x}


class Mean(nn.Module):
    def forward(self, x):
        return x.mean(0, keepdim=True)


class Raises(nn.Module):
    def forward(self, x):
        if bool((x >= 0).any()):
            raise ValueError("no such rows,\nsays the module")
        return x


class Later(nn.Module):
    """Answers what it is asked when it is opened, and fails on points far from there."""

    def forward(self, x):
        if bool((x > 100).any()):
            raise ValueError("too far")
        return x


class NotANumber(nn.Module):
    def forward(self, x):
        return torch.log(x - 100)


class Elsewhere(nn.Module):
    def forward(self, x):
        return x + torch.ones(4, device="cuda:0")


class TwoInputs(nn.Module):
    def forward(self, x, y):
        return x + y


class Empty(nn.Module):
    def forward(self, x):
        return x[:, :0]


def dense(*sizes, softmax=True):
    steps = [step for a, b in zip(sizes, sizes[1:]) for step in (nn.Linear(a, b), nn.Tanh())][:-1]
    return nn.Sequential(*steps, *([nn.Softmax(1)] if softmax else []))


def main() -> None:
    folder = Path(sys.argv[1])
    torch.manual_seed(1)
    warnings.simplefilter("ignore")
    rows = torch.randn(24, 4)
    np.save(folder / "rows.npy", rows.numpy())

    def save(name, module, *, rows=rows, trace=False, onnx=False):
        module.eval()
        scripted = torch.jit.trace(module, rows) if trace else torch.jit.script(module)
        scripted.save(str(folder / f"{name}.pt"))
        with torch.no_grad():
            kind = next((p.dtype for p in module.parameters()), torch.float32)
            y = scripted(rows.to(kind))
        y = y[0] if isinstance(y, (tuple, list)) else y
        np.save(folder / f"answers-{name}.npy", y.reshape(len(rows), -1).double().numpy())
        if onnx:
            torch.onnx.export(module, rows[:1], str(folder / f"{name}.onnx"), input_names=["x"], output_names=["y"], opset_version=13,
                              dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})  # fmt: skip

    def keep(name, module):
        torch.jit.script(module.eval()).save(str(folder / f"{name}.pt"))

    save("net", dense(4, 16, 3), onnx=True)
    save("net64", dense(4, 16, 3).double())
    save("traced", dense(4, 16, 3), trace=True)
    save("dropout", nn.Sequential(nn.Linear(4, 30), nn.Dropout(0.5), nn.BatchNorm1d(30), nn.Linear(30, 2)).train())
    for module in (Pair(), Listed(), Single(), Squeezed(), Whole()):
        save(type(module).__name__.lower(), module)
    for module in (Text(), Table(), Mean(), Raises(), Later(), NotANumber(), Elsewhere(), TwoInputs(), Empty()):
        keep(type(module).__name__.lower(), module)
    golden = nn.Linear(3, 2).double()  # whose outputs have the gradients ±(1, 2, 2)
    golden.weight.data = torch.tensor([[1, 2, 2], [-1, -2, -2]], dtype=torch.float64)
    keep("golden", golden)
    keep("half", dense(4, 16, 3).bfloat16())
    image = nn.Sequential(nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(6 * 36, 4))
    nn.init.uniform_(image[1].running_var, 0.5, 2)
    save("image", image, rows=torch.rand(5, 3, 8, 8), onnx=True)
    # What is no TorchScript.
    torch.save(dense(4, 3).state_dict(), folder / "weights.pt")
    torch.save(dense(4, 3).state_dict(), folder / "old.pth", _use_new_zipfile_serialization=False)
    torch.save(dense(4, 3), folder / "pickled.pt")


if __name__ == "__main__":
    main()
