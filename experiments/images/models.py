from dataclasses import dataclass
LABELLED = "imagenet_"
PAPER_SIDE = 100
@dataclass(frozen=True)
class Lite:
    title: str
    side: int
LITES = {"lite0": Lite("EfficientNet-Lite0", 224), "lite1": Lite("EfficientNet-Lite1", 240), "lite2": Lite("EfficientNet-Lite2", 260)}
