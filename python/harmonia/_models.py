"""What can be measured, made into a model of the library."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._data import Table
from ._errors import InputError, ModelError, UsageError
from ._modules import EXAMPLES, Module

#: Rows of a batch that a Python function is called with: enough that the call itself costs nothing.
BATCH = 4096

#: The methods of an estimator that answer, the first that it has.
METHODS = ("predict_proba", "decision_function", "predict")


@dataclass(frozen=True)
class ModelAddress:
    """A model that is a file, a program or a server, with what is needed to reach it.

    A plain string does where no option is needed.

    >>> import harmonia
    >>> f = harmonia.ModelAddress("fn:f2", kind="function")
    >>> float(harmonia.gamma(f, [[1.0, 2.0]], radius=0.1).gamma[0].round(6))
    0.01
    """

    address: Union[str, "os.PathLike[str]"]
    kind: str = ""  #: of model, if its address does not tell
    headers: Sequence[str] = ()  #: "Name: value", sent with every HTTP request
    ca_file: str = ""  #: PEM file of the authorities trusted over TLS
    output_name: str = ""  #: which of the model's outputs, if it has several
    timeout: float = 60.0  #: seconds to wait for one answer
    retries: int = 4  #: further tries after a 5xx answer or a lost connection
    device: str = "cpu"  #: where a TorchScript model runs: cpu, cuda or cuda:N
    fast_path: bool = True  #: False: every point is answered for itself, whatever is known of the model

    def text(self) -> str:
        return os.fspath(self.address)

    def needs_example(self) -> bool:
        return _native.needs_example(self.text(), self.kind)

    def open(
        self, example: Sequence[float], choice: "Choice", images: Optional[_native.Images] = None
    ) -> _native.Model:
        return _native.open_model(
            self.text(),
            example,
            self.kind,
            list(self.headers),
            self.ca_file,
            self.output_name,
            self.timeout,
            self.retries,
            choice.binary,
            bool(choice.missing),
            choice.margin,
            images or _native.Images(),
            self.device,
            self.fast_path,
        )


@dataclass(frozen=True)
class Choice:
    """What of a model is asked for, and how."""

    method: Optional[str] = None
    margin: bool = False
    binary: bool = False
    missing: Optional[bool] = None
    as_frame: Optional[bool] = None
    dtype: Any = None
    threads: int = 0


def as_address(f: Any) -> Optional[ModelAddress]:
    """The address that f is, if it is one."""
    if isinstance(f, ModelAddress):
        return f
    return ModelAddress(f) if isinstance(f, (str, os.PathLike)) else None


def is_estimator(f: Any) -> bool:
    return not isinstance(f, type) and hasattr(f, "predict")


def name_of(f: Any) -> str:
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None)
    return name if isinstance(name, str) else type(f).__name__


def float32(dtype: Any) -> bool:
    if dtype is None:
        return False
    found = np.dtype(dtype)
    if found not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise UsageError(f"dtype is {found}; expected float32 or float64")
    return bool(found == np.float32)


def method_of(estimator: Any, choice: Choice) -> str:
    """The method that answers: the one asked for; with margin decision_function; else the first of METHODS."""
    wanted = (choice.method,) if choice.method else ("decision_function",) if choice.margin else METHODS
    for name in wanted:
        if callable(getattr(estimator, name, None)):
            return str(name)
    raise ModelError(f"model {type(estimator).__name__} has no method {wanted[0]}")


def takes_missing(estimator: Any) -> bool:
    """Whether scikit-learn's tags say that it answers rows with NaN."""
    try:
        if hasattr(estimator, "__sklearn_tags__"):
            return bool(estimator.__sklearn_tags__().input_tags.allow_nan)
        if hasattr(estimator, "_get_tags"):
            return bool(estimator._get_tags().get("allow_nan", False))
    except Exception:  # an estimator of its own kind may have tags of its own kind
        return False
    return False


def class_names(estimator: Any) -> list[str]:
    """Of a classifier with one target."""
    known = getattr(estimator, "classes_", None)
    return [] if known is None or isinstance(known, list) else [str(c) for c in known]


