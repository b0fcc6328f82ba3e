"""all-MiniLM-L6-v2 evaluated with numpy in float64, from the weights of its ONNX file alone."""

import math
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from scipy.special import erf

HEADS = 12


class SentenceEmbedder:
    """BERT's encoder [Devlin 2019], the mean over the tokens, at length 1: one text at a time, nothing padded."""

    def __init__(self, folder: Path):
        graph = onnx.load(next(folder.glob("*.onnx"))).graph
        self.weights = {w.name: numpy_helper.to_array(w).astype(np.float64) for w in graph.initializer}
        self.layers = 1 + max(int(name.split(".")[2]) for name in self.weights if name.startswith("encoder.layer."))

    def dense(self, name: str, x: np.ndarray) -> np.ndarray:
        return x @ self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def norm(self, name: str, x: np.ndarray) -> np.ndarray:
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-12)
        return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def attention(self, name: str, x: np.ndarray) -> np.ndarray:
        def heads(which: str) -> np.ndarray:
            return self.dense(f"{name}.self.{which}", x).reshape(len(x), HEADS, -1).transpose(1, 0, 2)

        query, key, value = heads("query"), heads("key"), heads("value")
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        return self.dense(f"{name}.output.dense", (shares @ value).transpose(1, 0, 2).reshape(x.shape))

    def embed(self, tokens: list[int]) -> np.ndarray:
        words, positions, types = (self.weights[f"embeddings.{part}_embeddings.weight"] for part in ("word", "position", "token_type"))
        x = self.norm("embeddings.LayerNorm", words[tokens] + positions[: len(tokens)] + types[0])
        for layer in range(self.layers):
            name = f"encoder.layer.{layer}"
            x = self.norm(f"{name}.attention.output.LayerNorm", x + self.attention(f"{name}.attention", x))
            inner = self.dense(f"{name}.intermediate.dense", x)
            inner = inner * (1 + erf(inner / math.sqrt(2))) / 2
            x = self.norm(f"{name}.output.LayerNorm", x + self.dense(f"{name}.output.dense", inner))
        mean = x.mean(axis=0)
        return mean / np.linalg.norm(mean)
