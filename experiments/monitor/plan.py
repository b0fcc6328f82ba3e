"""How much is measured, and how streams are made."""

from dataclasses import dataclass

RATE = 0.01  # probability of a false alarm in a stream
RADIUS = 0.1  # in standard deviations of the features
REFERENCE, BEFORE, AFTER = 1000, 1000, 4000  # rows of the baseline, and of a stream before and after its change
WINDOWS = (100, 500)  # rows that the test of the inputs looks at together
GAMMA = "gamma"  # the monitor's own method; the others are inputs-WINDOW


@dataclass(frozen=True)
class Size:
    """Rows of a pool, and streams. The test of the inputs, which is slow, sees as many without a change as of every change."""

    pool: int
    usual_streams: int
    changed_streams: int


FULL = Size(20000, 200, 50)
QUICK = Size(4000, 20, 5)
