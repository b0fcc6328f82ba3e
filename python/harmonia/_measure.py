"""harmonia.gamma."""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from . import _native
from ._data import DataLike, KeptRows, Table, is_frame, read_table
from ._errors import HarmoniaWarning, UsageError
from ._models import Choice, ModelAddress, as_address, function_model, module_model
from ._modules import is_module
from ._progress import Progress, shown
from ._result import GammaResult
from ._trees import tree_model

#: What can be measured: a function on batches, an estimator or booster, a torch.nn.Module, or the address of a model.
ModelLike = Union[Callable[[Any], Any], str, "os.PathLike[str]", ModelAddress, Any]


def gamma(
    f: ModelLike,
    X: DataLike,
    radius: Union[None, float, str] = None,
    *,
    ball: Optional[str] = None,
    average: str = "surface",
    output: str = "predicted",
    sample: Optional[int] = None,
    precision: Optional[float] = None,
    floor: Optional[float] = None,
    confidence: float = 0.95,
    explain: int = 0,
    scale: str = "none",
    schema: Union[None, str, "os.PathLike[str]", Mapping[str, Any]] = None,
    paper: bool = False,
    method: Optional[str] = None,
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
    description: Union[None, str, "os.PathLike[str]"] = None,
    size: Optional[str] = None,
    grey: bool = False,
    labels: Union[None, str, "os.PathLike[str]"] = None,
    pixel_range: str = "free",
    batch: Optional[int] = None,
    seed: int = 1,
    threads: Optional[int] = None,
    max_evaluations: Optional[int] = None,
    progress: Union[bool, None, Progress] = None,
) -> GammaResult:
    """Measures gamma = |average of f over a small ball around x − f(x)| at every row x of X.

    >>> import harmonia, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> result = harmonia.gamma(lambda X: (X ** 2).sum(axis=1), X, radius=0.1)
    >>> round(result.summary.mean, 6)
    0.01

    The model f is one of these:

    * a function on a NumPy batch: rows × features in, rows or rows × outputs back. It is called from this thread, with
      up to 4096 rows at a time; what it raises is raised here.
    * an estimator as in scikit-learn: its predict_proba if it has one, else its decision_function, else its predict.
      One that was fitted on data frames is given data frames.
    * a Booster or a model of XGBoost or LightGBM, read into the library's own evaluator without a call of Python.
      `method` (such as "predict_proba") calls that method instead.
    * a torch.nn.Module of PyTorch 1.13 or later, called in evaluation mode and without gradients on tensors of its
      parameters' type and device, and left as it was. One without parameters gets float32 on the CPU: `dtype=np.float64`,
      or a function that makes the tensors itself, is for another type. Of an array or tensor of images (rows × channels ×
      height × width) it gets images, else plain rows; images of files come as `description` says. It answers with a tensor
      of rows × outputs, or a tuple or list that begins with one.
    * the address of a model as the program takes it: "net.onnx", "net.pt", "booster.json", "cmd:…", "http://…", "fn:f2";
      or a ModelAddress, which has its options too, such as device="cuda:0" and fast_path=False (every point is
      answered for itself, whatever is known of the model).

    The rows X are an array (a C-ordered one of float64 is used as it is), a data frame, or what the program takes:
    "rows.csv", "rows.npy", "grid:0..5x101,1..4x61", "uniform:1000"; of images a folder, "photo.jpg" or MNIST's
    "images-idx3-ubyte". Columns of a data frame that hold categories or texts are never moved. Images are rows of values
    from 0 to 255, height × width × channels, which a model file or module gets as its description says, and a function
    as they are.

    Parameters
    ----------
    radius: of the ball, in units of `scale`; "auto" is a tenth of the median distance to the nearest row. None is 0.05,
        or 100 with `paper` of images.
    ball: simplex, anti, simplex+anti, cross, one-hot, rotated:K, rademacher[:N], random:N, random-pairs:N, gaussian:N;
        of images pixel or patch:K. None is simplex+anti, of images of more than 1000 values pixel.
    average: over the "surface" of the sphere or the "solid" ball.
    output: label, predicted, column:K, norm, angle, all or flip.
    sample: draw exactly this many pairs of the ball instead of all.
    precision, floor: draw pairs until the interval is `precision` of gamma, or as narrow as `floor`.
    confidence: of every interval.
    explain: name this many features whose pairs weigh most.
    scale: unit of the radius per feature: "none", "std" or "range".
    schema: how features may be moved: {"age": {"scale": 10, "bounds": [0, 120], "integer": True, "immutable": False}},
        or a file of that form.
    paper: the paper's own procedure, to reproduce published numbers.
    method: the estimator's method to call.
    margin: the value before the link instead of the probability (an estimator's decision_function). Of a LightGBM random
        forest it is the trees' average, where LightGBM's raw_score is their sum.
    binary: the single output is the probability of class 1.
    missing: the model answers rows with NaN. Estimators and boosters say so themselves.
    as_frame: give the function pandas data frames with the data's names.
    dtype: float32 or float64, of the batches that a function or module is given.
    columns, drop, id, label: of a data frame or a file: features, columns to leave out, columns that are carried to
        the result and not given to the model. Of an array, columns and drop are numbers or feature_names.
    description, size, grey, labels, pixel_range: of images, as the program's options: the file that says how they come
        to the model, "HEIGHTxWIDTH" that they are brought to, whether they are made grey, a file of their labels, and
        where a step that leaves 0 … 255 goes ("free", "symmetric" or "reflect").
    batch: points held in memory at once; of a function, points of a call.
    threads: model calls at the same time. A function is called from this thread unless more are asked for; the next
        batch is made ready meanwhile by a thread that does not touch Python, unless 1 is asked for.
    max_evaluations: never ask the model for more rows than this.
    progress: a bar by tqdm (None: where somebody looks at it and it takes long), or a function that is called with
        rows done, rows in all and evaluations.

    Warnings about the result are in summary.warnings and raised as HarmoniaWarning. Errors are UsageError, InputError
    and ModelError, with the program's texts.
    """
    asked = {k: v for k, v in locals().items() if k not in ("f", "X", "progress")}
    choice = Choice(method, margin, binary, missing, as_frame, dtype, threads or 0)
    kept = KeptRows.of(X)
    X = kept.X
    asked_images = ImageChoice.of(asked, X)
    asked["radius"] = radius if radius is not None else 100.0 if paper and is_image_data(X) else 0.05
    (model,), data, table = open_subject(
        [f], kept, choice, columns, drop, id, label, feature_names, seed, asked_images
    )
    arguments = native_arguments(asked, table)
    asked_images.tell(arguments, f, model, X, pixel_range)
    arguments.call = call_text("gamma", [model], data, asked)
    with shown(progress, f"gamma of {model.name}") as tell:
        native = _native.gamma(model, data, arguments, tell)
    result = GammaResult(native, table.index if table is not None else None)
    warn(result.summary.warnings, model)
    return result


