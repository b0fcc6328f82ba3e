"""The networks, what the paper says of them, and how much is measured. Needs nothing but Python."""

from dataclasses import dataclass

PIXELS = 784
CLASSES = 10
SEED = 1
GAMMA = 0.7  # of the persistence
PRECISION = 0.1  # half-width of a persistence, as its share: enough for histograms
SIGMAS = "0.016..1.6x100"  # 100 equally spaced deviations up to 1.6
MAIN = "fc100-20-10"


@dataclass(frozen=True)
class Network:
    """Widths of the fully connected layers, and the weight of each one's penalty. With `channels`, the layers of the paper's Table 3
    come before them: four convolutions and a pooling."""

    title: str
    widths: tuple[int, ...]
    penalties: tuple[float, ...] = ()
    channels: int = 0


NETWORKS = {
    MAIN: Network("FC100-20-10", (100, 20, 10), (1e-7, 1e-7, 1e-7)),
    "fc10-4": Network("FC10-4", (10,), (1e-4,)),
    "fc10-2": Network("FC10-2", (10,), (1e-2,)),
    "fc10-0": Network("FC10-0", (10,), (1.0,)),
    "fc100-100-10": Network("FC100-100-10", (100, 100, 10), (1e-5, 1e-5, 1e-6)),
    "c-4": Network("C-4", (256, 10), channels=4),
}


# An attack goes on past the boundary until the target's probability is at least this. 0: until the class is the target.
REACHED = 0.0


def stop_name(stop: float) -> str:
    return "reached" if stop == REACHED else f"{stop:g}"


@dataclass(frozen=True)
class Size:
    """How much is done. `networks`: which, unless others are named. `images`, `images_others`: how many are attacked, each towards
    nine classes, in the main network and in the others. `images_deeper`: of these, how many go on past the boundary, to `stops` in
    the main network and `stops_others`."""

    networks: tuple[str, ...]
    epochs: int
    images: int
    images_others: int
    images_deeper: int
    stops: tuple[float, ...]
    stops_others: tuple[float, ...]
    accuracy: float  # that the main network must have

    def attacked(self, network: str) -> int:
        return self.images if network == MAIN else self.images_others

    def stops_of(self, network: str) -> tuple[float, ...]:
        return self.stops if network == MAIN else self.stops_others


FULL = Size((MAIN, "fc10-4", "fc10-2", "fc10-0", "fc100-100-10"), epochs=21, images=200, images_others=50, images_deeper=30,
            stops=(REACHED, 0.5, 0.9, 0.99, 0.999), stops_others=(REACHED, 0.5, 0.9, 0.99), accuracy=0.965)  # fmt: skip
QUICK = Size((MAIN,), epochs=3, images=10, images_others=10, images_deeper=10, stops=(REACHED, 0.99), stops_others=(REACHED, 0.99), accuracy=0.94)
