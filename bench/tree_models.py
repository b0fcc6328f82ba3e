"""Trains the boosters that tree_bench, tree_choice_bench, lightgbm_bench and cells_bench measure, once, into FOLDER; xgboost.path and
lightgbm.path there name the libraries that trained them."""

import sys
from pathlib import Path

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from sklearn.datasets import make_classification

SHAPES = [(2, 200, 6), (2, 1000, 6), (4, 200, 6), (10, 200, 6), (20, 200, 6), (100, 200, 6), (100, 1000, 6), (100, 200, 8), (1000, 200, 6), (1000, 1000, 6)]  # features, trees, depth
TRAINING_ROWS = 8000
TEST_ROWS = 2048


def two_features(rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(rows, 2))
    return x, (np.sin(3 * x[:, 0]) + x[:, 0] * x[:, 1] + rng.normal(0, 0.5, rows) > 0).astype(int)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    library = Path(xgb.__file__).parent / "lib" / "libxgboost.so"
    (folder / "xgboost.path").write_text(f"{library}\n")
    library = next(Path(lgb.__file__).parent.rglob("lib_lightgbm.so"))
    (folder / "lightgbm.path").write_text(f"{library}\n")
    for features in sorted({shape[0] for shape in SHAPES}):
        missing = [s for s in SHAPES if s[0] == features and not (folder / f"trees_{s[0]}_{s[1]}_{s[2]}.ubj").exists()]
        lightgbm = folder / f"lightgbm_{features}_200.txt"
        wants_lightgbm = features == 100 and not lightgbm.exists()
        if not missing and not wants_lightgbm:
            continue
        x, y = two_features(TRAINING_ROWS + TEST_ROWS) if features == 2 else make_classification(
            TRAINING_ROWS + TEST_ROWS, features, n_informative=max(features // 3, 4), n_redundant=0, n_clusters_per_class=8,
            flip_y=0.02, random_state=1,
        )
        x = ((x - x.mean(0)) / x.std(0)).astype(np.float32)
        np.save(folder / f"rows_{features}.npy", x[TRAINING_ROWS:])
        if wants_lightgbm:
            options = {"objective": "binary", "learning_rate": 0.05, "seed": 1, "deterministic": True, "verbose": -1}
            lgb.train(options, lgb.Dataset(x[:TRAINING_ROWS], y[:TRAINING_ROWS]), 200).save_model(lightgbm)
        data = xgb.DMatrix(x[:TRAINING_ROWS], y[:TRAINING_ROWS])
        for _, trees, depth in missing:
            options = {
                "objective": "binary:logistic", "eta": 0.05, "max_depth": depth, "tree_method": "hist",
                "colsample_bytree": 1 if features == 2 else 0.5, "subsample": 0.8, "seed": 1,
            }
            booster = xgb.train(options, data, trees)
            booster.save_model(folder / f"trees_{features}_{trees}_{depth}.ubj")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