@dataclass(frozen=True)
class ImageChoice:
    """What is said of images besides the description beside the model."""

    description: str = ""
    size: str = ""
    grey: bool = False
    labels: str = ""

    @classmethod
    def of(cls, asked: Mapping[str, Any], X: DataLike) -> "ImageChoice":
        """What options say; the paper's own procedure has a size and no colours."""
        paper = asked["paper"] and is_image_data(X)
        return cls(
            os.fspath(asked["description"]) if asked["description"] is not None else "",
            asked["size"] or ("100x100" if paper else ""),
            asked["grey"] or paper,
            os.fspath(asked["labels"]) if asked["labels"] is not None else "",
        )

    def tell(
        self,
        arguments: _native.Arguments,
        f: ModelLike,
        model: _native.Model,
        X: Optional[DataLike],
        pixel_range: str = "free",
    ) -> None:
        """Puts which output is measured, and how images come to the model, into the options of a measurement."""
        arguments.model_output = f.output_name if isinstance(f, ModelAddress) else ""
        arguments.images = self.ask(f, X)
        arguments.pixel_range = pixel_range
        if as_address(f) is not None:
            measures_logits = arguments.images.measures_logits
            arguments.margin |= measures_logits(model.name, arguments.margin, arguments.model_output)

    def ask(self, f: ModelLike, X: Optional[DataLike]) -> _native.Images:
        """How the images of X come to the model."""
        if not is_image_data(X):
            if self != ImageChoice():
                raise UsageError("description, size, grey and labels are of images; the data is a table")
            return _native.Images()
        address = as_address(f)
        return _native.ask_images(
            address.text() if address is not None else "", self.description, self.size, self.grey
        )


