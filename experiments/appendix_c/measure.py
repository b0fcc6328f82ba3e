"""Measures what appendix C of the paper measures, with the project's own program. Needs nothing but Python."""

import csv
import io
import math
import statistics
import subprocess
import tempfile
from dataclasses import astuple, dataclass, fields
from pathlib import Path

SEED = 1
FUNCTIONS = ("f1", "f2", "f3", "f4")
MANY = 25  # rotations in one ball, where the average over rotations is looked for
FIXED_BALLS = ("simplex", "anti", "simplex+anti", "cross")


@dataclass(frozen=True)
class Size:
    """How much is measured. Every gamma is of `rows` points; rotated balls share them out among `rotations` seeds."""

    dimensions: tuple[int, ...]
    repeats: int
    rotations: int
    rows: int = 1000


FULL = Size(dimensions=(2, 3, 4, 5, 10, 11, 20, 21, 50, 51, 99, 100), repeats=1000, rotations=20)
QUICK = Size(dimensions=(2, 3, 10, 50), repeats=300, rotations=10)


@dataclass(frozen=True)
class Record:
    """One number, with its 95 % interval; low = high = value where it is no estimate."""

    quantity: str
    ball: str
    n: int
    points: int
    value: float
    low: float
    high: float
    deviation: float
    count: int


class Records:
    """The numbers by quantity, ball and n."""

    def __init__(self) -> None:
        self.all: dict[tuple[str, str, int], Record] = {}

    def add(self, record: Record) -> None:
        self.all[record.quantity, record.ball, record.n] = record

    def get(self, quantity: str, ball: str, n: int) -> Record:
        return self.all[quantity, ball, n]

    def of(self, quantity: str, ball: str) -> list[Record]:
        """In ascending n."""
        found = [r for r in self.all.values() if (r.quantity, r.ball) == (quantity, ball)]
        return sorted(found, key=lambda r: r.n)

    def write(self, path: Path) -> None:
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(field.name for field in fields(Record))
            writer.writerows(astuple(record) for record in self.all.values())


def student_t(freedom: int) -> float:
    """The 97.5 % point, by Cornish and Fisher's series: right to 0.001 from 9 degrees of freedom on."""
    z = statistics.NormalDist().inv_cdf(0.975)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def mean_record(quantity: str, ball: str, n: int, points: int, values: list[float]) -> Record:
    """The mean with Student's interval."""
    mean, deviation = statistics.fmean(values), statistics.stdev(values)
    half = student_t(len(values) - 1) * deviation / math.sqrt(len(values))
    return Record(quantity, ball, n, points, mean, mean - half, mean + half, deviation, len(values))


def median_record(quantity: str, ball: str, n: int, points: int, values: list[float]) -> Record:
    """The median with the interval of two order statistics, which assumes nothing about the distribution."""
    ordered = sorted(values)
    reach = statistics.NormalDist().inv_cdf(0.975) * math.sqrt(len(values)) / 2
    low = max(0, math.floor(len(values) / 2 - reach))
    high = min(len(values) - 1, math.ceil(len(values) / 2 + reach))
    deviation = statistics.stdev(values)
    return Record(
        quantity, ball, n, points, statistics.median(values), ordered[low], ordered[high], deviation, len(values)
    )


def sphere_average(n: int, eigenvalue: float) -> float:
    """The average over the unit sphere of a function with laplacian = eigenvalue · f, over its value at the centre: 0F1(n/2; eigenvalue/4)."""
    term = total = 1.0
    k = 0
    while abs(term) > 1e-17 * abs(total):
        term *= eigenvalue / 4 / ((n / 2 + k) * (k + 1))
        total += term
        k += 1
    return total


def sphere_gamma(function: str, n: int) -> float:
    """gamma on the exact sphere of radius 1; of f3 and f4 relative to the value."""
    match function:
        case "f1":
            return n % 2 / n
        case "f2":
            return 1.0
        case "f3":
            return abs(sphere_average(n, -(n % 2)) - 1)
    return sphere_average(n, n) - 1


def f4_closed_form(ball: str, n: int) -> float:
    """gamma of f4 over its value."""
    root = math.sqrt(n)
    simplex = (n * math.exp(1 / root) + math.exp(-root)) / (n + 1) - 1
    anti = (n * math.exp(-1 / root) + math.exp(root)) / (n + 1) - 1
    return {"simplex": simplex, "anti": anti, "simplex+anti": (simplex + anti) / 2, "cross": math.cosh(1) - 1}[ball]


def f3_on_cross(n: int) -> float:
    """gamma of f3 on the cross-polytope over its value: every sine is an eigenfunction, and every exponential."""
    sines = (n + 1) // 2
    return abs((sines * math.cos(1) + (n - sines) * math.cosh(1)) / n - 1)


