"""Boosters in training, of which only trees that are new are read."""

from __future__ import annotations

import weakref
from typing import Any, Optional, Sequence

from . import _native


class GrowingBooster:
    """A booster in training, as harmonia.gamma takes it: the library's own evaluator, which the new trees are added to.

    The evaluator keeps what it knows of the rows that it was measured at, so that a measurement costs what the new trees
    cost; the numbers are those of the booster measured anew, to the bit. The last round that is known is read again with
    the new ones: if it is not what it was, all is read anew. A copy of it begins anew.
    """

    def __init__(self, library: str, margin: bool) -> None:
        self.library = library
        self._margin = margin
        self.forget()

    def __reduce__(self) -> Any:
        return GrowingBooster, (self.library, self._margin)

    def forget(self) -> None:
        """Lets go of everything, for another training."""
        self._booster: Optional[weakref.ref[Any]] = None
        self.model: Optional[_native.GrowingModel] = None
        self.categories: Optional[dict[int, Sequence[Any]]] = None  # of XGBoost, by column: slices do not have them
        self._rounds = 0

    @property
    def booster(self) -> Any:
        """The one that is read; None if there is none any more."""
        return None if self._booster is None else self._booster()

    def ended(self) -> bool:
        """Whether the training is known to be over; LightGBM lets go of the training rows then, or says which round was best."""
        booster = self.booster
        if booster is None or self.library != "lightgbm":
            return booster is None
        return booster.best_iteration > 0 or getattr(booster, "train_set", None) is None

    def look(self, booster: Any) -> Any:
        """What to measure for the booster as it is now: this, or the booster itself if it cannot be read in parts."""
        if self.library == "lightgbm" and booster.best_iteration > 0:  # then it has no trees but those up to that one
            return booster
        if booster is not self.booster:
            self.forget()
        self._booster = weakref.ref(booster, _forgets(weakref.ref(self)))
        try:
            read = self._read_on() or self._read_anew()
        except Exception:  # whatever a library refuses to give in parts: as a whole it is measured, or says what is wrong
            read = False
        if not read:
            self.forget()
        return self if read else booster

    def _read_on(self) -> bool:
        """Adds what is new; false if what is known is not the beginning of the booster."""
        if self.model is None:
            return False
        rounds, known = self._count(), min(self._rounds, 1)
        if rounds < self._rounds:
            return False
        part = self._part(self._rounds - known, rounds)
        if part is None or not self.model.add(part, known * self.model.trees // max(self._rounds, 1)):
            return False
        self._rounds = rounds
        return True

    def _read_anew(self) -> bool:
        rounds = self._count()
        part = self._part(0, rounds)
        if part is None:
            return False
        self.model = _native.growing_model(part, self.library, type(self.booster).__name__, self._margin)
        self._rounds = rounds
        return True

    def _count(self) -> int:
        return int(self.booster.num_boosted_rounds() if self.library == "xgboost" else self.booster.current_iteration())

    def _part(self, first: int, last: int) -> Optional[bytes]:
        """The trees of these rounds as the library saves them; None if old trees may change, or rounds are averaged."""
        if self.library == "xgboost":
            file = bytes(self.booster[first:last].save_raw("ubj"))
            return None if b"weight_drop" in file else file  # dart's; a linear model has no slices
        text = self.booster.model_to_string(num_iteration=last - first, start_iteration=first)
        if "\n[boosting: gbdt]\n" not in text or "\nis_linear=1" in text:
            return None
        return bytes(text, "utf-8")


def _forgets(growing: "weakref.ref[GrowingBooster]") -> Any:
    """What lets go of everything when the booster is gone, and keeps nothing alive itself."""

    def forget(_: Any) -> None:
        found = growing()
        if found is not None:
            found.forget()

    return forget
