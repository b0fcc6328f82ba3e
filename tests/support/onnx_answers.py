"""What the program and Python's onnxruntime answer to the rows of an array."""

import json

import numpy as np
import onnxruntime


def answers(harmonia, tmp_path, model, rows, *options):
    """f(x) for every row, as the program reports it, and the result."""
    data, out = tmp_path / "rows.npy", tmp_path / "out.json"
    np.save(data, rows)
    done = harmonia("gamma", model, data, "--radius", 0.01, "--output", "all", "--ball", "cross", "--sample", 2, "--quiet",
                    "--json", out, *options)
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
    values = np.full((len(rows), result["model"]["outputs"]), np.nan)
    for row in result["rows"]:
        values[row["row"], row["column"]] = row["value"]
    return values, result


def run_onnx(model, rows, output=None, shape=None):
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    entry = session.get_inputs()[0]
    kind = np.float64 if "double" in entry.type else np.float32
    x = np.asarray(rows).astype(kind).reshape(len(rows), *(shape or [-1]))
    return session.run(output and [output], {entry.name: x})
