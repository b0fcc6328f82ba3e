"""Golden values of gamma, through the command line: what the analytic functions must read, and why."""

import json
import math

import pytest


@pytest.fixture
def gamma(harmonia, tmp_path):
    """Runs `harmonia gamma` and returns its JSON result."""

    def run(*arguments: str) -> dict:
        path = tmp_path / "result.json"
        done = harmonia("gamma", *arguments, "--json", str(path))
        assert done.returncode == 0, done.stderr
        return json.loads(path.read_text())

    return run


def series_0f1(b: float, z: float) -> float:
    """The hypergeometric function 0F1, by its series."""
    term = total = 1.0
    for k in range(1, 200):
        term *= z / ((b + k - 1) * k)
        total += term
    return total


@pytest.mark.parametrize("ball", ["simplex", "simplex+anti", "cross"])
@pytest.mark.parametrize("n", [2, 10, 50, 1000])
def test_f1_is_harmonic_for_an_even_number_of_variables(gamma, n, ball):
    result = gamma(f"fn:f1?n={n}", "uniform:50", "--radius", "1", "--ball", ball)
    assert max(row["gamma"] for row in result["rows"]) <= 1e-14


@pytest.mark.parametrize("ball", ["simplex", "simplex+anti", "cross"])
@pytest.mark.parametrize("n", [1, 3, 11, 999])
def test_f1_reads_one_over_n_for_an_odd_number(gamma, n, ball):
    result = gamma(f"fn:f1?n={n}", "uniform:50", "--radius", "1", "--ball", ball)
    assert all(abs(row["gamma"] - 1 / n) <= 1e-13 for row in result["rows"])


@pytest.mark.parametrize("ball", ["simplex", "simplex+anti", "cross", "rotated:1"])
@pytest.mark.parametrize("n", [2, 10, 50, 1000])
def test_f2_reads_one(gamma, n, ball):
    result = gamma(f"fn:f2?n={n}", "uniform:20", "--radius", "1", "--ball", ball)
    assert all(abs(row["gamma"] - 1) <= 1e-12 for row in result["rows"])


@pytest.mark.parametrize("n", [2, 10, 50, 1000])
def test_f2_over_the_solid_ball(gamma, n):
    result = gamma(f"fn:f2?n={n}", "uniform:20", "--radius", "1", "--average", "solid")
    assert all(abs(row["gamma"] - n / (n + 2)) <= 1e-12 for row in result["rows"])


@pytest.mark.parametrize("n, expected", [(2, 0.769), (10, 0.307), (20, 0.212), (50, 0.132)])
def test_f1_on_random_vectors(gamma, n, expected):
    result = gamma(f"fn:f1?n={n}", "uniform:40000", "--radius", "1", "--ball", f"random:{n}")
    assert result["summary"]["gamma"]["mean"] == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("n", [2, 4, 10])
def test_f3_on_the_cross(gamma, n):
    result = gamma(f"fn:f3?n={n}", "uniform:50", "--radius", "1", "--ball", "cross")
    for row in result["rows"]:
        assert row["gamma"] == pytest.approx(0.0416914703 * abs(row["value"]), rel=1e-8)


F4 = {
    2: {"simplex": 0.43311557, "anti": 0.69979592, "simplex+anti": 0.56645574, "cross": 0.54308063},
    10: {"simplex": 0.25106875, "anti": 1.8102979, "simplex+anti": 1.0306833, "cross": 0.54308063},
    50: {"simplex": 0.12934009, "anti": 22.9374663, "simplex+anti": 11.5334032, "cross": 0.54308063},
}


@pytest.mark.parametrize("n, ball, expected", [(n, b, v) for n, row in F4.items() for b, v in row.items()])
def test_f4(gamma, n, ball, expected):
    result = gamma(f"fn:f4?n={n}", "uniform:50", "--radius", "1", "--ball", ball)
    for row in result["rows"]:
        assert row["gamma"] / row["value"] == pytest.approx(expected, rel=1e-7)


