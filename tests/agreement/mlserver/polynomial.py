"""Models whose right answer is a formula, served as an inference runtime serves a trained model."""

import math

import numpy as np
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.errors import InferenceError
from mlserver.types import InferenceRequest, InferenceResponse


def alternating_squares(x: np.ndarray) -> np.ndarray:
    """x0² − x1² + x2² − …, one value a row, in the type of x."""
    signs = np.where(np.arange(x.shape[1]) % 2 == 0, 1, -1).astype(x.dtype)
    return (x * x * signs).sum(axis=1, dtype=x.dtype)


class Polynomial(MLModel):
    """Answers two outputs, `value` (rows) and `both` (rows × 2: the value and the sum of the row), or those asked for."""

    async def load(self) -> bool:
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        x = self.decode(payload.inputs[0], default_codec=NumpyCodec)
        x = x.reshape(len(x), -1)
        if x.shape[1] < 2:
            raise InferenceError(f"expected two columns or more, found {x.shape[1]}")
        value = alternating_squares(x)
        answers = {"value": value, "both": np.stack([value, x.sum(axis=1, dtype=x.dtype)], axis=1)}
        asked = [output.name for output in payload.outputs or []] or list(answers)
        for name in asked:
            if name not in answers:
                raise InferenceError(f"no output {name}")
        return InferenceResponse(
            model_name=self.name,
            outputs=[NumpyCodec.encode_output(name=name, payload=answers[name]) for name in asked],
        )


class Exponential(MLModel):
    """Answers exp of the sum of a row, as fn:f4 does: its gamma is not 0, and grows with the value."""

    async def load(self) -> bool:
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        x = self.decode(payload.inputs[0], default_codec=NumpyCodec)
        # One by one: the last bits of np.exp depend on how many there are.
        value = np.array([math.exp(total) for total in x.reshape(len(x), -1).sum(axis=1)])
        return InferenceResponse(model_name=self.name, id=payload.id, outputs=[NumpyCodec.encode_output(name="value", payload=value)])
