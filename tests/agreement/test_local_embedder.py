"""The local embedder against the reference: its tokens those of Hugging Face's tokenizers, its embeddings those of
sentence-transformers, for every number of threads and whatever is asked at once."""

import json
import random

import numpy as np
import pytest
from tokenizers import BertWordPieceTokenizer

from support.sentence_embedder import SentenceEmbedder
from support.unicode_lines import SENTENCES, all_characters, unicode_lines

LENGTH = 256  # tokens of a text at most


@pytest.fixture(scope="module")
def vocabulary(embedder):
    return (embedder / "vocab.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def reference(embedder):
    """The tokenizer that the model's own tokenizer.json describes, but for its truncation."""
    return BertWordPieceTokenizer(str(embedder / "vocab.txt"), lowercase=True)


def tokens_of(embed_texts, embedder, texts, most):
    done = embed_texts("tokens", embedder, texts, most)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def embeddings_of(embed_texts, embedder, texts, threads=2):
    done = embed_texts("embed", embedder, texts, threads)
    assert done.returncode == 0, done.stderr
    return np.frombuffer(done.stdout, np.float32).reshape(len(texts), -1)


def assert_same_tokens(texts, got, expected):
    wrong = [(text, a, b.ids) for text, a, b in zip(texts, got, expected) if a != b.ids]
    assert len(got) == len(texts) and not wrong, f"{len(wrong)} of {len(texts)} lines differ, first: {wrong[0]!r}"


@pytest.mark.parametrize("most", [1 << 20, LENGTH, 9])
def test_tokens_of_ten_thousand_lines(embed_texts, embedder, reference, vocabulary, most):
    lines = unicode_lines(10_000, vocabulary)
    reference.enable_truncation(most)
    expected = reference.encode_batch(lines)
    assert_same_tokens(lines, tokens_of(embed_texts, embedder, lines, most), expected)
    found = {number for line in expected for number in line.ids}
    assert {0, 100, 101, 102, 103} < found and len(found) > 2000  # the lines are as varied as they should be


def test_tokens_of_every_character(embed_texts, embedder, reference):
    lines = all_characters()
    reference.no_truncation()
    assert_same_tokens(lines, tokens_of(embed_texts, embedder, lines, 1 << 20), reference.encode_batch(lines))


def test_embeddings_of_sentence_transformers(embed_texts, embedder, root):
    rows = json.loads((root / "tests" / "data" / "minilm.json").read_text())
    texts = [row["sentence"] for row in rows]
    assert tokens_of(embed_texts, embedder, texts, LENGTH) == [row["tokens"] for row in rows]
    got = embeddings_of(embed_texts, embedder, texts)
    np.testing.assert_allclose(got, [row["embedding"] for row in rows], atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(got, axis=1), 1, atol=1e-6)


def test_embeddings_in_double_precision(embed_texts, embedder, reference, vocabulary):
    draw = random.Random(11)
    texts = [*unicode_lines(200, vocabulary, seed=5), *(" ".join(draw.choices(vocabulary[2000:20000], k=n)) for n in range(1, 401, 16))]
    reference.enable_truncation(LENGTH)
    double = SentenceEmbedder(embedder)
    expected = np.array([double.embed(line.ids) for line in reference.encode_batch(texts)])
    np.testing.assert_allclose(embeddings_of(embed_texts, embedder, texts), expected, atol=1e-5)


def test_bits_do_not_depend_on_what_is_asked_at_once(embed_texts, embedder, vocabulary):
    texts = [*SENTENCES, *unicode_lines(100, vocabulary, seed=3), *(f"Number {i} is {i}." for i in range(100))]
    together = embeddings_of(embed_texts, embedder, texts)
    order = random.Random(2).sample(range(len(texts)), len(texts))
    for threads in (1, 7):
        np.testing.assert_array_equal(embeddings_of(embed_texts, embedder, [texts[i] for i in order], threads), together[order])
    for i in order[:4]:
        np.testing.assert_array_equal(embeddings_of(embed_texts, embedder, [texts[i]]), together[i : i + 1])
    for size in (2, 17):
        some = order[:size]
        np.testing.assert_array_equal(embeddings_of(embed_texts, embedder, [texts[i] for i in some]), together[some])


def test_texts_of_the_same_tokens_have_the_same_bits(embed_texts, embedder):
    texts = ["Is this so?", "is THIS so ?", "Is this so? \x00\x1f\x07", "Is\u200b this so?", "Is this so!"]
    got = embeddings_of(embed_texts, embedder, texts)
    assert all((got[i] == got[0]).all() for i in range(1, 4)) and (got[4] != got[0]).any()
