"""What can be done with a result; comparisons and sweeps."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest

import harmonia as hm

X = np.random.default_rng(0).normal(size=(40, 3))


def bowl(x):
    return (x**2).sum(axis=1)


def steep(x):
    return 3 * (x**2).sum(axis=1)


def test_frame():
    frame = hm.gamma(bowl, pd.DataFrame(X, index=[f"r{i}" for i in range(40)]), radius=0.1).to_frame()
    assert list(frame.index[:2]) == ["r0", "r1"]
    assert {"gamma", "low", "high", "outcome", "points"} <= set(frame.columns)
    both = hm.gamma(lambda x: np.stack([bowl(x), steep(x)], axis=1), X, radius=0.1, output="all").to_frame()
    assert list(both["column"][:2].astype(int)) == [0, 1] and len(both) == 80


def test_save_leaves_no_half_file(tmp_path, monkeypatch):
    result = hm.gamma(bowl, X, radius=0.1)
    result.save(tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text()) == result.to_dict()
    with pytest.raises(OSError):
        result.save(tmp_path / "no" / "folder.json")
    assert [p.name for p in tmp_path.iterdir()] == ["result.json"]


def test_the_page_is_the_programs(harmonia, tmp_path):
    result = hm.gamma(bowl, X, radius=0.1)
    result.save(tmp_path / "result.json")
    page = result.to_html(tmp_path / "ours.html")
    assert (tmp_path / "ours.html").read_text(encoding="utf-8") == page
    done = harmonia("report", "result.json", "-o", "theirs.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "theirs.html").stat().st_size == pytest.approx(len(page.encode()), rel=0.01)
    for other in (hm.compare([bowl, steep], X, 0.1), hm.sweep(bowl, X, [0.1, 0.2])):
        assert other.to_html().startswith(page[:15])


def test_texts():
    result = hm.gamma(bowl, X, radius=0.1)
    assert repr(result).startswith("GammaResult(40 rows, mean gamma 0.01 [0.01, 0.01], radius 0.1")
    page = result._repr_html_()
    assert "mean gamma" in page and "&lt;" not in hm.gamma(bowl, X, radius=0.1)._repr_html_()
    assert "&lt;lambda&gt;" in hm.gamma(lambda x: bowl(x), X, radius=0.1)._repr_html_()


@pytest.mark.parametrize("copy_of", [copy.copy, copy.deepcopy, lambda result: pickle.loads(pickle.dumps(result))])
def test_results_are_copied_and_pickled(copy_of):
    frame = pd.DataFrame(X, columns=list("abc"), index=[f"r{i}" for i in range(40)])
    result = hm.gamma(lambda x: bowl(x.to_numpy()), frame, radius=0.1, as_frame=True, ball="cross", explain=1)
    for again in (copy_of(result), copy_of(copy_of(result))):
        pd.testing.assert_frame_equal(again.to_frame(), result.to_frame())
        np.testing.assert_array_equal(again.X, result.X)
        assert again.summary == result.summary and again.to_json() == result.to_json()
        assert (repr(again), again._repr_html_()) == (repr(result), result._repr_html_())
        assert (again.feature_names, again.radius, again.model) == (["a", "b", "c"], 0.1, result.model)
        assert len(again.to_html()) == len(result.to_html())
    compared = hm.compare({"bowl": bowl, "steep": steep}, X, 0.1)
    again = copy_of(compared)
    assert (again.pairs, again.ranking, again.to_json(), str(again)) == (
        compared.pairs, compared.ranking, compared.to_json(), str(compared))
    np.testing.assert_array_equal(again.gamma, compared.gamma)
    swept = hm.sweep(bowl, X, [0.1, 0.2])
    again = copy_of(swept)
    assert (again.to_json(), str(again), repr(again)) == (swept.to_json(), str(swept), repr(swept))
    pd.testing.assert_frame_equal(again.to_frame(), swept.to_frame())


def test_outcomes_of_comparisons_and_sweeps():
    compared = hm.compare(["fn:f2", "fn:f4"], X, 0.1, max_evaluations=360)
    assert compared.outcomes == {name: {"exact": 20, "budget": 20} for name in compared.models}
    assert hm.sweep("fn:f4", X, [0.1, 0.2], max_evaluations=360).outcomes == [{"exact": 20, "budget": 20}] * 2


def test_plots(tmp_path):
    axis = hm.gamma(bowl, X, radius=0.1).plot()
    assert sum(bar.get_height() for bar in axis.patches if bar.get_height() >= 1) >= 40
    classes = hm.gamma(lambda x: (x[:, 0] > x[:, 1]).astype(int), "grid:0..1x20,0..1x30", radius=0.1, output="label")
    left, right = classes.plot()
    assert "regions" in left.get_title() and "gamma" in right.get_title()
    shown = right.collections[0].get_array()
    assert shown.shape == (30, 20)
    assert np.array_equal(np.asarray(shown).T.ravel(), classes.gamma)
    scattered = hm.gamma(bowl, X[:, :2], radius=0.1).plot("map")
    assert len(scattered[1].collections[0].get_offsets()) == 40
    scattered[0].figure.savefig(tmp_path / "map.png")
    with pytest.raises(hm.UsageError, match="2 features"):
        hm.gamma(bowl, X, radius=0.1).plot("map")


def test_compare_agrees_with_the_program(harmonia, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    harmonia("compare", "fn:f2", "fn:f4", "rows.npy", "--radius", 0.2, "--json", "out.json", cwd=tmp_path)
    theirs = json.loads((tmp_path / "out.json").read_text())
    ours = hm.compare(["fn:f2", "fn:f4"], X, 0.2)
    told = json.loads(ours.to_json())
    for part in ("rows", "models", "summary"):
        assert told[part] == theirs[part]
    assert ours.gamma.shape == (2, 40)
    np.testing.assert_array_equal(ours.gamma[0], hm.gamma("fn:f2", X, 0.2).gamma)


def test_compare_of_functions_by_name():
    result = hm.compare({"flat": bowl, "steep": steep, "again": steep}, X, 0.2, seed=3)
    assert result.ranking == [["flat"], ["steep", "again"]]
    assert result.mean["steep"] == pytest.approx(0.12)
    assert [pair.verdict for pair in result.pairs] == ["a_lower", "a_lower", "indistinguishable"]
    assert hm.compare([bowl, bowl], X, 0.2).models == ["bowl 1", "bowl 2"]
    with pytest.raises(hm.UsageError, match="no option radios"):
        hm.compare([bowl, steep], X, radios=1)


def test_sweep_agrees_with_the_program(harmonia, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    harmonia("sweep", "fn:f4", "rows.npy", "--radii", "0.1..0.4x4", "--json", "out.json", cwd=tmp_path)
    theirs = json.loads((tmp_path / "out.json").read_text())
    for radii in ("0.1..0.4x4", [row["radius"] for row in theirs["rows"]]):
        ours = hm.sweep("fn:f4", X, radii)
        assert json.loads(ours.to_json())["rows"] == theirs["rows"]
    np.testing.assert_allclose(hm.sweep(bowl, X, [0.1, 0.3]).mean, [0.01, 0.09])