def test_f4_on_the_simplex_has_a_closed_form(gamma):
    for n in (3, 7, 100):
        result = gamma(f"fn:f4?n={n}", "uniform:5", "--radius", "1", "--ball", "simplex")
        expected = (n * math.exp(1 / math.sqrt(n)) + math.exp(-math.sqrt(n))) / (n + 1) - 1
        for row in result["rows"]:
            assert row["gamma"] / row["value"] == pytest.approx(expected, rel=1e-10)


F3 = {
    2: {"simplex": -0.1004217782, "anti": 0.0953370860, "simplex+anti": -0.0025423461},
    10: {"simplex": -0.2049068805, "anti": 1.9813336842, "simplex+anti": 0.8882134019},
}


@pytest.mark.parametrize("n, ball, expected", [(n, b, v) for n, row in F3.items() for b, v in row.items()])
def test_f3_at_one_half(gamma, n, ball, expected):
    grid = "grid:" + ",".join(["0.5..0.5x1"] * n)
    result = gamma(f"fn:f3?n={n}", grid, "--radius", "1", "--ball", ball)
    (row,) = result["rows"]
    assert row["delta"] / row["value"] == pytest.approx(expected, abs=5e-11)


@pytest.mark.parametrize(
    "ball, expected, seeds",
    [("rotated:1", 0.038, 150), ("rotated-simplex:1", 0.0935, 150), ("random-pairs:51", 0.157, 150), ("random:51", 0.287, 150), ("random:102", 0.203, 150)],
)
def test_error_of_f4_against_the_true_sphere(gamma, ball, expected, seeds):
    """The RMS error at n = 50; its own relative standard error over 150 draws is about 10 %."""
    n = 50
    truth = series_0f1(n / 2, n / 4) - 1
    grid = "grid:" + ",".join(["0..0x1"] * n)
    if ball.startswith("rotated"):  # the same rotation for every row: one run a seed
        values = [gamma(f"fn:f4?n={n}", grid, "--radius", "1", "--ball", ball, "--seed", str(s))["rows"] for s in range(seeds)]
        errors = [row["gamma"] - truth for (row,) in values]
    else:
        grid = f"grid:0..0x{seeds * 20}," + ",".join(["0..0x1"] * (n - 1))
        errors = [row["gamma"] - truth for row in gamma(f"fn:f4?n={n}", grid, "--radius", "1", "--ball", ball)["rows"]]
    rmse = math.sqrt(sum(e * e for e in errors) / len(errors))
    assert rmse == pytest.approx(expected, rel=0.2 if ball.startswith("rotated") else 0.06)


@pytest.mark.parametrize("n, surface, solid", [(2, 0.56608293, 0.27172346), (10, 0.61759241, 0.49938812), (50, 0.64100222, 0.61056317)])
def test_true_sphere_and_ball_lie_in_the_interval(gamma, n, surface, solid):
    grid = "grid:" + ",".join(["0..0x1"] * n)
    for average, truth in (("surface", surface), ("solid", solid)):
        result = gamma(
            f"fn:f4?n={n}", grid, "--radius", "1", "--ball", "random-pairs:20000", "--average", average, "--confidence", "0.9999"
        )
        (row,) = result["rows"]
        assert row["low"] <= truth <= row["high"]
        assert row["outcome"] == "sampled"


@pytest.mark.parametrize("n, expected", [(2, 1.273), (10, 3.090), (50, 7.038)])
def test_mean_length_of_the_sum_of_random_vectors(gamma, n, expected):
    """The model is the identity (cat): the length of the average displacement is that of the vectors' sum over n."""
    zeros = f"grid:0..0x2000," + ",".join(["0..0x1"] * (n - 1))
    result = gamma("cmd:cat", zeros, "--radius", "1", "--ball", f"random:{n}", "--output", "norm")
    # The length spreads by about half its mean: five standard errors over 2,000 rows.
    assert n * result["summary"]["gamma"]["mean"] == pytest.approx(expected, rel=5 * 0.55 / 2000**0.5)
