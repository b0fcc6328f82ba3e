"""harmonia.gamma."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from . import _native
from ._data import DataLike, Table, is_frame, read_table
from ._errors import HarmoniaWarning, UsageError
from ._models import Choice, ModelAddress, as_address, function_model
from ._progress import Progress, shown
from ._result import GammaResult

#: What can be measured: a function on batches, an estimator or booster, or the address of a model.
ModelLike = Union[Callable[[Any], Any], str, "os.PathLike[str]", ModelAddress, Any]


def gamma(
    f: ModelLike,
    X: DataLike,
    radius: Union[float, str] = 0.05,
    *,
    ball: str = "simplex+anti",
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
    * the address of a model as the program takes it: "net.onnx", "booster.json", "cmd:…", "http://…", "fn:f2".

    The rows X are an array (a C-ordered one of float64 is used as it is), a data frame, or what the program takes:
    "rows.csv", "rows.npy", "grid:0..5x101,1..4x61", "uniform:1000". Columns of a data frame that hold categories or
    texts are never moved.

    Parameters
    ----------
    radius: of the ball, in units of `scale`; "auto" is a tenth of the median distance to the nearest row.
    ball: simplex, anti, simplex+anti, cross, one-hot, rotated:K, rademacher[:N], random:N, random-pairs:N, gaussian:N.
    average: over the "surface" of the sphere or the "solid" ball.
    output: label, predicted, column:K, norm, angle or all.
    sample: draw exactly this many pairs of the ball instead of all.
    precision, floor: draw pairs until the interval is `precision` of gamma, or as narrow as `floor`.
    confidence: of every interval.
    explain: name this many features whose pairs weigh most.
    scale: unit of the radius per feature: "none", "std" or "range".
    schema: how features may be moved: {"age": {"scale": 10, "bounds": [0, 120], "integer": True, "immutable": False}},
        or a file of that form.
    paper: the paper's own procedure, to reproduce published numbers.
    method: the estimator's method to call.
    margin: the value before the link instead of the probability (an estimator's decision_function).
    binary: the single output is the probability of class 1.
    missing: the model answers rows with NaN. Estimators and boosters say so themselves.
    as_frame: give the function pandas data frames with the data's names.
    dtype: float32 or float64, of the batches that a function is given.
    columns, drop, id, label: of a data frame or a file: features, columns to leave out, columns that are carried to
        the result and not given to the model. Of an array, columns and drop are numbers or feature_names.
    batch: points held in memory at once.
    threads: model calls at the same time. A function is called from one thread unless more are asked for.
    max_evaluations: never ask the model for more rows than this.
    progress: a bar by tqdm (None: where somebody looks at it and it takes long), or a function that is called with
        rows done, rows in all and evaluations.

    Warnings about the result are in summary.warnings and raised as HarmoniaWarning. Errors are UsageError, InputError
    and ModelError, with the program's texts.
    """
    choice = Choice(method, margin, binary, missing, as_frame, dtype, threads or 0)
    asked = {
        name: value
        for name, (value, default) in {
            "radius": (radius, None),
            "ball": (ball, "simplex+anti"),
            "average": (average, "surface"),
            "output": (output, "predicted"),
            "sample": (sample, None),
            "precision": (precision, None),
            "floor": (floor, None),
            "confidence": (confidence, 0.95),
            "explain": (explain, 0),
            "scale": (scale, "none"),
            "schema": (schema, None),
            "paper": (paper, False),
            "method": (method, None),
            "margin": (margin, False),
            "binary": (binary, False),
            "missing": (missing, None),
            "columns": (columns, None),
            "drop": (drop, None),
            "id": (id, None),
            "label": (label, None),
            "max_evaluations": (max_evaluations, None),
            "seed": (seed, None),
        }.items()
        if value is not default and value != default
    }
    if paper:
        for name in ("ball", "average", "sample", "precision", "floor"):
            if name in asked:
                raise UsageError(f"paper excludes {name}")
    model, data, table = open_subject(f, X, choice, columns, drop, id, label, feature_names, seed)
    schema_file, schema_text = _schema(schema)
    with shown(progress, f"gamma of {model.name}") as tell:
        native = _native.gamma(
            model,
            data,
            radius=_radius(radius),
            ball=ball,
            average=average,
            output=output,
            sample=_count("sample", sample),
            precision=_positive("precision", precision),
            floor=_positive("floor", floor),
            confidence=confidence,
            explain=explain,
            scale=scale,
            schema_file=schema_file,
            schema=schema_text,
            fixed=sorted(table.categories) if table is not None else [],
            model_output=f.output_name if isinstance(f, ModelAddress) else "",
            paper=paper,
            batch=_count("batch", batch),
            seed=seed,
            threads=_count("threads", threads),
            max_evaluations=_count("max_evaluations", max_evaluations),
            call=_call(model, data, asked),
            progress=tell,
        )
    result = GammaResult(native, table.index if table is not None else None)
    for sentence in result.summary.warnings:
        warnings.warn(sentence, HarmoniaWarning, stacklevel=2)
    return result


def open_subject(
    f: ModelLike,
    X: DataLike,
    choice: Choice,
    columns: Optional[Sequence[Any]] = None,
    drop: Optional[Sequence[Any]] = None,
    id: Optional[Any] = None,
    label: Optional[Any] = None,
    feature_names: Optional[Sequence[str]] = None,
    seed: int = 1,
) -> tuple[_native.Model, _native.Data, Optional[Table]]:
    """The model and the rows; those in memory come as a table too."""
    address = as_address(f)
    model = address.open([], choice) if address is not None and not address.needs_example() else None
    table = None
    if isinstance(X, (str, os.PathLike)):
        if feature_names is not None:
            raise UsageError("feature_names is for arrays; a file has names, or columns chooses")
        data = _native.open_data(
            os.fspath(X),
            [str(c) for c in columns or []],
            [str(c) for c in drop or []],
            "" if id is None else str(id),
            "" if label is None else str(label),
            model.inputs if model is not None else 0,
            seed,
        )
    else:
        table = read_table(X, _in_fitted_order(f, X, columns, drop, id, label), drop, id, label, feature_names)
        data = table.data()
    if model is None:
        if address is not None:
            model = address.open(data.first_row(), choice)
        else:
            model = function_model(f, table, data, choice)
    return model, data, table


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


def _call(model: _native.Model, data: _native.Data, asked: Mapping[str, Any]) -> str:
    """The call that repeats the run, as far as text can say it."""
    quoted = model.kind != "python"
    options = "".join(f", {name}={value!r}" for name, value in asked.items())
    name = repr(model.name) if quoted else model.name
    return f"harmonia.gamma({name}, {data.source!r}{options})"
