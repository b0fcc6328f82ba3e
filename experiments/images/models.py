"""The networks, what the paper says of its own, and how much is measured. Needs nothing but Python."""

from dataclasses import dataclass

PAPER_SIDE = 100  # images of 100 × 100 grey pixels, moved by 100 of 255
RADIUS = 100
SMALL = 10  # … and a step that is small beside an image's own
STEPS = 25
DIGITS = {"mnist": "MNIST", "fashion": "Fashion-MNIST"}


@dataclass(frozen=True)
class Lite:
    """side: of the images it was trained on."""

    title: str
    side: int


LITES = {"lite0": Lite("EfficientNet-Lite0", 224), "lite1": Lite("EfficientNet-Lite1", 240), "lite2": Lite("EfficientNet-Lite2", 260)}
MAIN = "lite0"  # whose whole balls are measured

# The least and the largest of ten classes in the paper's Table 3.
PUBLISHED = {
    "ResNet-50": {"logit": (-0.12, 4.08), "mean_logit": (-10.08, -9.09), "probability": (0.911, 0.999), "gamma": (0.033, 0.054),
                  "score": (0.25, 0.44), "accuracy": (34, 89), "stability": (52, 92)},
    "ViT-B/16": {"logit": (8.07, 12.98), "mean_logit": (-6.9e-5, 2.8e-4), "probability": (0.762, 0.995), "gamma": (0.020, 0.082),
                 "score": (0.12, 0.54), "accuracy": (60, 94), "stability": (67, 90)},
}  # fmt: skip


@dataclass(frozen=True)
class Size:
    """How much is measured.

    networks, photographs   which EfficientNet-Lites, and how many photographs (0: all)
    digits, epochs, each    which sets of small images, how long their networks learn, how many images of every class
    steps, candidates       of a search
    paper                   on so many small images the paper's Algorithm 2 is run too
    thorough                … and on photographs, and a random search: most of the time
    pairs, draws, side      γ drawn in pairs and point by point: of so many small images, and `draws` times of so many photographs, of
                            `side` × `side` pixels
    radii, calls            … at these radii (photographs: the first one), with so many calls each
    """

    networks: tuple[str, ...]
    photographs: int
    digits: tuple[str, ...]
    epochs: dict[str, int]
    each: int
    steps: int
    candidates: int
    sample: int
    paper: int
    thorough: bool
    pairs: int
    draws: int
    pair_photographs: int
    side: int
    radii: tuple[float, ...]
    calls: tuple[int, ...]
    accuracy: dict[str, float]  # that the small networks must have


FULL = Size(networks=tuple(LITES), photographs=0, digits=tuple(DIGITS), epochs={"mnist": 4, "fashion": 6}, each=100, steps=STEPS,
            candidates=20, sample=200, paper=200, thorough=True, pairs=200, draws=20, pair_photographs=3, side=PAPER_SIDE,
            radii=(RADIUS, SMALL), calls=(20, 64, 256), accuracy={"mnist": 0.985, "fashion": 0.895})  # fmt: skip
QUICK = Size(networks=(MAIN,), photographs=4, digits=("mnist",), epochs={"mnist": 1, "fashion": 1}, each=20, steps=10, candidates=8,
             sample=50, paper=0, thorough=False, pairs=50, draws=5, pair_photographs=1, side=40, radii=(RADIUS, SMALL), calls=(20, 64, 256),
             accuracy={"mnist": 0.95, "fashion": 0.8})  # fmt: skip
