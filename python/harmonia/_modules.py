"""torch.nn.Module as a model: its answers and, by its own autograd, its gradients. PyTorch is the user's; nothing here imports it."""

from __future__ import annotations

import math
import sys
from contextlib import contextmanager, suppress
from typing import Any, Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ._errors import ModelError

EXAMPLES = 2  # rows that a module is asked first: one would not tell rows from outputs

# Rows of a batch. What an image network has between two layers is many times its input; a GPU wants many rows at once.
_ROWS, _IMAGE_ROWS, _IMAGE_VALUES = 4096, 512, 1 << 17
_DEVICE_ROWS, _DEVICE_VALUES = 8192, 1 << 27


def is_module(f: Any) -> bool:
    """Whether f is a module of the PyTorch that is loaded: without one there is none."""
    nn = getattr(sys.modules.get("torch"), "nn", None)
    return nn is not None and isinstance(f, nn.Module)


def is_tensor(x: Any) -> bool:
    kind = getattr(sys.modules.get("torch"), "Tensor", None)
    return kind is not None and isinstance(x, kind)


def array_of(x: Any) -> NDArray[Any]:
    """The numbers of a tensor, wherever they are."""
    x = x.detach().cpu()
    return np.asarray((x.double() if x.is_floating_point() else x).numpy())


