"""What the paper says of its networks, and how much is measured. Needs nothing but Python."""

from dataclasses import dataclass

from trained import NETWORKS, Network, Training

GAMMA = 0.7  # of the persistence
PRECISION = 0.1  # half-width of a persistence, as its share: enough for a mean
SIDE = 28  # distortion times this is a length
QUANTILE = 0.5244005127080407  # of the normal distribution at GAMMA: σ* at distance d from a flat boundary is d over this


@dataclass(frozen=True)
class Published:
    """A line of the paper's Table 1."""

    accuracy: float
    distortion: float
    natural: float
    adversarial: float


PUBLISHED = {
    "fc10-4": Published(0.9209, 0.123, 0.93, 1.68),
    "fc10-2": Published(0.9077, 0.178, 1.37, 4.25),
    "fc10-0": Published(0.8689, 0.278, 1.92, 12.22),
    "fc100-100-10": Published(0.9731, 0.086, 0.65, 0.56),
    "fc200-200-10": Published(0.9761, 0.087, 0.73, 0.56),
    "c-2": Published(0.9594, 0.09, 3.33, 0.027),
    "c-4": Published(0.9736, 0.12, 0.35, 0.027),
    "c-8": Published(0.9850, 0.11, 0.43, 0.0517),
    "c-16": Published(0.9890, 0.11, 0.53, 0.0994),
    "c-32": Published(0.9896, 0.11, 0.78, 0.0836),
    "c-64": Published(0.9900, 0.10, 0.81, 0.0865),
    "c-128": Published(0.9917, 0.11, 0.77, 0.0883),
    "c-256": Published(0.9909, 0.11, 0.83, 0.0900),
    "c-512": Published(0.9922, 0.10, 0.793, 0.0929),
}


@dataclass(frozen=True)
class Size:
    """How much is done. `networks`: which, unless others are named. `images`: natural and adversarial ones of each. `rows`: to learn
    from; 0 is all. `behind`: by how much a test accuracy may be below the paper's. `leads`, `deeper`: attacks that go on until the
    target's logit leads by so much, on the first so many images."""

    networks: tuple[str, ...]
    epochs: int
    epochs_convolutional: int
    rows: int
    images: int
    behind: float
    leads: tuple[float, ...]
    deeper: int

    def training(self, network: Network) -> Training:
        return Training(self.epochs_convolutional if network.convolutional else self.epochs, self.rows)


FULL = Size(tuple(name for name in NETWORKS if NETWORKS[name].channels <= 32), epochs=21, epochs_convolutional=6, rows=0, images=300, behind=0.03,
            leads=(1.0, 2.0, 5.0), deeper=100)
QUICK = Size(("fc10-0", "c-2"), epochs=1, epochs_convolutional=2, rows=10_000, images=20, behind=0.2, leads=(1.0,), deeper=5)
