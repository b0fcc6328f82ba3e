"""What PyTorch says of crossings: gradients there, the exact normal, and the normal as the paper finds it. Started by `prepare`.

    gradients.py --network net.pt --crossings crossings.npz --out answers.npz --points N --samples N --ways BITS:SIGMA:CENTRED …

crossings.npz has points (rows × pixels), own and other (the classes on both sides). answers.npz has, of every row, `training` and
`adversarial` (the gradients of the cross-entropy of the own and of the other class) and `normal` (of the difference of the two
logits, of unit length), `third` (the probability of all other classes there), and of the first N rows `svd`, ways × rows × pixels.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from torch import nn

SEED = 1
STEP = 1e-4  # the first of an attack, in every pixel; doubled until the class changes
DOUBLINGS = 14
BATCH = 500


def gradient(model, points: torch.Tensor, value) -> torch.Tensor:
    """Of `value`, a sum over rows of what it makes of the logits."""
    x = points.clone().requires_grad_(True)
    with torch.enable_grad():
        return torch.autograd.grad(value(model(x)), x)[0]


def cross_entropy(model, points: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return gradient(model, points, lambda logits: nn.functional.cross_entropy(logits, labels, reduction="sum"))


def difference(logits: torch.Tensor, own: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return (logits.gather(1, own[:, None]) - logits.gather(1, other[:, None]))[:, 0]


def classes(model, points: torch.Tensor) -> torch.Tensor:
    return model(points).argmax(1)


def unit(rows: torch.Tensor) -> torch.Tensor:
    return rows / rows.norm(dim=1, keepdim=True)


def attacked(model, samples: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """A step along the sign of the gradient of the class's cross-entropy, as far as another class needs; nan where none is met."""
    direction = cross_entropy(model, samples, labels).sign()
    found = torch.full_like(samples, float("nan"))
    left = torch.arange(len(samples))
    step = STEP
    for _ in range(DOUBLINGS):
        there = samples[left] + step * direction[left]
        changed = classes(model, there) != labels[left]
        found[left[changed]] = there[changed]
        left = left[~changed]
        if len(left) == 0:
            break
        step *= 2
    return found


def bisected(model, inside: torch.Tensor, outside: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The last points of the class on the ways from inside to outside, to the last place of the way's share."""
    low, high = (torch.full((len(inside), 1), value, dtype=inside.dtype) for value in (0.0, 1.0))
    for _ in range(26 if inside.dtype == torch.float32 else 55):
        middle = (low + high) / 2
        same = (classes(model, inside + middle * (outside - inside)) == labels)[:, None]
        low, high = torch.where(same, middle, low), torch.where(same, high, middle)
    return inside + low * (outside - inside)


def projected(model, samples: torch.Tensor) -> torch.Tensor:
    """Samples brought to the boundary along an attack on each; those that no attack brings there are left out."""
    parts = []
    for part in samples.split(BATCH):
        labels = classes(model, part)
        ends = attacked(model, part, labels)
        there = ~ends.isnan().any(1)
        parts.append(bisected(model, part[there], ends[there], labels[there]))
    return torch.cat(parts)


def svd_normal(model, point: torch.Tensor, samples: int, sigma: float, centred: bool, draws: torch.Generator) -> np.ndarray:
    """The right singular vector of the least singular value of what lies between the point and samples brought to the boundary."""
    noise = torch.randn((samples, point.shape[1]), generator=draws, dtype=torch.float64)
    found = projected(model, point + (sigma * noise).to(point.dtype))
    if len(found) < point.shape[1]:
        raise SystemExit(f"{len(found)} of {samples} samples came to the boundary, fewer than {point.shape[1]} pixels")
    apart = found - (found.mean(0, keepdim=True) if centred else point)
    return np.linalg.svd(apart.numpy(), full_matrices=False)[2][-1].astype(np.float64)


def on_boundary(model, points: torch.Tensor, own: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The points moved along the normal to where both logits are one, in float64: the program's are those of a network in float32."""
    for _ in range(3):
        by = gradient(model, points, lambda logits: difference(logits, own, other).sum())
        gap = difference(model(points), own, other)[:, None]
        points = points - gap * by / by.square().sum(1, keepdim=True)
    return points


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", type=Path, required=True)
    parser.add_argument("--crossings", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--points", type=int, required=True)
    parser.add_argument("--samples", type=int, required=True)
    parser.add_argument("--ways", nargs="+", required=True)
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    given = np.load(options.crossings)
    points, own, other = (torch.from_numpy(given[name]) for name in ("points", "own", "other"))
    double = torch.jit.load(str(options.network)).double()
    single = torch.jit.load(str(options.network)).float()

    by = gradient(double, points, lambda logits: difference(logits, own, other).sum())
    shares = double(points).softmax(1)
    two = shares.gather(1, own[:, None]) + shares.gather(1, other[:, None])
    answers = {"training": cross_entropy(double, points, own), "adversarial": cross_entropy(double, points, other), "normal": unit(by),
               "third": 1 - two[:, 0]}  # fmt: skip

    count = min(options.points, len(points))
    svd = np.empty((len(options.ways), count, points.shape[1]))
    for normals, way in zip(svd, options.ways):
        bits, sigma, centred = way.split(":")
        draws = torch.Generator().manual_seed(SEED)
        model = single if bits == "32" else double
        for k in range(count):
            point = points[k : k + 1].float() if bits == "32" else on_boundary(double, points[k : k + 1], own[k : k + 1], other[k : k + 1])
            normals[k] = svd_normal(model, point, options.samples, float(sigma), centred == "1", draws)
    np.savez(options.out, svd=svd, **{name: value.numpy() for name, value in answers.items()})


if __name__ == "__main__":
    main()
