"""The networks, what the paper says of them, and how much is measured. Needs nothing but Python."""

from dataclasses import dataclass

PIXELS = 784
SIDE = 28
COMPONENTS = 28  # of the plane
EPSILON = 0.1  # how far a row is moved in adversarial training, every pixel
ALPHA = 0.1  # weight of the manifold's objective; README.md says how it was chosen
BASELINE, ROBUST, MANIFOLD, BOTH = "baseline", "robust", "manifold", "manifold-robust"
FROM, TO = 2, 3  # the digits of Figure 8
TURNING_STEPS = 40
TURNING = {"linf": 0.3, "l2": 0.15}  # how far its attack goes, by its norm: every pixel, the root mean square of a pixel
PGD_STEPS = 100
BALL_STEPS = 20
PUBLISHED_ACCURACY = 0.92  # of the baseline
MARK, NEAR = 0.1, 0.05  # epsilon of FGSM and distance of PGD at which the statements are read


@dataclass(frozen=True)
class Model:
    """How a network is trained: with moved rows, with a term of the manifold, with both or neither."""

    title: str
    adversarial: bool = False
    term: str = ""
    alpha: float = ALPHA

    def options(self) -> list[object]:
        """Those of `harmonia train`."""
        found: list[object] = ["--adversarial", EPSILON] if self.adversarial else []
        return [*found, "--align", self.term, "--alpha", f"{self.alpha:g}", "--components", COMPONENTS] if self.term else found


MODELS = {
    BASELINE: Model("baseline"),
    ROBUST: Model("robust", adversarial=True),
    MANIFOLD: Model("manifold", term="ratio"),
    BOTH: Model("manifold robust", adversarial=True, term="ratio"),
}
# The three terms with one weight, of the first seed alone.
VARIANTS = {
    "ratio-1": Model("ratio, 1", term="ratio", alpha=1),
    "cosine-1": Model("cosine, 1", term="cosine", alpha=1),
    "rejection-1": Model("rejection, 1", term="rejection", alpha=1),
}


@dataclass(frozen=True)
class Size:
    """How much is done. `rows` of training, `tested` and, by PGD, `attacked` rows of the test set, `turned` images of a 2."""

    rows: int
    epochs: int
    hidden: str
    seeds: int
    tested: int
    attacked: int
    turned: int
    epsilons: tuple[float, ...]  # of FGSM
    penalties: tuple[float, ...]  # weights of PGD's squared distance
    balls: tuple[float, ...]  # radii of PGD within a ball, as the root mean square of a pixel
    variants: tuple[str, ...]
    accuracy: float  # that the baseline must have


FULL = Size(rows=60_000, epochs=10, hidden="1568,1568", seeds=3, tested=10_000, attacked=1000, turned=100,
            epsilons=(0.02, 0.05, 0.1, 0.15, 0.2, 0.3), penalties=(3, 1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001), balls=(0.02, 0.05, 0.1),
            variants=tuple(VARIANTS), accuracy=0.92)  # fmt: skip
QUICK = Size(rows=4000, epochs=5, hidden="64,64", seeds=1, tested=500, attacked=50, turned=10,
             epsilons=(0.1,), penalties=(0.1, 0.01), balls=(0.05,), variants=("cosine-1",), accuracy=0.8)  # fmt: skip
