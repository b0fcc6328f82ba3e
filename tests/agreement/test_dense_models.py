"""Networks as people have them, exported from scikit-learn and in the ways of PyTorch and Keras: they are recognised, and the
fast path's error is no larger than that of ONNX Runtime on the same points."""

import json

import numpy as np
import pytest
from onnx import TensorProto, helper
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler
from support.onnx_exact import exact_function
from support.onnx_models import save_graph, save_sklearn

FEATURES = 6
RADII = [1e-4, 0.03, 1.0]


def measured(harmonia, folder, path, rows, radius, *options):
    np.save(folder / "rows.npy", rows)
    done = harmonia("gamma", path, folder / "rows.npy", "--radius", radius, "--ball", "cross", "--output", "column:0",
                    "--json", folder / "result.json", "--quiet", *options)
    assert done.returncode == 0, done.stderr
    result = json.loads((folder / "result.json").read_text())
    return np.array([row["gamma"] for row in result["rows"]]), result["summary"].get("fast_path")


def exact_gammas(answer, rows, radius, scalar, shape):
    """gamma of output 0 over the cross, whose points have the coordinates that the network gets."""
    gammas = []
    for row in rows:
        steps = np.eye(len(row)) * radius
        points = np.concatenate([[row], row + steps, row - steps]).astype(scalar).reshape(-1, *shape)
        outputs = answer(points).reshape(len(points), -1)[:, 0]
        gammas.append(abs((outputs[1:] - outputs[0]).mean()))
    return np.array(gammas, float)


def check(harmonia, folder, path, rows, *, scalar=np.float32, output=None, shape=(FEATURES,)):
    answer = exact_function(path, output)
    # Where float64 itself is what both are made of, it is its own error that is left.
    rounding = 1e-13 if scalar == np.float32 else 2e-16
    for radius in RADII:
        true = exact_gammas(answer, rows, radius, scalar, shape)
        fast, way = measured(harmonia, folder, path, rows, radius)
        slow, other = measured(harmonia, folder, path, rows, radius, "--no-fast-path")
        assert way == "dense networks" and other is None
        assert np.abs(fast - true).max() <= np.abs(slow - true).max() + rounding, radius


def training_data():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, FEATURES)) * [1, 2, 0.5, 3, 1, 1] + [0, 1, -1, 5, 0, 0]
    return x.astype(np.float32), x[:, 0] * x[:, 1] + x[:, 3]


def two(y):
    return (y > np.median(y)).astype(int)


def three(y):
    return np.digitize(y, np.quantile(y, [0.3, 0.6]))


def classifier(**options):
    return MLPClassifier(hidden_layer_sizes=(12, 8), max_iter=40, random_state=1, **options)


def regressor(**options):
    return MLPRegressor(hidden_layer_sizes=(12, 8), max_iter=40, random_state=1, **options)


ESTIMATORS = {
    "two classes": (classifier(), two), "two classes, tanh": (classifier(activation="tanh"), two),
    "three classes": (classifier(), three), "three classes, logistic": (classifier(activation="logistic"), three),
    "regressor": (regressor(), None), "regressor, no activation": (regressor(activation="identity"), None),
    "standard scaler": (make_pipeline(StandardScaler(), classifier()), two),
    "min and max": (make_pipeline(MinMaxScaler(), classifier()), three),
    "clipped to min and max": (make_pipeline(MinMaxScaler(clip=True), classifier()), three),
    "robust scaler": (make_pipeline(RobustScaler(), regressor()), None), "max abs": (make_pipeline(MaxAbsScaler(), regressor()), None),
    "principal components": (make_pipeline(StandardScaler(), PCA(3), classifier()), two),
    "scalers of columns": (make_pipeline(ColumnTransformer([("a", StandardScaler(), [0, 2, 5]), ("b", MinMaxScaler(), [3, 1])]),
                                         classifier()), two),
    "logistic regression": (make_pipeline(StandardScaler(), LogisticRegression()), two),
    "logistic regression, three classes": (LogisticRegression(), three),
    "linear regression": (make_pipeline(StandardScaler(), LinearRegression()), None),
}


def export(folder, estimator, label, *, double=False):
    x, y = training_data()
    estimator.fit(x, y if label is None else label(y))
    options = {} if label is None else {"options": {id(estimator[-1] if hasattr(estimator, "steps") else estimator): {"zipmap": False}}}
    return save_sklearn(folder / "model.onnx", estimator, FEATURES, double=double, **options)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")
@pytest.mark.parametrize("what", ESTIMATORS)
def test_scikit_learn(harmonia, tmp_path, what):
    path = export(tmp_path, *ESTIMATORS[what])
    check(harmonia, tmp_path, path, training_data()[0][:12].astype(float))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")
@pytest.mark.parametrize("what", ["two classes", "three classes, logistic", "regressor", "standard scaler", "principal components"])
def test_scikit_learn_in_float64(harmonia, tmp_path, what):
    path = export(tmp_path, *ESTIMATORS[what], double=True)
    check(harmonia, tmp_path, path, training_data()[0][:12] * (1 + 1e-9), scalar=np.float64)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")
