"""What torchattacks makes of a network and rows, by Debian's own Python: torchattacks_answers.py PACKAGE FOLDER.

PACKAGE is the folder that `scripts/setup.sh --torchattacks` prints. FOLDER has images.npy (rows of 64 values from 0 to 1) and
labels.npy; a convolutional network is trained on them and written as net.pt, and what each attack of ATTACKS makes of the
first rows as NAME.npy. The package is not imported as a whole, which would ask for libraries that the attacks do not use."""

import importlib
import sys
import types
from pathlib import Path

import numpy as np
import torch
from torch import nn

ROWS = 300
ATTACKS = {
    "fgsm": ("fgsm", "FGSM", {"eps": 0.2}),
    "rfgsm": ("rfgsm", "RFGSM", {"eps": 0.2, "alpha": 0.04, "steps": 7}),
    "bim": ("bim", "BIM", {"eps": 0.2, "alpha": 0.03, "steps": 8}),
    "mifgsm": ("mifgsm", "MIFGSM", {"eps": 0.2, "alpha": 0.03, "steps": 8, "decay": 0.9}),
    "pgd": ("pgd", "PGD", {"eps": 0.2, "alpha": 0.03, "steps": 8, "random_start": False}),
    "pgd-random": ("pgd", "PGD", {"eps": 0.2, "alpha": 0.03, "steps": 8}),
    "pgd-l2": ("pgdl2", "PGDL2", {"eps": 1.0, "alpha": 0.2, "steps": 8, "random_start": False}),
    "cw": ("cw", "CW", {"c": 2, "kappa": 0, "steps": 100, "lr": 0.02}),
}


class AsImages(nn.Module):
    """torchattacks takes images alone."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x.flatten(1))


def trained(images, labels):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Unflatten(1, (1, 8, 8)), nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Flatten(), nn.Linear(128, 10)).double()  # fmt: skip
    optimiser = torch.optim.Adam(net.parameters(), 2e-3)
    for _ in range(8):
        for batch in torch.randperm(len(images)).split(64):
            optimiser.zero_grad()
            nn.functional.cross_entropy(net(images[batch]), labels[batch]).backward()
            optimiser.step()
    return net.eval()


def main() -> None:
    package, folder = Path(sys.argv[1]), Path(sys.argv[2])
    torchattacks = types.ModuleType("torchattacks")
    torchattacks.__path__ = [str(package / "torchattacks")]
    sys.modules["torchattacks"] = torchattacks
    images = torch.tensor(np.load(folder / "images.npy"))
    net = trained(images, torch.tensor(np.load(folder / "labels.npy")))
    torch.jit.script(net).save(str(folder / "net.pt"))
    rows = images[:ROWS]
    labels = net(rows).argmax(1)
    for name, (module, attack, options) in ATTACKS.items():
        made = getattr(importlib.import_module(f"torchattacks.attacks.{module}"), attack)(AsImages(net), **options)
        np.save(folder / f"{name}.npy", made(rows.view(-1, 1, 8, 8), labels).detach().flatten(1).numpy())
    np.save(folder / "rows.npy", rows.numpy())
    np.save(folder / "answers.npy", net(images).detach().numpy())


if __name__ == "__main__":
    main()
