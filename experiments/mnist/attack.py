"""The iterative gradient sign method, towards a class. [Kurakin 2016]"""

import math
from dataclasses import dataclass

import torch
from torch import nn

from models import CLASSES

STEP = 1 / 255  # one grey level
STEPS = 255


@dataclass(frozen=True)
class Attacked:
    """Images at the first step at which the class was the target, with at least the probability asked for. An image that never
    got there is the last one, and `success` is false. margin: the target's logit less the largest other one."""

    pixels: torch.Tensor
    success: torch.Tensor
    steps: torch.Tensor
    distortion: torch.Tensor
    probability: torch.Tensor
    margin: torch.Tensor


def towards_others(labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """For every label nine rows: which image, and which class."""
    sources = torch.arange(len(labels)).repeat_interleave(CLASSES - 1)
    targets = torch.cat([torch.tensor([c for c in range(CLASSES) if c != label]) for label in labels.tolist()])
    return sources, targets


def margins(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    own = logits.gather(1, targets[:, None])[:, 0]
    return own - logits.scatter(1, targets[:, None], -math.inf).amax(1)


def attack(model: nn.Sequential, images: torch.Tensor, targets: torch.Tensor, stops: tuple[float, ...]) -> dict[float, Attacked]:
    """One way for every image, by steps of one grey level in every pixel, clipped to [0, 1]; where each stop is met on it."""
    x = images.clone()
    open_stops = {stop: torch.ones(len(x), dtype=torch.bool) for stop in stops}
    pixels = {stop: x.clone() for stop in stops}
    steps = {stop: torch.full((len(x),), STEPS) for stop in stops}
    for step in range(STEPS + 1):
        rows = torch.stack(list(open_stops.values())).any(0).nonzero()[:, 0]
        if len(rows) == 0:
            break
        here = x[rows].requires_grad_(True)
        with torch.enable_grad():
            logits = model(here)
            loss = nn.functional.cross_entropy(logits, targets[rows], reduction="sum")
        gradient = torch.autograd.grad(loss, here)[0]
        logits = logits.detach()
        inside = margins(logits, targets[rows]) > 0
        probability = logits.softmax(1).gather(1, targets[rows, None])[:, 0]
        for stop in stops:
            met = rows[inside & (probability >= stop) & open_stops[stop][rows]]
            pixels[stop][met], steps[stop][met], open_stops[stop][met] = x[met], step, False
        if step < STEPS:
            x[rows] = (here.detach() - STEP * gradient.sign()).clamp(0, 1)
    found = {}
    for stop in stops:
        pixels[stop][open_stops[stop]] = x[open_stops[stop]]
        logits = model(pixels[stop])
        found[stop] = Attacked(
            pixels=pixels[stop],
            success=~open_stops[stop],
            steps=steps[stop],
            distortion=(pixels[stop] - images).norm(dim=1) / math.sqrt(images.shape[1]),
            probability=logits.softmax(1).gather(1, targets[:, None])[:, 0],
            margin=margins(logits, targets),
        )
    return found