def test_missing_values_ask_for_points(harmonia, tmp_path):
    """An imputer leaves other rows as they are."""
    path = export(tmp_path, make_pipeline(SimpleImputer(), StandardScaler(), classifier()), two)
    rows = training_data()[0][:8].astype(float)
    check(harmonia, tmp_path, path, rows)
    rows[3, 2] = np.nan
    fast, way = measured(harmonia, tmp_path, path, rows, 0.1)
    slow, _ = measured(harmonia, tmp_path, path, rows, 0.1, "--no-fast-path")
    assert fast[3] == slow[3]
    np.testing.assert_allclose(fast, slow, atol=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")
def test_rows_that_are_normalised_are_no_dense_network(harmonia, tmp_path):
    path = export(tmp_path, make_pipeline(Normalizer(), regressor()), None)
    assert measured(harmonia, tmp_path, path, training_data()[0][:3].astype(float), 0.1)[1] is None


ACTIVATIONS = {
    "Relu": {}, "LeakyRelu": {"alpha": 0.2}, "Tanh": {}, "Sigmoid": {}, "Softplus": {}, "Elu": {"alpha": 1.3}, "Selu": {},
    "Celu": {"alpha": 0.7}, "HardSigmoid": {}, "HardSwish": {}, "Gelu": {}, "Gelu by tanh": {"approximate": "tanh"},
}


class Graph:
    """A graph that grows value by value."""

    def __init__(self, rng, scalar):
        self.rng, self.scalar, self.nodes, self.constants, self.value = rng, scalar, [], [], "x"

    def constant(self, numbers):
        numbers = np.asarray(numbers)
        self.constants.append((f"c{len(self.constants)}", numbers if numbers.dtype == np.int64 else numbers.astype(self.scalar)))
        return self.constants[-1][0]

    def node(self, operation, *inputs, value=None, **attributes):
        self.nodes.append(helper.make_node(operation, [value or self.value, *inputs], [f"v{len(self.nodes)}"], **attributes))
        self.value = self.nodes[-1].output[0]
        return self.value

    def layer(self, inputs, outputs):
        """As PyTorch and Keras write it, with and without a bias."""
        weights = self.rng.normal(size=(inputs, outputs), scale=np.sqrt(2 / inputs))
        bias = self.constant(self.rng.normal(size=outputs, scale=0.2))
        way = self.rng.integers(4)
        if way == 0:
            self.node("Gemm", self.constant(weights.T), bias, transB=1)
        elif way == 1:
            self.node("Gemm", self.constant(weights), bias, alpha=0.5, beta=2.0)
        elif way == 2:
            self.node("MatMul", self.constant(weights))
            self.node("Add", bias)
        else:
            self.node("Gemm", self.constant(weights))

    def normalise(self, width):
        self.node("BatchNormalization", self.constant(self.rng.uniform(0.5, 2, width)), self.constant(self.rng.normal(size=width)),
                  self.constant(self.rng.normal(size=width)), self.constant(self.rng.uniform(0.5, 2, width)))

    def activate(self, name):
        before = self.value
        if name == "PRelu":
            self.node("PRelu", self.constant([0.25]))
        elif name == "Clip":
            self.node("Clip", self.constant(0.0), self.constant(6.0))
        elif name == "Silu":
            self.node("Mul", self.node("Sigmoid"), value=before)
        elif name == "Gelu by erf":
            self.node("Div", self.constant(np.sqrt(2)))
            self.node("Erf")
            self.node("Add", self.constant(1.0))
            self.node("Mul", self.value, value=before)
            self.node("Mul", self.constant(0.5))
        else:
            self.node(name.split()[0], **ACTIVATIONS[name])

    def save(self, path, width, shape=(FEATURES,), opset=20):
        kind = TensorProto.FLOAT if self.scalar == np.float32 else TensorProto.DOUBLE
        return save_graph(path, self.nodes, [("x", kind, [None, *shape])], [(self.value, kind, [None, width])], self.constants, opset=opset)


@pytest.mark.parametrize("activation", [*ACTIVATIONS, "PRelu", "Clip", "Silu", "Gelu by erf"])
def test_random_networks(harmonia, tmp_path, activation):
    """Layers of every way to write them, one activation, normalisations before and behind it, any end."""
    for seed in range(3):
        rng = np.random.default_rng([seed, len(activation), ord(activation[0])])
        graph, width = Graph(rng, np.float32), FEATURES
        if rng.random() < 0.5:
            graph.node("Sub", graph.constant(rng.normal(size=FEATURES)))
            graph.node("Div", graph.constant(rng.uniform(0.5, 3, FEATURES)))
        for _ in range(rng.integers(1, 4)):
            outputs = int(rng.integers(5, 40))
            graph.layer(width, outputs)
            width = outputs
            if rng.random() < 0.3:
                graph.normalise(width)
            graph.activate(activation)
            if rng.random() < 0.3:
                graph.normalise(width)
            if rng.random() < 0.3:
                graph.node("Dropout")
        graph.layer(width, 3)
        end = rng.integers(5)
        if end < 3:
            graph.node(["Softmax", "LogSoftmax", "Sigmoid"][end])
        elif end == 3:
            graph.activate(activation)
        path = graph.save(tmp_path / "net.onnx", 3)
        check(harmonia, tmp_path, path, rng.normal(size=(10, FEATURES)).astype(np.float32).astype(float))


def test_images_before_the_layers(harmonia, tmp_path):
    """Channels are normalised one by one, moved to the front, and flattened."""
    rng = np.random.default_rng(3)
    graph = Graph(rng, np.float32)
    graph.node("Div", graph.constant(255.0))
    graph.node("Sub", graph.constant([0.4, 0.5]))
    graph.node("Transpose", perm=[0, 3, 1, 2])
    graph.node("Mul", graph.constant(np.array([[[2.0]], [[3.0]]])))
    graph.node("Reshape", graph.constant(np.array([0, -1])))
    graph.layer(12, 20)
    graph.activate("Relu")
    graph.layer(20, 3)
    path = graph.save(tmp_path / "net.onnx", 3, shape=(2, 3, 2))
    check(harmonia, tmp_path, path, rng.uniform(0, 255, size=(10, 12)).astype(np.float32).astype(float), shape=(2, 3, 2))
