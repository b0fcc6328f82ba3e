"""What is measured, and how much. Needs nothing but Python."""

from dataclasses import dataclass

from trained import Network, Training

MAIN = "fc100-100-10"
PUBLISHED_PRECISION = 0.003  # of the paper's normals, as it says; radians, if it is an angle


@dataclass(frozen=True)
class Way:
    """To the normal by singular vectors: samples of deviation `sigma`, in numbers of `bits` bits. centred: the samples' mean is taken
    off, not the point."""

    name: str
    title: str
    bits: int
    sigma: float
    centred: bool


PAPER = Way("paper", "the paper's: float32, σ = 1e-6", 32, 1e-6, False)
SOUND = Way("sound", "float64, σ = 1e-6, centred", 64, 1e-6, True)
WAYS = (PAPER, Way("wider", "float32, σ = 1e-4, centred", 32, 1e-4, True), SOUND)


@dataclass(frozen=True)
class Size:
    """How much is done. `pairs`: of test images, and as many of a test image and an attack on it. `points`: crossings of each kind at
    which the normal of fully connected networks is found by singular vectors too, of `samples` samples. `rows`: to learn from; 0 is all. `accuracy`: that every
    network must have."""

    networks: tuple[str, ...]
    epochs: int
    epochs_convolutional: int
    rows: int
    pairs: int
    points: int
    samples: int
    accuracy: float

    def points_of(self, network: Network) -> int:
        """None of convolutional ones: each takes minutes."""
        return 0 if network.convolutional else self.points

    def training(self, network: Network) -> Training:
        return Training(self.epochs_convolutional if network.convolutional else self.epochs, self.rows)


FULL = Size((MAIN, "c-4"), epochs=21, epochs_convolutional=6, rows=0, pairs=200, points=3, samples=5000, accuracy=0.95)
QUICK = Size((MAIN,), epochs=2, epochs_convolutional=2, rows=10_000, pairs=20, points=1, samples=1600, accuracy=0.85)
