"""The ONNX file of scripts/embedder_onnx.py against sentence-transformers, whose answers tests/data/make_minilm.py wrote."""

import json

import numpy as np
import onnxruntime
import pytest


@pytest.fixture(scope="module")
def reference(root) -> list[dict]:
    return json.loads((root / "tests" / "data" / "minilm.json").read_text())


@pytest.fixture(scope="module")
def embed(embedder):
    """Embeds lists of tokens, all in one batch, the shorter ones padded."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(embedder / "all-MiniLM-L6-v2.onnx", options)

    def run(rows: list[list[int]], padding: int = 0) -> np.ndarray:
        tokens = np.zeros((len(rows), max(map(len, rows)) + padding), np.int64)
        mask = np.zeros_like(tokens)
        for index, row in enumerate(rows):
            tokens[index, : len(row)] = row
            mask[index, : len(row)] = 1
        inputs = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        (answer,) = session.run(["embedding"], inputs)
        return answer

    return run


@pytest.mark.parametrize("batch", [1, 2, 9])
@pytest.mark.parametrize("padding", [0, 7])
def test_embeddings_are_those_of_the_reference(embed, reference, batch, padding):
    tokens = [row["tokens"] for row in reference]
    ours = np.concatenate([embed(tokens[start : start + batch], padding) for start in range(0, len(tokens), batch)])
    assert ours.dtype == np.float32 and ours.shape == (9, 384)
    np.testing.assert_allclose(ours, [row["embedding"] for row in reference], rtol=0, atol=2e-6)
    np.testing.assert_allclose(np.linalg.norm(ours.astype(float), axis=1), 1, rtol=0, atol=1e-6)


def test_the_vocabulary_beside_it_is_the_references(embedder, reference):
    words = (embedder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    assert len(words) == 30522 + 1 and words[-1] == ""
    assert [words[token] for token in reference[0]["tokens"]] == "[CLS] the capital of france is paris . [SEP]".split()
