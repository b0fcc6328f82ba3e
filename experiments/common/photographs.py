"""The photographs that `scripts/setup.sh images` fetches: their order, their labels, and how they become a network's input."""

import re
from pathlib import Path

import numpy as np

MARGIN = 0.875  # of a photograph's shorter side, the part that networks are shown


def label_of(photograph: str) -> int | None:
    """imagenet_00_243.jpg, or 07-imagenet_00_243.jpg, has the label 243. Photographs of other names have none."""
    found = re.search(r"imagenet_\d+_(\d+)", photograph)
    return int(found[1]) if found else None


def photographs(images: Path) -> list[Path]:
    """Those with a label first."""
    return sorted((images / "photographs").iterdir(), key=lambda path: (label_of(path.name) is None, path.name))


def square(path: Path, side: int, grey: bool = False) -> np.ndarray:
    """side × side × 3 (grey: side × side), from 0 to 255: the middle, in colours with a margin, brought to size."""
    from PIL import Image

    image = Image.open(path).convert("L" if grey else "RGB")
    width, height = image.size
    cut = min(width, height) * (1 if grey else MARGIN)
    box = ((width - cut) / 2, (height - cut) / 2, (width + cut) / 2, (height + cut) / 2)
    return np.asarray(image.resize((side, side), Image.Resampling.BICUBIC, box=box, reducing_gap=None), np.float32)
