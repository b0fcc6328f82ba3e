"""Measures how far a model is from harmonic around each row of your data: no labels, any model.

>>> import harmonia
>>> result = harmonia.gamma(lambda X: (X ** 2).sum(axis=1), [[1.0, 2.0], [3.0, 4.0]], radius=0.1)
>>> result.summary.rows
2
"""

from . import text
from ._alignment import AlignmentResult, alignment
from ._attack import AttackResult, attack
from ._boundary import BoundaryResult, boundary
from ._compare import CompareResult, Pair, SweepResult, compare, sweep
from ._errors import Error, HarmoniaWarning, InputError, ModelError, UsageError
from ._map import GammaMap, MapAnswer, MapResult, map
from ._measure import gamma
from ._models import ModelAddress
from ._native import __version__
from ._persistence import PersistenceResult, persistence
from ._result import GammaResult, GammaStatistics, GammaSummary
from ._stability import StabilityResult, stability

__all__ = [
    "AlignmentResult",
    "AttackResult",
    "BoundaryResult",
    "CompareResult",
    "Error",
    "GammaMap",
    "GammaResult",
    "GammaStatistics",
    "GammaSummary",
    "HarmoniaWarning",
    "InputError",
    "MapAnswer",
    "MapResult",
    "ModelAddress",
    "ModelError",
    "Pair",
    "PersistenceResult",
    "StabilityResult",
    "SweepResult",
    "UsageError",
    "__version__",
    "alignment",
    "attack",
    "boundary",
    "compare",
    "gamma",
    "map",
    "persistence",
    "stability",
    "sweep",
    "text",
]
