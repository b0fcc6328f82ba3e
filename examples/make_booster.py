"""Trains examples/booster.json: XGBoost on what examples/score.py says of random customers.

    pip install xgboost-cpu==3.2.0 && python3 examples/make_booster.py
"""

from pathlib import Path

import numpy as np
import xgboost
from score import score

rng = np.random.default_rng(1)
x = np.column_stack([rng.uniform(20, 70, 4000), rng.uniform(15, 90, 4000), rng.uniform(0, 80, 4000)]).round(1)
y = rng.random(4000) < [score(*row) for row in x]
data = xgboost.DMatrix(x, label=y, feature_names=["age", "income", "debt"])
booster = xgboost.train({"objective": "binary:logistic", "max_depth": 3, "eta": 0.3, "nthread": 1}, data, 20)
booster.save_model(Path(__file__).with_name("booster.json"))
