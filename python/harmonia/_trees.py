"""Boosters of XGBoost and LightGBM, read into the library's own evaluator."""

from __future__ import annotations

import json
import math
from typing import Any, Iterable, Mapping, Optional, Sequence

import numpy as np

from . import _native
from ._data import Category, Table
from ._errors import InputError
from ._growing import GrowingBooster
from ._models import Choice, class_names, short


def _library(f: Any) -> str:
    """The library that f is a booster or a model of, if it is one."""
    for kind in type(f).__mro__:
        package = kind.__module__.split(".")[0]
        if (package, kind.__name__) in {
            ("xgboost", "Booster"),
            ("xgboost", "XGBModel"),
            ("lightgbm", "Booster"),
            ("lightgbm", "LGBMModel"),
        }:
            return package
    return ""


def tree_model(f: Any, table: Optional[Table], choice: Choice) -> Optional[_native.Model]:
    """The model, if f is a sum of trees that can be read; None if it has to be called.

    An estimator that stopped early is cut at its best iteration, as its own predict does. Probabilities of a binary
    classifier are two columns, those of a booster one.
    """
    if isinstance(f, GrowingBooster):
        return _growing(f, table)
    library = _library(f)
    if not library or choice.method is not None:
        return None
    return (_xgboost if library == "xgboost" else _lightgbm)(f, table, choice)


def _xgboost(f: Any, table: Optional[Table], choice: Choice) -> Optional[_native.Model]:
    booster, classifier = f, False
    if hasattr(f, "get_booster"):
        missing = getattr(f, "missing", math.nan)
        if missing is not None and not math.isnan(missing):
            return None
        booster = f.get_booster()
        classifier = hasattr(f, "predict_proba")
        best = getattr(f, "best_iteration", None) if _stopped_early(f) else None
        if best is not None:
            booster = booster[: best + 1]
    if json.loads(booster.save_config())["learner"]["gradient_booster"]["name"] == "gblinear":
        return None
    _check_names(booster.feature_names, table)
    if table is not None and table.categories:
        _recode(table, _xgboost_categories(booster, table.categories), strict=True)
    return _native.tree_model(
        bytes(booster.save_raw("ubj")), "xgboost", type(f).__name__, choice.margin, classifier, class_names(f)
    )


def _stopped_early(f: Any) -> bool:
    try:
        return f.best_iteration is not None
    except AttributeError:
        return False


def _lightgbm(f: Any, table: Optional[Table], choice: Choice) -> Optional[_native.Model]:
    classifier = hasattr(f, "predict_proba")
    booster = f.booster_ if hasattr(type(f), "booster_") else f
    text = booster.model_to_string()
    if "\nis_linear=1" in text:
        return None
    _fit_lightgbm(booster, table)
    return _native.tree_model(
        text.encode(), "lightgbm", type(f).__name__, choice.margin, classifier, class_names(f)
    )


def _fit_lightgbm(booster: Any, table: Optional[Table]) -> None:
    """Gives the table's categories the numbers that they had in training, and refuses other names."""
    if table is not None and table.categories:
        columns, known = sorted(table.categories), booster.pandas_categorical or []
        if len(columns) != len(known):
            raise InputError(
                f"the data has {len(columns)} columns of categories; the model was trained with {len(known)}"
            )
        _recode(table, dict(zip(columns, known)), strict=False)
    _check_names(booster.feature_name(), table)


def _growing(f: GrowingBooster, table: Optional[Table]) -> Optional[_native.Model]:
    if f.library == "lightgbm":
        _fit_lightgbm(f.booster, table)
        return f.model
    _check_names(f.booster.feature_names, table)
    if table is not None and table.categories:
        if f.categories is None:
            f.categories = _xgboost_categories(f.booster, table.categories)
        _recode(table, f.categories, strict=True)
    return f.model


def _recode(table: Table, trained: Mapping[int, Sequence[Any]], strict: bool) -> None:
    """Categories get the numbers that they had in training; one that was not there is missing, or refused."""
    import pandas as pd

    for column, values in trained.items():
        name, known = table.names[column], table.categories[column]
        if column in table.coded and list(known.values) != list(values):
            raise InputError(f"column {name!r}: the models were trained with different categories; measure them one by one")
        place = {value: number for number, value in enumerate(values)}
        codes = np.array([place.get(value, np.nan) for value in known.values] + [np.nan])
        old = table.values[:, column]
        new = codes[np.where(np.isnan(old), len(codes) - 1, old).astype(int)]
        if strict and (np.isnan(new) & ~np.isnan(old)).any():
            unknown = next(v for v in known.values if v not in place)
            raise InputError(f"column {name!r} has the category {unknown!r}, which the model was not trained with")
        table.values[:, column] = new
        table.categories[column] = Category(pd.Index(values), pd.CategoricalDtype(list(values)))
        table.coded.add(column)


def _xgboost_categories(booster: Any, columns: Iterable[int]) -> dict[int, Sequence[Any]]:
    """The categories of training, which XGBoost keeps since version 3.1; before, the data's own numbers are meant."""
    model = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"].get("model", {})
    stored = model.get("cats", {}).get("enc", [])
    found: dict[int, Sequence[Any]] = {}
    for column in columns:
        values = stored[column]["values"] if column < len(stored) else []
        if not values:
            continue
        if "offsets" in stored[column]:
            ends, text = stored[column]["offsets"], bytes(v % 256 for v in values)
            values = [text[a:b].decode() for a, b in zip(ends, ends[1:])]
        found[column] = values
    return found


def _check_names(trained: Optional[Sequence[str]], table: Optional[Table]) -> None:
    """Data whose names are others than in training is refused, as the libraries do."""
    if not trained or table is None or not table.names or all(n.startswith("Column_") for n in trained):
        return
    if [n.replace(" ", "_") for n in trained] != [n.replace(" ", "_") for n in table.names]:
        raise InputError(f"the data's columns are {short(table.names)}; the model was trained with {short(trained)}")
