"""Folders that hold no embedder, embedders that answer what cannot be used, and texts of every size: one line that says why."""

import shutil

import numpy as np
import pytest
from onnx import TensorProto, helper

from support.onnx_models import save_graph, save_mlp

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b"]
IDS = [(name, TensorProto.INT64, ["batch", "length"]) for name in ("input_ids", "attention_mask", "token_type_ids")]
TABLE = np.random.default_rng(1).standard_normal((len(PIECES), 4)).astype(np.float32)


def save_embedder(folder, table=TABLE, inputs=IDS, nodes=None, pooled=True, pieces=PIECES, output=TensorProto.FLOAT):
    """The mean of a table's rows: the least that is an embedder."""
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("".join(piece + "\n" for piece in pieces))
    nodes = nodes or [helper.make_node("Gather", ["table", inputs[0][0]], ["rows" if pooled else "embedding"])]
    if pooled:
        nodes.append(helper.make_node("ReduceMean", ["rows"], ["embedding"], axes=[1], keepdims=0))
    save_graph(folder / "model.onnx", nodes, inputs, [("embedding", output, None)], [("table", table)])
    return folder


def refused(embed_texts, folder, *parts, texts=("a",)):
    done = embed_texts("embed", folder, list(texts), 1)
    assert done.returncode == 1 and done.stdout == b"", done
    message = done.stderr.decode()
    assert message.count("\n") == 1, message
    for part in parts:
        assert part in message, message


def test_the_least_embedder(embed_texts, tmp_path):
    done = embed_texts("embed", save_embedder(tmp_path / "e"), ["a", "b b", ""], 1)
    assert done.returncode == 0, done.stderr
    got = np.frombuffer(done.stdout, np.float32).reshape(3, 4)
    expected = [TABLE[[2, 4, 3]].mean(axis=0), TABLE[[2, 5, 5, 3]].mean(axis=0), TABLE[[2, 3]].mean(axis=0)]
    np.testing.assert_allclose(got, expected, atol=1e-6)


@pytest.mark.parametrize("name, found", [("model.onnx", "0 ONNX files"), ("vocab.txt", "no vocab.txt")])
def test_a_file_is_missing(embed_texts, tmp_path, name, found):
    folder = save_embedder(tmp_path / "e")
    (folder / name).unlink()
    refused(embed_texts, folder, f"embedder {folder} has {found}; expected a folder with one ONNX file and vocab.txt, as "
            "'scripts/setup.sh embedder' makes it")
    refused(embed_texts, tmp_path / "nowhere", f"embedder {tmp_path}/nowhere is no folder; expected")


def test_several_models(embed_texts, tmp_path):
    folder = save_embedder(tmp_path / "e")
    shutil.copy(folder / "model.onnx", folder / "model_small.onnx")
    refused(embed_texts, folder, "has 2 ONNX files; expected a folder with one")


def test_vocabularies(embed_texts, tmp_path):
    folder = save_embedder(tmp_path / "e", pieces=PIECES[:-1])
    refused(embed_texts, folder, f"vocabulary {folder}/vocab.txt has 5 pieces; model {folder}/model.onnx expects 6")
    (folder / "vocab.txt").write_bytes(bytes(range(256)) * 40)
    refused(embed_texts, folder, f"vocabulary {folder}/vocab.txt has 41 lines and no [UNK]; expected a piece a line")


def test_models_of_another_kind(embed_texts, tmp_path):
    folder = save_embedder(tmp_path / "e")
    save_mlp(folder / "model.onnx", [5, 4, 2])
    refused(embed_texts, folder, "has 1 input: x (float); expected those of a sentence embedder: input_ids, attention_mask, "
            "token_type_ids (int64)")
    save_embedder(folder, inputs=IDS[:2])
    refused(embed_texts, folder, "has 2 inputs: input_ids (int64), attention_mask (int64); expected")
    save_embedder(folder, inputs=[*IDS[:2], ("token_type_ids", TensorProto.FLOAT, ["batch", "length"])])
    refused(embed_texts, folder, "token_type_ids (float); expected")
    save_embedder(folder, pooled=False)
    refused(embed_texts, folder, "output 'embedding' of a text of 3 tokens has the shape [1, 3, 4]; expected [1, width]: one embedding")
    save_embedder(folder, table=TABLE.astype(np.float64), output=TensorProto.DOUBLE)
    refused(embed_texts, folder, "output 'embedding' holds double; expected float")


def test_files_that_are_no_models(embed_texts, tmp_path, embedder):
    folder = save_embedder(tmp_path / "e")
    bytes_of = (folder / "model.onnx").read_bytes()
    for wrong in (b"", b"not a model", bytes_of[: len(bytes_of) // 2], bytes(1000)):
        (folder / "model.onnx").write_bytes(wrong)
        refused(embed_texts, folder, "model.onnx")
    shutil.copy(embedder / "vocab.txt", folder)
    with next(embedder.glob("*.onnx")).open("rb") as whole:
        (folder / "model.onnx").write_bytes(whole.read(1 << 20))
    refused(embed_texts, folder, "model.onnx")


def test_answers_that_are_no_embedding(embed_texts, tmp_path):
    table = TABLE.copy()
    table[4] = np.nan
    folder = save_embedder(tmp_path / "e", table=table)
    assert embed_texts("embed", folder, ["b"], 1).returncode == 0
    refused(embed_texts, folder, f"model {folder}/model.onnx: the embedding of the text 'a' has numbers that are not finite", texts=["b", "a"])
    refused(embed_texts, save_embedder(folder, table=np.zeros_like(TABLE)), "the embedding of the text 'a' is all zeros")


def test_texts_of_every_size(embed_texts, embedder):
    million = 1 << 20
    texts = ["", " ", "\x00", "a" * million, "word " * (million // 5), "\u0301" * (million // 2), "漢" * (million // 3), "[SEP]" * (million // 5)]
    done = embed_texts("embed", embedder, texts, 2)
    assert done.returncode == 0, done.stderr
    got = np.frombuffer(done.stdout, np.float32).reshape(len(texts), 384)
    np.testing.assert_allclose(np.linalg.norm(got, axis=1), 1, atol=1e-6)
    assert (got[0] == got[1]).all() and (got[0] == got[2]).all() and (got[0] == got[5]).all()
    assert embed_texts("embed", embedder, [], 2).stdout == b""
