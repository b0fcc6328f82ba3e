"""Rows of numbers from arrays and data frames."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._errors import InputError, UsageError
from ._modules import array_of, is_tensor

if TYPE_CHECKING:
    import pandas as pd

#: What can be measured at: an array or tensor, a data frame, or what the program takes ("rows.csv", "grid:0..1x11,0..1x11").
DataLike = Union[NDArray[Any], "pd.DataFrame", Sequence[Sequence[float]], str, "os.PathLike[str]"]


@dataclass
class Table:
    """Rows in memory: numbers, and how to make a data frame of the user's kind from rows like them."""

    values: NDArray[np.float64]
    names: list[str] = field(default_factory=list)
    categories: dict[int, "Category"] = field(default_factory=dict)  # column → the values that its whole numbers stand for
    coded: set[int] = field(default_factory=set)  # columns whose numbers are those of a model's training
    index: Any = None  # of the data frame
    ids: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    shape: tuple[int, ...] = ()  # of a row of an array of more than two dimensions

    def data(self) -> _native.Data:
        return _native.memory_data(self.values, self.names, self.ids, self.labels)

    def frame(self, rows: NDArray[Any], names: Sequence[str]) -> "pd.DataFrame":
        """Rows of a batch as a data frame; categories and texts are what they were."""
        import pandas as pd

        frame = pd.DataFrame(rows, columns=list(names), copy=False)
        for column, kinds in self.categories.items():
            frame[names[column]] = kinds.restore(rows[:, column])
        return frame


class KeptRows:
    """Rows that are measured at again and again, and read the first time. A copy of it reads them anew."""

    def __init__(self, X: DataLike) -> None:
        self.X = X
        self.forget()

    @staticmethod
    def of(X: Any) -> "KeptRows":
        """These rows, or those that are kept already."""
        return X if isinstance(X, KeptRows) else KeptRows(X)

    def __reduce__(self) -> Any:
        return KeptRows, (self.X,)

    def forget(self) -> None:
        """Lets go of what was read."""
        self.table: Optional[Table] = None  # of rows in memory
        self.data: Optional[_native.Data] = None


@dataclass
class Category:
    """The values of a column that are no numbers; a whole number stands for each."""

    values: Any  # pandas.Index
    dtype: Any  # of the column; None if it was no category

    def restore(self, codes: NDArray[Any]) -> Any:
        import pandas as pd

        whole = np.where(np.isnan(codes), -1, codes).astype(int)
        if self.dtype is not None:
            return pd.Categorical.from_codes(whole, dtype=self.dtype)
        return pd.Index(self.values).take(whole, allow_fill=True, fill_value=None).to_numpy(dtype=object)


def is_frame(x: Any) -> bool:
    return type(x).__module__.split(".")[0] == "pandas" and hasattr(x, "columns")


def choose(frame: Any, columns: Optional[Sequence[Any]], drop: Optional[Sequence[Any]]) -> Any:
    for name in [*(columns or []), *(drop or [])]:
        if name not in frame.columns:
            raise InputError(f"the data has no column {name!r}; it has {', '.join(map(str, frame.columns[:20]))}")
    if columns is not None:
        frame = frame[list(columns)]
    return frame.drop(columns=list(drop)) if drop else frame


def table_of_frame(
    frame: Any,
    columns: Optional[Sequence[Any]],
    drop: Optional[Sequence[Any]],
    id: Optional[Any],
    label: Optional[Any],
) -> Table:
    import pandas as pd

    carried = {}
    for what, name in (("id", id), ("label", label)):
        if name is None:
            continue
        if name not in frame.columns:
            raise InputError(f"the data has no column {name!r}; it has {', '.join(map(str, frame.columns[:20]))}")
        carried[what] = [str(value) for value in frame[name]]
    left = [name for name in (id, label) if name is not None and (columns is None or name not in columns)]
    frame = choose(frame.drop(columns=list(dict.fromkeys(left))), columns, drop)
    values = np.empty(frame.shape, dtype=np.float64)
    categories = {}
    for j, name in enumerate(frame.columns):
        series = frame.iloc[:, j].infer_objects()
        if isinstance(series.dtype, pd.CategoricalDtype):
            codes = series.cat.codes.to_numpy()
            categories[j] = Category(series.cat.categories, series.dtype)
        elif series.dtype == object or isinstance(series.dtype, pd.StringDtype):
            codes, kinds = pd.factorize(series)
            categories[j] = Category(kinds, None)
        elif not pd.api.types.is_numeric_dtype(series.dtype) or pd.api.types.is_complex_dtype(series.dtype):
            raise InputError(f"column {str(name)!r} has type {series.dtype}; expected numbers")
        else:
            try:
                values[:, j] = series.to_numpy(dtype=np.float64, na_value=np.nan)
            except (TypeError, ValueError) as error:
                raise InputError(f"column {str(name)!r} has type {series.dtype}; expected numbers") from error
            continue
        values[:, j] = np.where(codes < 0, np.nan, codes)
    return Table(
        values,
        [str(name) for name in frame.columns],
        categories,
        index=frame.index,
        ids=carried.get("id", []),
        labels=carried.get("label", []),
    )


def table_of_array(
    x: Any,
    columns: Optional[Sequence[Any]],
    drop: Optional[Sequence[Any]],
    names: Optional[Sequence[str]],
    shaped: bool = False,
) -> Table:
    array = array_of(x) if is_tensor(x) else np.asarray(x)
    if array.dtype.kind not in "biuf":
        raise InputError(f"the data is an array of type {array.dtype}; expected numbers")
    shape: tuple[int, ...] = ()
    if shaped and array.ndim > 2 and array.size > 0:
        if columns is not None or drop:
            raise UsageError(f"columns and drop are of rows × features; the data is an array of shape {array.shape}")
        shape, array = array.shape[1:], array.reshape(len(array), -1)
    if array.ndim != 2:
        raise InputError(f"the data is an array of shape {array.shape}; expected rows × features")
    labels = list(names) if names is not None else []
    if labels and len(labels) != array.shape[1]:
        raise UsageError(f"feature_names has {len(labels)} names; the data has {array.shape[1]} columns")
    if columns is not None or drop:
        kept = _numbers(columns, labels, array.shape[1]) if columns is not None else list(range(array.shape[1]))
        gone = set(_numbers(drop or [], labels, array.shape[1]))
        kept = [j for j in kept if j not in gone]
        array = array[:, kept]
        labels = [labels[j] for j in kept] if labels else []
    return Table(np.ascontiguousarray(array, dtype=np.float64), labels, shape=shape)


def _numbers(columns: Sequence[Any], names: Sequence[str], width: int) -> list[int]:
    found = []
    for column in columns:
        number = names.index(column) if column in names else column
        if not isinstance(number, (int, np.integer)) or not 0 <= number < width:
            raise InputError(f"the data has no column {column!r}; it has {width} columns")
        found.append(int(number))
    return found


def read_table(
    x: Any,
    columns: Optional[Sequence[Any]],
    drop: Optional[Sequence[Any]],
    id: Optional[Any],
    label: Optional[Any],
    names: Optional[Sequence[str]],
    shaped: bool = False,
) -> Table:
    """The rows of what is no path; with `shaped` those of an array may have dimensions of their own."""
    if is_frame(x):
        if names is not None:
            raise UsageError("feature_names is for arrays; a data frame has names")
        return table_of_frame(x, columns, drop, id, label)
    if id is not None or label is not None:
        raise UsageError("id and label name columns of a data frame or a file; the data is an array")
    return table_of_array(x, columns, drop, names, shaped)
