"""A model as a program: reads rows as lines of numbers, answers each with a probability.

    harmonia gamma "cmd:python3 examples/score.py" examples/rows.csv --id customer --scale std --radius 0.5
"""

import math
import sys


def score(age: float, income: float, debt: float) -> float:
    """A logistic score that turns steep where the debt comes near the income."""
    return 1 / (1 + math.exp(-(6 * (debt / income - 0.8) - 0.03 * (age - 40))))


def main() -> None:
    for line in sys.stdin:
        age, income, debt = map(float, line.split(","))
        print(score(age, income, debt), flush=True)


if __name__ == "__main__":
    main()