def is_image_data(X: Optional[DataLike]) -> bool:
    return isinstance(X, (str, os.PathLike)) and _native.is_image_data(os.fspath(X))


def warn(sentences: Sequence[str], *models: _native.Model) -> None:
    """Raises warnings, those about the models first, at the user's line, two calls up."""
    for sentence in [*dict.fromkeys(model.warning for model in models if model.warning), *sentences]:
        warnings.warn(sentence, HarmoniaWarning, stacklevel=3)


def open_subject(
    models: Sequence[ModelLike],
    X: Union[DataLike, KeptRows],
    choice: Choice,
    columns: Optional[Sequence[Any]] = None,
    drop: Optional[Sequence[Any]] = None,
    id: Optional[Any] = None,
    label: Optional[Any] = None,
    feature_names: Optional[Sequence[str]] = None,
    seed: int = 1,
    image_choice: Optional[ImageChoice] = None,
) -> tuple[list[_native.Model], _native.Data, Optional[Table]]:
    """The models and the rows; those in memory come as a table too."""
    for what, names in (("columns", columns), ("drop", drop)):
        if isinstance(names, str):
            raise UsageError(f"{what} is {names!r}; expected a list of columns")
    seed = _whole("seed", seed)
    kept = KeptRows.of(X)
    X = kept.X
    addresses = [as_address(f) for f in models]
    image_choice = image_choice or ImageChoice()
    images = [image_choice.ask(f, X) for f in models]
    opened = [
        a.open([], choice, i) if a is not None and not a.needs_example() else None for a, i in zip(addresses, images)
    ]
    table, data = kept.table, kept.data
    if table is None and not isinstance(X, (str, os.PathLike)):
        ordered = _in_fitted_order(models[0], X, columns, drop, id, label)
        table = read_table(X, ordered, drop, id, label, feature_names, all(is_module(f) for f in models))
    trees = [tree_model(f, table, choice) if a is None else m for f, a, m in zip(models, addresses, opened)]
    if data is None and table is not None:
        data = table.data()
    elif data is None:
        if feature_names is not None:
            raise UsageError("feature_names is for arrays; a file has names of its own")
        data = _native.open_data(
            os.fspath(X),  # type: ignore[arg-type]
            [str(c) for c in columns or []],
            [str(c) for c in drop or []],
            "" if id is None else str(id),
            "" if label is None else str(label),
            next((m.inputs for m in trees if m is not None), 0),
            seed,
            images[0],
            image_choice.labels,
        )
    kept.table, kept.data = table, data
    made = []
    for f, address, model, shown_as in zip(models, addresses, trees, images):
        if model is None and address is not None:
            model = address.open(data.first_row(), choice, shown_as)
        elif model is None and is_module(f) and choice.method is None:
            model = module_model(f, table, data, choice, shown_as)
        made.append(model if model is not None else function_model(f, table, data, choice))
    return made, data, table


