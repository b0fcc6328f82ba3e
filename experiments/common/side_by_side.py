"""Several pieces of a study at a time. Needs nothing but Python."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def side_by_side(jobs: int, pieces: Sequence[Callable[[], T]]) -> list[T]:
    """What the pieces give, in their order, so many of them at a time. Each runs programs of its own, so that threads are enough. Where one
    fails, those that have not begun are left out."""
    with ThreadPoolExecutor(jobs) as pool:
        try:
            return [future.result() for future in [pool.submit(piece) for piece in pieces]]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
