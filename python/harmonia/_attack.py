"""harmonia.attack."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._compare import _number, _Written
from ._data import DataLike
from ._errors import UsageError
from ._measure import ImageChoice, ModelLike, _count, _positive, call_text, native_arguments, open_subject, warn
from ._models import Choice
from ._progress import Progress, shown
from ._stability import _UNUSED

if TYPE_CHECKING:
    import pandas as pd


class AttackResult(_Written):
    """What became of rows under attack, as NumPy arrays, an entry a row; of two methods, the first.

    >>> import harmonia
    >>> result = harmonia.attack("fn:half-space?d=1", [[0.0, 0.0], [-9.0, 0.0]], radius=2.0)
    >>> result.success.tolist(), result.adversarial[0].tolist()
    ([True, False], [2.0, 0.0])
    """

    def __init__(self, native: _native.Attack, index: Any = None) -> None:
        self._native = native
        self._index = index
        self.adversarial: NDArray[np.float64] = native.adversarial()
        """The rows that were found, or where the search ended; NaN where the evaluations ran out."""
        told = json.loads(native.to_json())
        self._told = told
        self.summary: dict[str, Any] = told["summary"]
        """Each method's share of changed classes with its interval, and how two methods differ."""
        self.method: str = told["options"]["method"]
        rows = [row for row in told["rows"] if row["method"] == self.method]

        def field(name: str) -> NDArray[np.float64]:
            return np.array([_number(row[name]) for row in rows], dtype=float)

        self.row: NDArray[np.int64] = np.array([row["row"] for row in rows], dtype=np.int64)
        """Numbers of the rows in the data."""
        self.decided_class: NDArray[np.float64] = field("class")
        """The model's class at each row; NaN where the evaluations ran out …"""
        self.target: NDArray[np.float64] = np.array([_number(row.get("target")) for row in rows], dtype=float)
        """The class to come to; NaN where any other one would do."""
        self.new_class: NDArray[np.float64] = field("new_class")
        """… and after the last step."""
        self.success: NDArray[np.bool_] = np.array([bool(row["success"]) for row in rows])
        """Whether another class, or the target, was found."""
        self.steps: NDArray[np.float64] = field("steps")
        """Until the class first changed, or all."""
        self.changed: NDArray[np.float64] = field("changed")
        """Features (pixels) that differ."""
        self.distortion_l2: NDArray[np.float64] = field("distortion_l2")
        """Root mean square change of a feature."""
        self.distortion_linf: NDArray[np.float64] = field("distortion_linf")
        """Largest change of a feature."""
        self.first_logit: NDArray[np.float64] = field("first_logit")
        """The output of the first class before …"""
        self.last_logit: NDArray[np.float64] = field("last_logit")
        """… and after."""
        self.evaluations: NDArray[np.int64] = field("evaluations").astype(np.int64)
        self.outcome: NDArray[np.str_] = np.array([row["outcome"] for row in rows])
        """changed, kept, stuck, budget or already (of the target's class, not attacked)."""

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        return f"AttackResult({self.summary['text']})"

    def to_frame(self) -> "pd.DataFrame":
        """A row of the frame a row and method.

        >>> import harmonia
        >>> harmonia.attack("fn:half-space", "uniform:5", radius=1.0, against="random").to_frame().shape[0]
        10
        """
        import pandas as pd

        frame = pd.DataFrame(self._told["rows"])
        if self._index is not None and len(frame) == len(self._index):
            frame.index = self._index
        return frame

    def plot(self, ax: Any = None) -> Any:
        """The share of rows whose class has changed against the step, with bands; returns the axes.

        >>> import harmonia, matplotlib; matplotlib.use("agg")
        >>> harmonia.attack("fn:half-space", "uniform:5", radius=1.0).plot().get_xlabel()
        'step'
        """
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        for method in self.summary["methods"]:
            curve = method["curve"]
            step = [p["step"] for p in curve]
            (line,) = ax.plot(step, [p["share"] for p in curve], label=method["method"], drawstyle="steps-post")
            ax.fill_between(step, [p["low"] for p in curve], [p["high"] for p in curve], step="post", color=line.get_color(), alpha=0.15, linewidth=0)
        ax.set_xlabel("step")
        ax.set_ylabel("share of rows whose class changed")
        ax.set_ylim(0, 1.02)
        ax.legend()
        return ax


