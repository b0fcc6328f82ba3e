"""Trains the four models of Tables 1 and 2 on the Wine data and writes them as ONNX files. Started by `run` and by the demo.

    train.py --out DIR --splits 0 1 2 [--search] [--reordered]

For every split S it writes DIR/split-S/NAME.onnx for every model and DIR/split-S/training.json: accuracies, and the labels
that scikit-learn itself gives on the grid, so that the exported models can be compared with their originals. `--search` adds
the model that a 10-fold grid search finds, `--reordered` the same models with class 0 or 2 as number 1, the one in the middle.
DIR/wines.csv has the data, in the order of the columns of the models.
"""

import argparse
import csv
import json
import time
import warnings
from pathlib import Path

import numpy as np
import onnx
from skl2onnx import to_onnx
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_wine
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neural_network import MLPClassifier

from models import FEATURES, GRID_COUNTS, GRID_LOWS, GRID_HIGHS, SEARCHED, SETTINGS

# What the search chooses from. The paper does not say what its search did; its GBDT-1 is one of these.
SEARCH = {"n_estimators": [5, 20, 100], "max_depth": [1, 2, 3, 5], "learning_rate": [0.1, 1.0]}
MIDDLES = {0: (1, 0, 2), 2: (0, 2, 1)}  # orders of the classes by the one in the middle
OPSETS = {"": 17, "ai.onnx.ml": 3}


def data() -> tuple[np.ndarray, np.ndarray]:
    """The two features of the paper, and the classes."""
    wine = load_wine()
    columns = [wine.feature_names.index(name) for name in ("flavanoids", "od280/od315_of_diluted_wines")]
    return wine.data[:, columns], wine.target


def grid() -> np.ndarray:
    """The points of the study's grid, the last feature fastest, as the program makes them."""
    axes = [np.linspace(low, high, count) for low, high, count in zip(GRID_LOWS, GRID_HIGHS, GRID_COUNTS)]
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)


def estimator(name: str) -> ClassifierMixin:
    """As the tables say; what they do not say is scikit-learn's default."""
    kind = GradientBoostingClassifier if name.startswith("gbdt") else MLPClassifier
    return kind(**SETTINGS[name], random_state=0)


def fit(name: str, x: np.ndarray, y: np.ndarray) -> tuple[ClassifierMixin, dict[str, object] | None]:
    """The model; if it was searched, the parameters found and the accuracy in validation, beside that of Table 1's."""
    if name != SEARCHED:
        return estimator(name).fit(x, y), None
    search = GridSearchCV(GradientBoostingClassifier(random_state=0), SEARCH, cv=10).fit(x, y)
    scores = search.cv_results_["mean_test_score"]
    published = search.cv_results_["params"].index(SETTINGS["gbdt-1"])
    validation = {"validation_accuracy": float(search.best_score_), "published_validation_accuracy": float(scores[published])}
    return search.best_estimator_, {**search.best_params_, **validation}


def export(model: ClassifierMixin) -> onnx.ModelProto:
    """Outputs are the label and the three probabilities, in float32: a graph without ZipMap."""
    return to_onnx(model, np.zeros((1, len(FEATURES)), np.float32), options={"zipmap": False}, target_opset=OPSETS)


def reordered(model: onnx.ModelProto, order: tuple[int, ...]) -> onnx.ModelProto:
    """The same probabilities, in another order of the classes; no label."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    graph = changed.graph
    probabilities = onnx.ValueInfoProto()
    probabilities.CopyFrom(next(output for output in graph.output if output.name == "probabilities"))
    graph.initializer.append(onnx.numpy_helper.from_array(np.array(order, np.int64), "order"))
    graph.node.append(onnx.helper.make_node("Gather", ["probabilities", "order"], ["reordered"], axis=1))
    probabilities.name = "reordered"
    del graph.output[:]
    graph.output.append(probabilities)
    onnx.checker.check_model(changed)
    return changed


def train(split: int, folder: Path, search: bool, reorder: bool) -> None:
    x, y = data()
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, random_state=split)
    folder.mkdir(parents=True, exist_ok=True)
    points = grid()
    trained = {}
    for name in (*SETTINGS, SEARCHED) if search else SETTINGS:
        start = time.monotonic()
        model, found = fit(name, x_train, y_train)
        exported = export(model)
        onnx.save(exported, folder / f"{name}.onnx")
        if reorder and name != SEARCHED:
            for middle, order in MIDDLES.items():
                onnx.save(reordered(exported, order), folder / f"{name}-middle-{middle}.onnx")
        trained[name] = {
            "train_accuracy": float(model.score(x_train, y_train)),
            "test_accuracy": float(model.score(x_test, y_test)),
            "grid_labels": "".join(map(str, model.predict(points))),
            "found": found,
            "seconds": time.monotonic() - start,
        }
        print(f"  split {split}: {name} trained in {trained[name]['seconds']:.1f} s", flush=True)
    (folder / "training.json").write_text(json.dumps(trained, indent=1) + "\n", encoding="utf-8")


def write_data(path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*FEATURES, "class"])
        for features, label in zip(*data()):
            writer.writerow([*(float(value) for value in features), label])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--splits", type=int, nargs="+", default=[0])
    parser.add_argument("--search", action="store_true")
    parser.add_argument("--reordered", action="store_true")
    options = parser.parse_args()
    # MLP-1 is meant to stop after 200 iterations, converged or not.
    warnings.simplefilter("ignore", ConvergenceWarning)
    options.out.mkdir(parents=True, exist_ok=True)
    write_data(options.out / "wines.csv")
    for split in options.splits:
        train(split, options.out / f"split-{split}", options.search, options.reordered)


if __name__ == "__main__":
    main()
