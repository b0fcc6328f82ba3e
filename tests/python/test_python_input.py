"""What the Python package takes for rows and options, and what it refuses."""

import lightgbm
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import harmonia as hm

X = np.random.default_rng(0).normal(size=(60, 3))
FRAME = pd.DataFrame(X, columns=list("abc"))


def bowl(x):
    return (np.asarray(x, dtype=float) ** 2).sum(axis=1)


@pytest.mark.parametrize("values, kind", [
    (pd.date_range("2020-01-01", periods=60), r"datetime64\[ns\]"),
    (pd.date_range("2020-01-01", periods=60, tz="UTC"), r"datetime64\[ns, UTC\]"),
    (pd.Series(pd.date_range("2020-01-01", periods=60), dtype=object), r"datetime64\[ns\]"),
    (pd.to_timedelta(np.arange(60), unit="s"), r"timedelta64\[ns\]"),
    (pd.period_range("2020-01", periods=60, freq="M"), r"period\[M\]"),
    (X[:, 0] + 1j, "complex128"),
])
def test_columns_that_are_no_numbers_are_refused(values, kind):
    with pytest.raises(hm.InputError, match=f"column 'when' has type {kind}; expected numbers"):
        hm.gamma(bowl, FRAME.assign(when=values), 0.1)


@pytest.mark.parametrize("change", [
    lambda frame: frame.astype(object),
    lambda frame: frame.astype("Float64"),
    lambda frame: frame.assign(c=frame.c.astype(pd.SparseDtype("float64"))),
])
def test_numbers_of_other_types_are_moved(change):
    assert (hm.gamma(bowl, change(FRAME), 0.1).gamma == hm.gamma(bowl, FRAME, 0.1).gamma).all()


def test_missing_numbers_in_a_column_of_objects():
    frame = FRAME.astype(object)
    frame.loc[3, "b"] = None
    result = hm.gamma(lambda x: np.nan_to_num(x).sum(axis=1), frame, 0.1, missing=True)
    assert np.isnan(result.X[3, 1]) and np.isfinite(np.delete(result.X, 3, axis=0)).all()


def test_a_warning_if_nothing_may_be_moved():
    frame = pd.DataFrame({"colour": ["red", "white"] * 5})
    with pytest.warns(hm.HarmoniaWarning, match="no row has a value") as caught:
        result = hm.gamma(lambda f: (f.colour == "red").to_numpy(dtype=float), frame, 0.1)
    assert result.summary.outcomes == {"unmoved": 10} and result.summary.warnings == (str(caught[0].message),)


@pytest.mark.parametrize("what", ["columns", "drop"])
@pytest.mark.parametrize("rows", [FRAME, X, "rows.csv"], ids=["frame", "array", "file"])
def test_columns_are_a_list(what, rows):
    with pytest.raises(hm.UsageError, match=f"{what} is 'ab'; expected a list of columns"):
        hm.gamma(bowl, rows, 0.1, **{what: "ab"})
    with pytest.raises(hm.UsageError, match=f"{what} is 'ab'; expected a list of columns"):
        hm.compare([bowl, bowl], rows, 0.1, **{what: "ab"})


@pytest.mark.parametrize("name", ["seed", "explain"])
@pytest.mark.parametrize("value", [-1, 1.5, "1", None, 2**64])
@pytest.mark.parametrize("rows", [X, "uniform:10"], ids=["array", "uniform"])
def test_whole_numbers(name, value, rows):
    with pytest.raises(hm.UsageError, match=f"{name} is .*; expected a whole number"):
        hm.gamma("fn:f2", rows, 0.1, **{name: value})
    assert len(hm.gamma("fn:f2", rows, 0.1, **{name: np.int64(1)})) == len(rows if rows is X else range(10))


def test_an_estimator_that_was_not_fitted():
    with pytest.raises(NotFittedError):
        hm.gamma(lightgbm.LGBMClassifier(), X, 0.1)


def test_linear_trees_are_called():
    model = lightgbm.LGBMRegressor(linear_tree=True, n_estimators=5, min_child_samples=5, n_jobs=1, verbose=-1)
    model.fit(X, bowl(X))
    for f in (model, model.booster_):
        result = hm.gamma(f, X, 0.1)
        np.testing.assert_array_equal(result.value, model.predict(X))
        assert result.to_dict()["model"]["kind"] == "python" and result.summary.mean > 0


def test_the_rows_of_a_result():
    """They are read when they are first asked for, and are a copy from then on."""
    rows = X.copy()
    result = hm.gamma(bowl, rows, 0.1)
    np.testing.assert_array_equal(result.X, X)
    result.X[0] = 7
    np.testing.assert_array_equal(rows, X)
    rows[:] = 0
    assert (result.X[1:] == X[1:]).all()