def attack(
    f: ModelLike,
    X: DataLike,
    radius: Optional[float] = None,
    *,
    method: str = "gamma",
    against: Optional[str] = None,
    steps: Optional[int] = None,
    candidates: int = 20,
    lower: Optional[float] = None,
    upper: Optional[float] = None,
    epsilon: Optional[float] = None,
    paper: bool = False,
    go_on: bool = False,
    norm: Optional[str] = None,
    target: Union[None, int, str] = None,
    step_size: Optional[float] = None,
    decay: float = 1.0,
    penalty: Optional[float] = None,
    constant: Optional[float] = None,
    kappa: float = 0.0,
    random_start: bool = True,
    outputs: str = "logits",
    image: Optional[Sequence[int]] = None,
    confidence: float = 0.95,
    scale: str = "none",
    schema: Union[None, str, "os.PathLike[str]", Mapping[str, Any]] = None,
    model_method: Optional[str] = None,
    margin: bool = False,
    binary: bool = False,
    missing: Optional[bool] = None,
    as_frame: Optional[bool] = None,
    dtype: Any = None,
    columns: Optional[Sequence[Any]] = None,
    drop: Optional[Sequence[Any]] = None,
    id: Optional[Any] = None,
    label: Optional[Any] = None,
    feature_names: Optional[Sequence[str]] = None,
    batch: Optional[int] = None,
    seed: int = 1,
    threads: Optional[int] = None,
    max_evaluations: Optional[int] = None,
    progress: Union[bool, None, Progress] = None,
) -> AttackResult:
    """Looks for a row of another class near every row of X, by asking the model alone or by its gradients.

    >>> import harmonia
    >>> result = harmonia.attack("fn:ball-class?r=1", [[0.0, 0.4]], radius=0.1, method="boundary")
    >>> bool(0.6 <= result.distortion_l2[0] * 2 ** 0.5 < 0.62)
    True

    Two methods on the same rows, with the difference of their shares:

    >>> result = harmonia.attack("fn:half-space?d=1", "uniform:20", radius=1.5, against="random")
    >>> result.summary["comparison"]["a"], result.summary["comparison"]["b"]
    ('gamma', 'random')

    By the gradients of a model that has them:

    >>> result = harmonia.attack("fn:soft-ball?r=1", [[0.0, 0.4]], method="pgd", epsilon=0.7, norm="l2", target=0)
    >>> result.success.tolist(), result.target.tolist()
    ([True], [0.0])

    Parameters
    ----------
    f, X: the model and the rows, as for gamma(). A model that returns only labels will do, but for "nes".
    radius: the step of a feature, in units of `scale`; methods by gradients have none.
    method: "gamma" (one feature a step, by gamma), "random" (the control: as many features and calls),
        "nes" (estimated gradients), "boundary" (from classes alone) or "greedy" (as gamma, by the output alone); of
        models with gradients "fgsm", "rfgsm", "bim", "mifgsm", "pgd", "pgd-penalty", "cw" or "lbfgs".
    against: a second one, on the same rows with the same options.
    steps: features changed one after another, or iterations; None: 25, 10 of rfgsm, bim, mifgsm and pgd, 100 of
        pgd-penalty and cw.
    candidates: features tried a step (gamma), pairs of an estimate (nes, boundary).
    lower, upper: no value leaves these, such as 0 and 255 of images.
    epsilon: nes: the farthest that a feature is moved; boundary: how far a row that counts may be;
        fgsm to pgd: the size of the ball, in units of `scale` (of images pixel values, 0 to 255).
    paper: gamma as the paper's Algorithm 2, to reproduce published numbers; takes all steps.
    go_on: take all steps even after the class has changed; boundary always does.
    norm: of fgsm to pgd: "linf" (steps by signs) or "l2" (along the gradient).
    target: the class to come to: its number, "next", "random" or "least"; None: any other. Methods by gradients.
    step_size: of every step; None: a quarter of epsilon, a fifth with l2; of cw Adam's rate, 0.01.
    decay: mifgsm: of the sum of gradients.
    penalty: pgd-penalty: weight of the squared distance.
    constant: cw: weight of the margin (1); lbfgs: first weight of the loss (0.01).
    kappa: cw, lbfgs: by how much the other class is to lead.
    random_start: pgd: from a random point of the ball, not from the row.
    outputs: "logits" or "probabilities", of which methods by gradients take the logarithm.
    image: height, width and perhaps channels of rows that are images: the channels of a pixel move together.
    confidence: of every interval.
    model_method: what gamma() calls method: the function of the model that answers.

    The others are those of gamma().
    """
    asked = {k: v for k, v in locals().items() if k not in ("f", "X", "progress", "radius")}
    if image is not None and (len(image) not in (2, 3) or min(image) < 1):
        raise UsageError(f"image is {image!r}; expected height and width, and perhaps channels")
    if outputs not in ("logits", "probabilities"):
        raise UsageError(f"outputs is {outputs!r}; expected logits or probabilities")
    gradient = _native.GradientOptions(
        norm, None if target is None else str(target), _positive("step_size", step_size), float(decay),
        _positive("penalty", penalty), _positive("constant", constant), float(kappa), bool(random_start), outputs == "probabilities",
    )
    choice = Choice(model_method, margin, binary, missing, as_frame, dtype, threads or 0)
    (model,), data, table = open_subject([f], X, choice, columns, drop, id, label, feature_names, seed)
    arguments = native_arguments({**asked, **_UNUSED}, table)
    ImageChoice().tell(arguments, f, model, X)
    told = {k: v for k, v in asked.items() if v != _DEFAULTS.get(k, object())}
    arguments.call = call_text("attack", [model], data, told if radius is None else {"radius": radius, **told})
    with shown(progress, f"attack on {model.name}") as tell:
        native = _native.attack(
            model, data, method, against, 0 if steps is None else _count("steps", steps), 0.0 if radius is None else float(radius),
            None if lower is None else float(lower), None if upper is None else float(upper),
            _count("candidates", candidates), _positive("epsilon", epsilon), paper, go_on, gradient, list(image or ()), arguments, tell,
        )
    warn(native.warnings, model)
    return AttackResult(native, table.index if table is not None else None)


#: What call_text need not say.
_DEFAULTS: dict[str, Any] = {"method": "gamma", "candidates": 20, "paper": False, "go_on": False, "decay": 1.0, "kappa": 0.0, "random_start": True, "outputs": "logits"}
