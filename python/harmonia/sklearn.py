"""gamma as a score for scikit-learn's searches and cross-validations."""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np

from ._measure import gamma

__all__ = ["gamma_scorer"]


class _GammaScorer:
    """A scorer: called with an estimator and rows. An object, so that it can be sent to other processes."""

    def __init__(self, radius: Union[float, str], max_rows: Optional[int], options: dict[str, Any]) -> None:
        self.radius = radius
        self.max_rows = max_rows
        self.options = options

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        if self.max_rows is not None and len(X) > self.max_rows:
            drawn = np.random.default_rng(self.options.get("seed", 1)).choice(len(X), self.max_rows, replace=False)
            X = X.iloc[np.sort(drawn)] if hasattr(X, "iloc") else np.asarray(X)[np.sort(drawn)]
        return -gamma(estimator, X, self.radius, progress=False, **self.options).summary.mean

    def __repr__(self) -> str:
        return f"gamma_scorer({self.radius!r})"


def gamma_scorer(radius: Union[float, str] = 0.05, *, max_rows: Optional[int] = None, **options: Any) -> Any:
    """A scorer that returns minus the mean gamma: greater is better, and labels are not used.

    max_rows draws so many of the rows, the same in every call. Options are those of harmonia.gamma. Give a fixed
    radius, not "auto": gamma of different models compares only at the same radius.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from harmonia.sklearn import gamma_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scoring = {"accuracy": "accuracy", "gamma": gamma_scorer(0.2)}
    >>> search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [2, 8]}, scoring=scoring,
    ...                       refit="accuracy", cv=3).fit(X, y)
    >>> bool((search.cv_results_["mean_test_gamma"] <= 0).all())
    True
    """
    return _GammaScorer(radius, max_rows, options)