def class_numbers(function: Callable[[Any], Any], classes: NDArray[Any]) -> Callable[[Any], Any]:
    """Labels that are no numbers become their places among the classes."""
    order = np.argsort(classes, kind="stable")
    ordered = classes[order]

    def numbered(rows: Any) -> NDArray[np.float64]:
        return order[np.searchsorted(ordered, np.asarray(function(rows)))].astype(np.float64)

    return numbered


def frame_names(estimator: Any, table: Optional[Table], features: Sequence[str], choice: Choice) -> Optional[list[str]]:
    """The columns of the data frames that it wants; None if arrays will do."""
    fitted = getattr(estimator, "feature_names_in_", None)
    if choice.as_frame is False:
        return None
    if choice.as_frame is None and fitted is None:
        texts = table is not None and bool(table.categories)
        return list(features) if texts and not is_estimator(estimator) else None
    if fitted is None:
        return list(features)
    names = [str(name) for name in fitted]
    named = table is not None and bool(table.names)
    if named and names != list(features):
        raise InputError(f"the data's columns are {short(features)}; the model was fitted with {short(names)}")
    if len(names) != len(features):
        raise InputError(f"data has {len(features)} columns; the model was fitted with {len(names)}")
    return names


def short(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")


def function_model(f: Any, table: Optional[Table], data: _native.Data, choice: Choice) -> _native.Model:
    """A callable, or an estimator, that is called with batches."""
    features = data.features
    names = frame_names(f, table, features, choice)
    classes: list[str] = []
    missing = bool(choice.missing)
    if is_estimator(f):
        method = method_of(f, choice)
        function = getattr(f, method)
        name = f"{type(f).__name__}.{method}"
        missing = takes_missing(f) if choice.missing is None else missing
        classes = class_names(f)
        if classes and method == "predict" and np.asarray(f.classes_).dtype.kind not in "biuf":
            function = class_numbers(function, np.asarray(f.classes_))
    elif callable(f):
        if choice.method or choice.margin:
            raise UsageError("method and margin are for estimators and boosters; the model is a function")
        function, name = f, name_of(f)
    else:
        raise UsageError(
            f"the model is {type(f).__name__}; expected a function, an estimator with predict, "
            "or an address such as net.onnx"
        )
    if names is not None:
        frames = table if table is not None else Table(np.empty((0, len(features))))
        plain = function
        function = lambda rows: plain(frames.frame(rows, names))  # noqa: E731
    elif table is not None and table.categories:
        column = table.names[next(iter(table.categories))]
        raise InputError(
            f"column {column!r} holds no numbers, and the model takes arrays; as_frame=True gives it data frames"
        )
    return _native.function_model(
        function,
        name,
        _example(data, missing, name),
        float32(choice.dtype),
        BATCH,
        choice.threads > 1,
        missing,
        choice.binary,
        features,
        classes,
    )


def _example(data: _native.Data, missing: bool, name: str) -> list[float]:
    """A row to ask the model first."""
    row = data.first_row()
    if not missing and np.isnan(row).any():
        column = int(np.isnan(row).argmax())
        raise InputError(f"row 0, column {column} is missing (NaN); model {name} takes no missing values")
    return row


def module_model(
    f: Any, table: Optional[Table], data: _native.Data, choice: Choice, images: _native.Images
) -> _native.Model:
    """A torch.nn.Module, called with tensors of its own type, on its own device, in the shape of the data's rows."""
    if choice.margin or choice.as_frame:
        option = "margin" if choice.margin else "as_frame"
        raise UsageError(f"{option} is for estimators and functions; the model is a torch.nn.Module")
    if table is not None and table.categories:
        column = table.names[next(iter(table.categories))]
        raise InputError(f"column {column!r} holds no numbers, and a torch.nn.Module takes tensors; drop it")
    float32(choice.dtype)  # refuses other types
    missing = bool(choice.missing)
    row = np.asarray(images.row(_example(data, missing, name_of(f))), dtype=np.float64)
    shape = images.row_shape or (table.shape if table is not None else ()) or (len(row),)
    module = Module(f, shape, choice.dtype)
    outputs = module.learn(row)
    return _native.module_model(
        module,
        module.gradient,
        module.name,
        len(row),
        outputs,
        EXAMPLES,
        module.float32,
        module.batch,
        missing,
        choice.binary,
        module.warning,
        [] if images.row_shape else data.features,
        images,
    )