class Laboratory:
    """Runs the two programs and keeps what they say."""

    def __init__(self, build: Path, size: Size) -> None:
        self.program = build / "harmonia"
        self.coverage_program = build / "experiments" / "appendix_c"
        self.size = size
        self.records = Records()

    def measure(self) -> Records:
        self.coverage()
        for n in self.size.dimensions:
            for function in FUNCTIONS:
                self.records.add(self.exact(function, n))
                for ball in FIXED_BALLS:
                    self.gamma(function, n, ball)
                self.gamma(function, n, f"random:{n}")
                self.rotated(function, n, 1)
            self.rotated("f4", n, MANY)
        return self.records

    def coverage(self) -> None:
        size = self.size
        answer = self.call(self.coverage_program, size.repeats, size.rows, SEED, *size.dimensions)
        for row in csv.DictReader(io.StringIO(answer)):
            self.records.add(
                Record(
                    row["quantity"],
                    row["ball"],
                    int(row["n"]),
                    int(row["points"]),
                    *(float(row[name]) for name in ("value", "low", "high", "deviation")),
                    int(row["count"]),
                )
            )

    def gamma(self, function: str, n: int, ball: str) -> None:
        name = "random" if ball.startswith("random") else ball
        points, values, gammas = self.rows(function, n, ball, self.size.rows, SEED)
        self.records.add(mean_record(f"gamma_{function}", name, n, points, gammas))
        self.extremes(function, n, name, points, gammas)
        if function in ("f3", "f4"):
            # The mean of gamma / |f3| does not exist: 1 / sin x is not integrable at 0. The median does.
            relative = [gamma / abs(value) for gamma, value in zip(gammas, values)]
            self.records.add(median_record(f"relative_{function}", name, n, points, relative))
            errors = [abs(r - sphere_gamma(function, n)) for r in relative]
            self.records.add(median_record(f"error_{function}", name, n, points, errors))
            self.records.add(mean_record(f"size_{function}", name, n, points, [abs(value) for value in values]))

    def rotated(self, function: str, n: int, rotations: int) -> None:
        """Rows of one run share their rotations, so the runs are what varies."""
        name = "rotated" if rotations == 1 else f"rotated:{rotations}"
        rows = self.size.rows // self.size.rotations if rotations == 1 else 2  # γ/f4 is the same at every row
        means, relatives, errors, everything = [], [], [], []
        points = 0
        for seed in range(1, self.size.rotations + 1):
            points, values, gammas = self.rows(function, n, f"rotated:{rotations}", rows, seed)
            everything += gammas
            means.append(statistics.fmean(gammas))
            relatives.append(statistics.median(g / abs(v) for g, v in zip(gammas, values)))
            errors.append(statistics.median(abs(g / abs(v) - sphere_gamma(function, n)) for g, v in zip(gammas, values)))
        self.records.add(mean_record(f"gamma_{function}", name, n, points, means))
        self.extremes(function, n, name, points, everything)
        if function in ("f3", "f4"):
            self.records.add(mean_record(f"relative_{function}", name, n, points, relatives))
            self.records.add(mean_record(f"error_{function}", name, n, points, errors))

    def extremes(self, function: str, n: int, ball: str, points: int, gammas: list[float]) -> None:
        """Of f1 and f2, whose gamma is the same at every point: the farthest from it."""
        if function in ("f1", "f2"):
            farthest = max(abs(gamma - sphere_gamma(function, n)) for gamma in gammas)
            self.records.add(
                Record(f"farthest_{function}", ball, n, points, farthest, farthest, farthest, 0.0, len(gammas))
            )

    @staticmethod
    def exact(function: str, n: int) -> Record:
        value = sphere_gamma(function, n)
        quantity = ("gamma_" if function in ("f1", "f2") else "relative_") + function
        return Record(quantity, "sphere", n, 0, value, value, value, 0.0, 0)

    def rows(self, function: str, n: int, ball: str, rows: int, seed: int) -> tuple[int, list[float], list[float]]:
        """The ball's points, and value and gamma of every row."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.csv"
            self.call(
                self.program, "gamma", f"fn:{function}?n={n}", f"uniform:{rows}",
                "--radius", 1, "--ball", ball, "--seed", seed, "--quiet", "--csv", file,
            )  # fmt: skip
            with file.open(newline="") as lines:
                table = list(csv.DictReader(lines))
        assert len(table) == rows, f"{len(table)} rows came back, {rows} were asked for"
        return int(table[0]["points"]), [float(r["value"]) for r in table], [float(r["gamma"]) for r in table]

    @staticmethod
    def call(program: Path, *arguments: object) -> str:
        command = [str(program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()}")
        return done.stdout
