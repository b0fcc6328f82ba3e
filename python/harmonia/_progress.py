"""How far a run is, shown by tqdm where it is installed."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional, Union

from ._errors import HarmoniaWarning

#: Called with rows done, rows in all (None: not known) and evaluations.
Progress = Callable[[int, Optional[int], int], None]

#: A bar appears only for runs that take longer than this.
DELAY_SECONDS = 1.0


def _watched() -> bool:
    """Whether somebody looks at standard error: a terminal, or a notebook."""
    return sys.stderr.isatty() or type(sys.modules.get("ipykernel")).__name__ == "module"


@contextmanager
def shown(
    progress: Union[bool, None, Progress], title: str, unit: str = "rows", spent: str = "evaluations"
) -> Iterator[Optional[Progress]]:
    """The function to tell; None if nobody wants to know. unit: what is counted; spent: what it takes."""
    if callable(progress):
        yield progress
        return
    if progress is False or (progress is None and not _watched()):
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if progress:
            warnings.warn("progress is shown by tqdm, which is not installed", HarmoniaWarning, stacklevel=4)
        yield None
        return
    bar: Any = tqdm(desc=title, unit=f" {unit}", delay=0 if progress else DELAY_SECONDS, leave=False)

    def tell(done: int, rows: Optional[int], evaluations: int) -> None:
        bar.total = rows
        bar.set_postfix({spent: evaluations}, refresh=False)
        bar.update(done - bar.n)

    try:
        yield tell
    finally:
        bar.close()
