"""MNIST's files as rows that the program reads: 784 pixels from 0 to 1, and the label in the last column."""

from pathlib import Path

import numpy as np

PIXELS = 784
LABEL = PIXELS  # the label's column


def read_idx(path: Path) -> np.ndarray:
    """The bytes of an IDX file, in its shape."""
    data = path.read_bytes()
    shape = np.frombuffer(data, ">u4", count=data[3], offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


def read_rows(mnist: Path, part: str) -> np.ndarray:
    """Of `train` or `t10k`."""
    pixels = read_idx(mnist / f"{part}-images-idx3-ubyte")
    labels = read_idx(mnist / f"{part}-labels-idx1-ubyte")
    return np.column_stack([pixels.reshape(len(pixels), -1).astype(np.float32) / 255, labels.astype(np.float32)])


def write_data(mnist: Path, folder: Path, training: int, reuse: bool) -> np.ndarray:
    """The first `training` rows to learn from (0: all) as train.npy, and all to test on as test.npy, which are returned."""
    test = read_rows(mnist, "t10k")
    labels = read_idx(mnist / "train-labels-idx1-ubyte")
    path = folder / "train.npy"
    if not (reuse and path.exists() and len(np.load(path, mmap_mode="r")) == (training or len(labels))):
        folder.mkdir(parents=True, exist_ok=True)
        rows = read_rows(mnist, "train")
        np.save(path, rows[:training] if training else rows)
    np.save(folder / "test.npy", test)
    return test
