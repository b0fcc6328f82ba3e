"""What the paper says, and how much is measured. Needs nothing but Python."""

from dataclasses import dataclass

SIDE = 224
GAMMA = 0.7  # of the persistence
SEED = 1
EPSILON = 8 / 255  # of the attacks in a box


@dataclass(frozen=True)
class Attack:
    """How the program is asked: further options of `harmonia attack`."""

    title: str
    options: tuple[object, ...]


BOX = ("--epsilon", EPSILON)
WHOLE = (*BOX, "--steps", 20, "--step-size", 1 / 255, "--go-on")  # all steps, as the usual tools take them
ATTACKS = {
    "bim": Attack("BIM", WHOLE),
    "mifgsm": Attack("MI-FGSM", WHOLE),
    "pgd": Attack("PGD", WHOLE),
    "fgsm": Attack("FGSM", BOX),
    "rfgsm": Attack("R+FGSM", WHOLE),
    "cw": Attack("CW", ("--steps", 100, "--constant", 1, "--kappa", 0)),
}


@dataclass(frozen=True)
class Published:
    """A line of the paper's Table 2."""

    distortion: float
    natural: float
    adversarial: float


PUBLISHED = {
    "AlexNet": {"total": Published(0.0194, 0.0155, 0.0049), "bim": Published(0.0188, 0.0162, 0.0050),
                "mifgsm": Published(0.0240, 0.0159, 0.0053), "pgd": Published(0.0188, 0.0162, 0.0050)},
    "VGG-16": {"total": Published(0.0154, 0.0146, 0.0011), "bim": Published(0.0181, 0.0145, 0.0012),
               "mifgsm": Published(0.0238, 0.0149, 0.0018), "pgd": Published(0.0181, 0.0145, 0.0012)},
}  # fmt: skip


@dataclass(frozen=True)
class Size:
    """photographs: how many of those that the network has right (0: all). targets: classes drawn for the attacks. precision: of a
    persistence, as its share. sigma: where it is looked for."""

    photographs: int
    targets: int
    precision: float
    methods: tuple[str, ...]
    sigma: str = "0.0001..10"


FULL = Size(photographs=0, targets=5, precision=0.1, methods=tuple(ATTACKS))
QUICK = Size(photographs=2, targets=1, precision=0.5, methods=("bim", "fgsm"))
