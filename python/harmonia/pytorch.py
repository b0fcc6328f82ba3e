"""gamma per epoch of a training loop of PyTorch."""

from __future__ import annotations

from typing import Any, Optional, Union

import torch as _torch

from ._errors import UsageError
from ._modules import is_module
from ._training import Watch, Watched

__all__ = ["GammaCallback"]


class GammaCallback(Watched):
    """Measures gamma of the module at the rows X every `period` epochs, beside the losses.

    Call it once an epoch with the losses that the loop has; true is for stopping. Epochs count up, and one that is not above
    the last begins a training anew. The mean with its interval
    and the losses are in `history`: lists "round", "gamma", "low", "high", "loss" (of the training rows) and
    "validation_loss", NaN where none was given. The module's parameters, modes and gradients and PyTorch's random
    numbers stay as they are, so that a training goes the same way with and without it.

    With stop=True the call is true when gamma climbs while the training loss falls, by the rule of
    harmonia.xgboost.GammaCallback: gamma counts in units of the output's spread over the rows X. The measurement of the
    lowest mean so far is the reference. A later one climbs if the training loss is lower than at the reference and gamma
    is higher on the same rows: the mean difference's interval lies above `rise` times the reference. `patience` climbing
    measurements in a row stop; `stopped` is then the epoch. The rule sees how the answers
    bend, not how well they predict, and a network that starts nearly linear bends as it learns anything: look at `history` of a
    training with stop=False first, and begin to call it at the epoch from which on gamma should not climb.

    >>> import numpy as np, torch
    >>> from harmonia.pytorch import GammaCallback
    >>> X = torch.from_numpy(np.random.default_rng(0).normal(size=(300, 3))).float(); y = (X[:, 0] + X[:, 1] > 0).long()
    >>> net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    >>> optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    >>> watch = GammaCallback(net, X, radius=0.1, period=2)
    >>> for epoch in range(5):
    ...     optimizer.zero_grad()
    ...     loss = torch.nn.functional.cross_entropy(net(X), y)
    ...     loss.backward()
    ...     optimizer.step()
    ...     if watch(epoch, loss):
    ...         break
    >>> watch.history["round"]
    [0, 2, 4]

    The rows are an array or tensor (one of images as the module takes them), a data frame or a file; options are those of
    harmonia.gamma.
    """

    def __init__(
        self,
        module: _torch.nn.Module,
        X: Any,
        radius: Union[float, str] = 0.05,
        *,
        period: int = 1,
        stop: bool = False,
        patience: int = 3,
        rise: float = 0.05,
        **options: Any,
    ) -> None:
        if not is_module(module):
            raise UsageError(f"the model is {type(module).__name__}; expected a torch.nn.Module")
        self._module = module
        self._watch = Watch(X, radius, period, stop, patience, rise, options)
        self._last: Optional[int] = None
        self._begin()

    def _begin(self) -> None:
        self._watch.reset()
        self._watch.history["validation_loss"] = []

    def __call__(self, epoch: int, training_loss: Any = None, validation_loss: Any = None) -> bool:
        """After every epoch; losses are numbers or tensors of one. True: gamma says to stop."""
        if self._last is not None and epoch <= self._last:
            self._begin()
        self._last = epoch
        if not self._watch.due(epoch):
            return self._watch.stopped is not None
        if self._watch.stop and training_loss is None:
            raise UsageError("stop=True needs the training loss: watch(epoch, training_loss)")
        devices = {p.device.index for p in self._module.parameters() if p.device.type == "cuda"}
        with _torch.random.fork_rng(devices=sorted(devices)):
            stop = self._watch.measure(self._module, epoch, _number(training_loss))
        self._watch.history["validation_loss"].append(_number(validation_loss))
        return stop


def _number(loss: Optional[Any]) -> float:
    return float("nan") if loss is None else float(loss.detach() if isinstance(loss, _torch.Tensor) else loss)