#: What an option is when it was not asked for.
DEFAULTS: dict[str, Any] = {
    "ball": "simplex+anti",
    "average": "surface",
    "output": "predicted",
    "confidence": 0.95,
    "explain": 0,
    "scale": "none",
    "paper": False,
    "margin": False,
    "binary": False,
    "grey": False,
    "pixel_range": "free",
}


def native_arguments(asked: Mapping[str, Any], table: Optional[Table]) -> _native.Arguments:
    """The options of a measurement, checked."""
    if asked["paper"]:
        for name in ("ball", "average", "sample", "precision", "floor"):
            if asked[name] is not None and asked[name] != DEFAULTS.get(name):
                raise UsageError(f"paper excludes {name}")
    arguments = _native.Arguments()
    radius = _radius(asked["radius"])
    if radius is not None:
        arguments.radius = radius
    arguments.ball = asked["ball"] or ""
    for name in ("average", "output", "confidence", "scale", "paper", "margin", "binary"):
        setattr(arguments, name, asked[name])
    for name in ("seed", "explain"):
        setattr(arguments, name, _whole(name, asked[name]))
    for name in ("sample", "batch", "threads", "max_evaluations"):
        setattr(arguments, name, _count(name, asked[name]))
    for name in ("precision", "floor"):
        setattr(arguments, name, _positive(name, asked[name]))
    arguments.schema_file, text = _schema(asked["schema"])
    if text is not None:
        arguments.schema = text
    arguments.fixed = sorted(table.categories) if table is not None else []
    return arguments


def _in_fitted_order(f: Any, X: Any, columns: Any, drop: Any, *carried: Any) -> Optional[Sequence[Any]]:
    """The columns in the order in which an estimator was fitted, if the data frame has just these."""
    fitted = getattr(f, "feature_names_in_", None)
    if columns is not None or fitted is None or not is_frame(X):
        return columns
    gone = {*(drop or []), *(name for name in carried if name is not None)}
    kept = [name for name in X.columns if name not in gone]
    return list(fitted) if len(kept) == len(fitted) and set(kept) == set(fitted) else columns


def _radius(radius: Union[float, str]) -> Optional[float]:
    if isinstance(radius, str):
        if radius == "auto":
            return None
        raise UsageError(f"radius '{radius}'; expected a number above 0, or auto")
    return float(radius)


def _count(name: str, value: Optional[int]) -> int:
    if value is None:
        return 0
    if int(value) != value or value < 1:
        raise UsageError(f"{name} is {value}; expected a whole number of at least 1")
    return int(value)


def _whole(name: str, value: int) -> int:
    if not isinstance(value, Integral) or not 0 <= value < 2**64:
        raise UsageError(f"{name} is {value!r}; expected a whole number of at least 0")
    return int(value)


def _positive(name: str, value: Optional[float]) -> float:
    if value is None:
        return 0.0
    if not value > 0:
        raise UsageError(f"{name} is {value}; expected a number above 0")
    return float(value)


def _schema(schema: Union[None, str, "os.PathLike[str]", Mapping[str, Any]]) -> tuple[str, Optional[str]]:
    if schema is None:
        return "", None
    if isinstance(schema, (str, os.PathLike)):
        return os.fspath(schema), None
    features = schema if set(schema) == {"features"} else {"features": dict(schema)}
    return "schema", json.dumps(features)


def call_text(
    function: str, models: Sequence[_native.Model], data: _native.Data, asked: Mapping[str, Any]
) -> str:
    """The call that repeats the run, as far as text can say it."""
    names = [model.name if model.kind == "python" else repr(model.name) for model in models]
    options = "".join(
        f", {name}={value!r}"
        for name, value in asked.items()
        if value is not None and name not in ("batch", "threads") and value is not DEFAULTS.get(name, None)
        and not (isinstance(value, (str, int, float)) and value == DEFAULTS.get(name, None))
    )
    subject = names[0] if function != "compare" else f"[{', '.join(names)}]"
    return f"harmonia.{function}({subject}, {data.source!r}{options})"
