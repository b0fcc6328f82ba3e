"""How much is measured, and what it is measured with. Needs nothing but Python."""

from dataclasses import dataclass

from trained import NETWORKS, Network, Training

GAMMA = 0.7  # of the persistence
PRECISION = 0.1  # half-width of a persistence, as its share: enough for a mean
SIDE = 28  # distortion times this is a length
QUANTILE = 0.5244005127080407  # of the normal distribution at GAMMA: σ* at distance d from a flat boundary is d over this


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