class Module:
    """A module as functions on arrays of rows. Between two calls it is as its owner left it."""

    def __init__(self, module: Any, shape: Sequence[int], dtype: Any = None) -> None:
        """shape: of a row. dtype: of the tensors, float32 or float64; None: that of the parameters."""
        self._torch = sys.modules["torch"]
        self._module = module
        self.name = type(module).__name__
        self._shape = tuple(shape)
        self._outputs = 0
        held = [*module.parameters(), *module.buffers()]
        self._check(held)
        floating = next((tensor.dtype for tensor in held if tensor.is_floating_point()), self._torch.float32)
        self.dtype = floating if dtype is None else getattr(self._torch, np.dtype(dtype).name)
        self.device = held[0].device if held else self._torch.device("cpu")

    def _check(self, held: Sequence[Any]) -> None:
        for tensor in held:
            if type(tensor).__name__ in ("UninitializedParameter", "UninitializedBuffer"):
                raise ModelError(f"model {self.name} has parameters that are not initialised yet; call it with a batch first")
            if tensor.device.type == "meta":
                raise ModelError(f"model {self.name} has parameters on the device meta, which have no values; load its weights first")

    @property
    def float32(self) -> bool:
        """Whether rows of float32 hold all that it takes."""
        return bool(self.dtype != self._torch.float64)

    @property
    def warning(self) -> str:
        if self.dtype in (self._torch.float32, self._torch.float64):
            return ""
        return (
            f"the weights of {self.name} are of type {str(self.dtype).replace('torch.', '')}, whose rounding is larger than most gammas: "
            "they may come out too large by an order of magnitude; measure a copy: copy.deepcopy(module).float()"
        )

    @property
    def batch(self) -> int:
        """Rows a call that suit it."""
        values = math.prod(self._shape)
        if self.device.type != "cpu":
            return min(max(_DEVICE_VALUES // values, 1), _DEVICE_ROWS)
        return min(max(_IMAGE_VALUES // values, 1), _IMAGE_ROWS) if len(self._shape) > 1 else _ROWS

    def learn(self, example: NDArray[np.float64]) -> int:
        """How many outputs it has: asked in the shape that rows have, and as plain rows if it refuses that."""
        rows = np.repeat(np.atleast_2d(example), EXAMPLES, axis=0).astype(np.float32 if self.float32 else np.float64)
        try:
            self._outputs = self(rows).shape[1]
        except Exception:
            if len(self._shape) == 1:
                raise
            self._shape = (rows.shape[1],)
            with suppress(Exception):
                self._outputs = self(rows).shape[1]
            if self._outputs == 0:
                raise
        return self._outputs

    def __call__(self, rows: NDArray[Any]) -> NDArray[Any]:
        """rows × outputs."""
        with self._evaluating(), self._torch.no_grad():
            return self._array(self._answer(self._tensor(rows), len(rows)))

    def gradient(self, rows: NDArray[Any]) -> tuple[NDArray[Any], Callable[[NDArray[np.float64]], NDArray[Any]]]:
        """The answers, and what turns derivatives by them (rows × outputs) into those by the rows' numbers."""
        torch = self._torch
        with self._evaluating(), torch.inference_mode(False), torch.enable_grad():
            leaf = self._tensor(rows).detach().requires_grad_()
            out = self._answer(leaf.clone(), len(rows))  # a copy: a module may work in place, which a leaf forbids

        def pull_back(by_outputs: NDArray[np.float64]) -> NDArray[Any]:
            if not out.requires_grad:
                return np.zeros(rows.shape)
            by = torch.from_numpy(by_outputs).to(out.dtype).to(out.device)
            with self._evaluating(), torch.inference_mode(False), torch.enable_grad():  # it may compute parts again
                (found,) = torch.autograd.grad(out, leaf, by, allow_unused=True)
            return np.zeros(rows.shape) if found is None else self._array(found.reshape(len(rows), -1))

        return self._array(out), pull_back

    def _tensor(self, rows: NDArray[Any]) -> Any:
        tensor = self._torch.from_numpy(rows).to(self.dtype).to(self.device)
        return tensor.reshape(len(rows), *self._shape)

    def _array(self, tensor: Any) -> NDArray[Any]:
        return np.asarray(tensor.detach().cpu().double().numpy())

    def _answer(self, x: Any, rows: int) -> Any:
        """What the module answers, rows × outputs."""
        out = self._module(x)
        while isinstance(out, (tuple, list)) and len(out) > 0:
            out = out[0]
        if not is_tensor(out) or out.is_complex():
            found = "complex numbers" if is_tensor(out) else type(out).__name__
            raise ModelError(
                f"model {self.name} answers with {found}; expected a tensor of numbers, rows × outputs, or a tuple or list "
                "that begins with one: wrap it in a module or function that returns that"
            )
        # A single row may have lost its dimension on the way (squeeze).
        kept = (out.dim() > 0 and out.shape[0] == rows) or (rows == 1 and self._outputs > 0)
        if not kept or out.numel() == 0 or (self._outputs and out.numel() != rows * self._outputs):
            expected = f"[{rows}, {self._outputs}]" if self._outputs else "as many rows"
            raise ModelError(
                f"model {self.name} answers {rows} row{'' if rows == 1 else 's'} with a tensor of shape {list(out.shape)}; expected {expected}"
            )
        return out.reshape(rows, -1)

    @contextmanager
    def _evaluating(self) -> Iterator[None]:
        """In evaluation mode, and with whole factors on a GPU; after that as it was, part by part."""
        modes = [(part, part.training) for part in self._module.modules() if hasattr(part, "training")]
        if any(training for _, training in modes):
            self._module.eval()
        try:
            with self._whole_factors():
                yield
        finally:
            for part, mode in modes:  # parents first: train() reaches their children, whose own mode follows
                if part.training != mode:
                    part.train(mode)
            for part, mode in modes:
                if part.training != mode:
                    part.training = mode

    @contextmanager
    def _whole_factors(self) -> Iterator[None]:
        """By default a GPU multiplies with ten bits of each factor, which differences of near points do not survive."""
        if self.device.type != "cuda":
            yield
            return
        backends = self._torch.backends
        switches: list[tuple[Any, str, Any]] = [(place, "allow_tf32", False) for place in (backends.cuda.matmul, backends.cudnn)]
        try:
            found = [getattr(place, name) for place, name, _ in switches]
        except RuntimeError:  # its owner chose by the names of newer versions, which exclude the others
            places = (backends.cuda.matmul, backends.cudnn.conv, backends.cudnn.rnn)
            switches = [(place, "fp32_precision", "ieee") for place in places]
            found = [getattr(place, name) for place, name, _ in switches]
        changed = [(*switch, before) for switch, before in zip(switches, found) if before != switch[2]]
        try:
            for place, name, value, _ in changed:
                setattr(place, name, value)
            yield
        finally:
            for place, name, _, before in changed:
                setattr(place, name, before)
