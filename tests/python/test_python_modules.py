"""torch.nn.Module as a model: its answers and gradients are those of the same network as a TorchScript file, and it is left
as it was. Runs under a Python that has PyTorch; what compares with files needs HARMONIA_TORCH, of the same PyTorch."""

import copy
import json
import os
import subprocess
import sys

import jsonschema
import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from torch import nn

import harmonia as hm
from harmonia._modules import Module

RNG = np.random.default_rng(3)
X = RNG.normal(size=(24, 4))
with_files = pytest.mark.skipif("HARMONIA_TORCH" not in os.environ, reason="no libharmonia_torch of this PyTorch")


def network(*sizes, dtype=torch.float64, seed=1):
    torch.manual_seed(seed)
    steps = [step for a, b in zip(sizes, sizes[1:]) for step in (nn.Linear(a, b), nn.Tanh())][:-1]
    return nn.Sequential(*steps).to(dtype)


def images():
    """Of 2 × 6 × 5 values, with a layer that works in place and one that differs between training and evaluation."""
    torch.manual_seed(2)
    net = nn.Sequential(nn.Conv2d(2, 5, 3), nn.BatchNorm2d(5), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(60, 3)).double()
    nn.init.uniform_(net[1].running_var, 0.5, 2)
    return net


@pytest.fixture
def saved(tmp_path):
    def saved(module):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.pt"
        torch.jit.script(copy.deepcopy(module).eval()).save(str(path))
        return str(path)

    return saved


def state(module):
    """All that a training has of a module."""
    return (
        [(name, value.clone()) for name, value in module.state_dict().items()],
        [part.training for part in module.modules()],
        [(p.requires_grad, None if p.grad is None else p.grad.clone()) for p in module.parameters()],
        torch.get_rng_state(),
        torch.is_grad_enabled(),
    )


def same(a, b):
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


class Answer(nn.Module):
    """Answers what a function makes of the rows."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


@with_files
def test_gamma_is_that_of_the_file(saved):
    for dtype, near in ((torch.float64, 1e-12), (torch.float32, 1e-6)):
        net = network(4, 16, 3, dtype=dtype)
        ours, theirs = hm.gamma(net, X, radius=0.5).to_dict(), hm.gamma(saved(net), X, radius=0.5).to_dict()
        np.testing.assert_allclose([r["gamma"] for r in ours["rows"]], [r["gamma"] for r in theirs["rows"]], rtol=0, atol=near)
        assert ours["evaluations"] == theirs["evaluations"]
        assert ours["model"] == {"path": "Sequential", "kind": "python", "inputs": 4, "outputs": 3}


ATTACKS = {
    "fgsm": {"epsilon": 0.3},
    "rfgsm": {"epsilon": 0.3, "target": "next"},
    "bim": {"epsilon": 0.3, "norm": "l2"},
    "mifgsm": {"epsilon": 0.3},
    "pgd": {"epsilon": 0.3, "go_on": True},
    "pgd-penalty": {"penalty": 0.3},
    "cw": {"constant": 5, "steps": 60},
    "lbfgs": {"steps": 40},
}


@with_files
@pytest.mark.parametrize("method", ATTACKS)
def test_attacks_find_the_rows_that_they_find_with_the_file(saved, method):
    net = network(4, 16, 3)
    ours, theirs = (hm.attack(f, X, method=method, **ATTACKS[method]) for f in (net, saved(net)))
    np.testing.assert_allclose(ours.adversarial, theirs.adversarial, rtol=0, atol=1e-9)
    assert ours.outcome.tolist() == theirs.outcome.tolist() and ours.success.any()
    assert ours.evaluations.tolist() == theirs.evaluations.tolist()
    narrow = net.float()
    ours, theirs = (hm.attack(f, X, method=method, **ATTACKS[method]) for f in (narrow, saved(narrow)))
    near = np.abs(ours.adversarial - theirs.adversarial).max(axis=1) < 1e-4
    assert near.mean() > 0.9  # a sign may turn on the last bit


@with_files
def test_images_are_those_of_the_file(saved):
    """The file takes plain rows and shapes them itself."""
    net, rows = images(), RNG.uniform(size=(6, 2, 6, 5))
    path = saved(nn.Sequential(nn.Unflatten(1, (2, 6, 5)), net))
    flat = rows.reshape(6, -1)
    for shaped in (rows, torch.from_numpy(rows), torch.from_numpy(rows).requires_grad_()):
        np.testing.assert_allclose(hm.gamma(net, shaped, 0.1).gamma, hm.gamma(path, flat, 0.1).gamma, rtol=0, atol=1e-12)
    ours, theirs = (hm.attack(f, x, method="pgd", epsilon=0.1) for f, x in ((net, rows), (path, flat)))
    np.testing.assert_allclose(ours.adversarial, theirs.adversarial, rtol=0, atol=1e-9)
    found = hm.boundary(net, rows[:1], rows[1:])
    np.testing.assert_allclose(found.t, hm.boundary(path, flat[:1], flat[1:]).t, rtol=0, atol=1e-9)


@with_files
def test_images_of_files_by_their_description(saved, tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(3):
        Image.fromarray(RNG.integers(0, 256, (6, 5, 3)).astype(np.uint8)).save(folder / f"{k}.png")
    description = {"height": 6, "width": 5, "channels": "bgr", "mean": [0.4, 0.5, 0.6], "std": 0.25}
    (tmp_path / "net.json").write_text(json.dumps(description))
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 3))
    ours, theirs = (hm.gamma(f, str(folder), 20, description=tmp_path / "net.json") for f in (net, saved(net)))
    np.testing.assert_allclose(ours.gamma, theirs.gamma, rtol=1e-5, atol=1e-6)
    assert ours.gamma.max() > 1e-4


def test_gradients_are_the_differences_of_the_answers():
    net, rows = images(), RNG.uniform(size=(5, 60))
    module = Module(net, (2, 6, 5))
    assert module.learn(rows[0]) == 3
    weights = RNG.normal(size=(5, 3))
    answers, pull_back = module.gradient(rows.copy())
    np.testing.assert_array_equal(answers, module(rows.copy()))
    got, step = pull_back(weights), 1e-6
    for j in range(60):
        move = np.eye(60)[j] * step
        slope = ((module(rows + move) - module(rows - move)) * weights).sum(axis=1) / (2 * step)
        np.testing.assert_allclose(got[:, j], slope, rtol=1e-5, atol=1e-8)


WEIGHT = torch.ones(1, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("answer", [lambda x: x.argmax(1), lambda x: x.detach()[:, :2], lambda x: WEIGHT * torch.ones(len(x), 2)])
def test_answers_that_do_not_depend_on_the_rows_have_gradient_zero(answer):
    module = Module(Answer(answer), (4,), np.float64)
    outputs = module.learn(X[0])
    _, pull_back = module.gradient(X.copy())
    assert not pull_back(np.ones((len(X), outputs))).any()


def test_a_module_is_left_as_it_was():
    net = images().train()
    net[1].eval()  # a part that its owner froze
    net[0].weight.requires_grad_(False)
    net(torch.ones(2, 2, 6, 5, dtype=torch.float64)).sum().backward()
    rows = RNG.uniform(size=(6, 2, 6, 5))
    before = copy.deepcopy(state(net))
    with torch.no_grad():
        in_no_grad = hm.attack(net, rows, method="pgd", epsilon=0.1).adversarial
    with torch.inference_mode():
        np.testing.assert_array_equal(hm.attack(net, rows, method="pgd", epsilon=0.1).adversarial, in_no_grad)
    found = hm.gamma(net, rows, 0.1, threads=4).gamma
    assert same(state(net), before)
    np.testing.assert_array_equal(found, hm.gamma(copy.deepcopy(net).eval(), rows, 0.1).gamma)


def test_the_mode_comes_back_the_way_it_went():
    """Some modules do more in train() than to set their mode, and undo it the same way."""

    class Folds(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.extra = nn.Parameter(torch.ones(4)), nn.Parameter(torch.ones(4))
            self.folded = False

        def train(self, mode=True):
            if mode == self.folded:
                self.weight.data += -self.extra if mode else self.extra
                self.folded = not mode
            return super().train(mode)

        def forward(self, x):
            return x * (self.weight if self.folded else self.weight + self.extra)

    net = nn.Sequential(Folds(), Folds())
    hm.gamma(net, X, 0.1)
    assert not net[0].folded and net[0].weight.tolist() == [1] * 4 and net.training and net[1].training


def test_a_failing_module_is_left_in_its_mode():
    class Fails(nn.Module):
        def forward(self, x):
            raise KeyError("the module's own")

    net = Fails()
    with pytest.raises(KeyError, match="the module's own") as raised:
        hm.gamma(net, X, 0.1)
    assert net.training and raised.traceback[-1].name == "forward"


def test_every_measure_takes_modules():
    """And answers as with the same network as a function."""
    net = network(4, 16, 3)

    def function(rows):
        with torch.no_grad():
            return net(torch.from_numpy(rows)).numpy()

    np.testing.assert_array_equal(hm.gamma(net, X, 0.5).gamma, hm.gamma(function, X, 0.5).gamma)
    both = hm.compare({"module": net, "function": function}, X, 0.5)
    np.testing.assert_array_equal(both.gamma[0], both.gamma[1])
    assert hm.sweep(net, X, [0.1, 0.5]).mean.tolist() == hm.sweep(function, X, [0.1, 0.5]).mean.tolist()
    for measure in (
        lambda f: hm.stability(f, X, sigma=[0.1, 1], samples=50).probability,
        lambda f: hm.persistence(f, X[:4], gamma=0.7).sigma,
        lambda f: hm.persistence(f, between=(torch.from_numpy(X[0]), X[1]), steps=3).sigma,
        lambda f: hm.boundary(f, X[:4], X[4:8]).t,
        lambda f: hm.attack(f, X, 0.5, steps=3).adversarial,
        lambda f: hm.map(f, X, 0.5, steps=2).gamma,
    ):
        np.testing.assert_array_equal(measure(net), measure(function))
    assert len(hm.gamma(net, pd.DataFrame(X, columns=list("abcd")), 0.5)) == len(X)


@pytest.mark.parametrize("answer", [
    lambda x: (x[:, :2] * x[:, 1:3], x),
    lambda x: [x[:, :2] * x[:, 1:3]],
    lambda x: ((x[:, :2] * x[:, 1:3],), x),
    lambda x: (x[:, :2] * x[:, 1:3]).squeeze(),
    lambda x: (x[:, :2] * x[:, 1:3]).reshape(-1, 2, 1),
])  # fmt: skip
def test_forms_of_answers(answer):
    for rows in (X, X[:1]):
        result = hm.gamma(Answer(answer), rows, 0.5, dtype=np.float64, output="all", ball="cross")
        expected = hm.gamma(lambda x: x[:, :2] * x[:, 1:3], rows, 0.5, output="all", ball="cross")
        np.testing.assert_allclose(result.gamma, expected.gamma, atol=1e-12)


@pytest.mark.parametrize("answer, words", [
    (lambda x: {"logits": x}, "model Answer answers with dict; expected a tensor of numbers, rows × outputs, or a tuple or list that begins"),
    (lambda x: "yes", "answers with str"),
    (lambda x: x.numpy(), "answers with ndarray"),
    (lambda x: (), "answers with tuple"),
    (lambda x: x + 1j, "answers with complex numbers"),
    (lambda x: x.mean(0, keepdim=True), r"answers 2 rows with a tensor of shape \[1, 4\]; expected as many rows"),
    (lambda x: x.sum(), r"answers 2 rows with a tensor of shape \[\]; expected as many rows"),
    (lambda x: x[:, :0], r"answers 2 rows with a tensor of shape \[2, 0\]; expected as many rows"),
    (lambda x: x if len(x) == 2 else x[:, :2], r"with a tensor of shape \[\d+, 2\]; expected \[\d+, 4\]"),
])  # fmt: skip
def test_answers_that_are_none(answer, words):
    with pytest.raises(hm.ModelError, match=words):
        hm.gamma(Answer(answer), X, 0.5)


def test_types_and_devices():
    seen = []

    def look(x):
        seen.append((x.dtype, x.device.type))
        return x * x

    hm.gamma(Answer(look), X, 0.5)
    hm.gamma(Answer(look), X, 0.5, dtype=np.float64)
    held = Answer(look)
    held.register_buffer("held", torch.ones(1, dtype=torch.float64))
    hm.gamma(held, X, 0.5)
    assert list(dict.fromkeys(seen)) == [(torch.float32, "cpu"), (torch.float64, "cpu")]
    assert seen[-1][0] == torch.float64


def test_a_gpu_multiplies_whole_factors():
    """What is switched for a call, which needs no GPU, and switched back."""
    module, backends = Module(nn.Linear(2, 2), (2,)), torch.backends
    module.device = torch.device("cuda")
    switches = [(backends.cuda.matmul, "allow_tf32"), (backends.cudnn, "allow_tf32")]
    before = [getattr(*switch) for switch in switches]
    try:
        for allowed in ((False, True), (True, True), (False, False)):
            for switch, value in zip(switches, allowed):
                setattr(*switch, value)
            with module._evaluating():
                assert [getattr(*switch) for switch in switches] == [False, False]
            assert [getattr(*switch) for switch in switches] == list(allowed)
    finally:
        for switch, value in zip(switches, before):
            setattr(*switch, value)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_modules_on_a_gpu():
    net, rows = images(), RNG.uniform(size=(6, 2, 6, 5))
    on_cpu = hm.gamma(net, rows, 0.1).gamma, hm.attack(net, rows, method="pgd", epsilon=0.1).adversarial
    net = net.cuda()
    on_gpu = hm.gamma(net, torch.from_numpy(rows).cuda(), 0.1).gamma, hm.attack(net, rows, method="pgd", epsilon=0.1).adversarial
    np.testing.assert_allclose(on_gpu[0], on_cpu[0], atol=1e-12)
    np.testing.assert_allclose(on_gpu[1], on_cpu[1], atol=1e-9)


def test_rows_of_images_or_plain():
    """A network that wants plain rows gets them, of an array of images too."""
    net, rows = network(16, 8, 2), RNG.uniform(size=(5, 1, 4, 4))
    np.testing.assert_array_equal(hm.gamma(net, rows, 0.1).gamma, hm.gamma(net, rows.reshape(5, 16), 0.1).gamma)
    with pytest.raises(RuntimeError, match=r"shape|size"):
        hm.gamma(network(7, 2), rows, 0.1)
    for models in (lambda x: x, "fn:f2"):
        with pytest.raises(hm.InputError, match=r"shape \(5, 1, 4, 4\); expected rows × features"):
            hm.gamma(models, rows, 0.1)
    with pytest.raises(hm.UsageError, match="columns and drop are of rows × features"):
        hm.gamma(net, rows, 0.1, columns=[1])


def test_mistakes():
    net = network(4, 2)
    for options, words in (({"margin": True}, "margin is for"), ({"as_frame": True}, "as_frame is for"), ({"dtype": int}, "dtype is int64")):
        with pytest.raises(hm.UsageError, match=words):
            hm.gamma(net, X, 0.1, **options)
    with pytest.raises(hm.InputError, match="column 'b' holds no numbers, and a torch.nn.Module takes tensors; drop it"):
        hm.gamma(net, pd.DataFrame({"a": [1.0], "b": ["x"]}), 0.1)
    with pytest.raises(hm.InputError, match="row 0, column 1 is missing"):
        hm.gamma(net, [[1.0, np.nan, 1, 1]], 0.1)
    with pytest.raises(hm.ModelError, match="not initialised yet; call it with a batch first"):
        hm.gamma(nn.LazyLinear(3), X, 0.1)
    with pytest.raises(hm.ModelError, match="on the device meta, which have no values"):
        hm.gamma(nn.Linear(4, 2, device="meta"), X, 0.1)
    with pytest.raises(hm.UsageError, match="target 5; model Sequential has the classes 0 to 1"):
        hm.attack(net, X, method="fgsm", epsilon=0.1, target=5)


def test_half_precision_warns_and_the_result_says_so(root):
    net = network(4, 16, 3, dtype=torch.bfloat16)
    words = "weights of Sequential are of type bfloat16, whose rounding is larger than most gammas"
    with pytest.warns(hm.HarmoniaWarning, match=words) as raised:
        result = hm.gamma(net, X, 0.5).to_dict()
    assert raised[0].filename == __file__
    jsonschema.validate(result, json.loads((root / "docs" / "result.schema.json").read_text()))
    assert words in result["model"]["warning"]
    with pytest.warns(hm.HarmoniaWarning, match=words):
        both = json.loads(hm.compare([net, network(4, 3)], X, 0.5).to_json())
    jsonschema.validate(both, json.loads((root / "docs" / "result.schema.json").read_text()))
    assert ["warning" in model for model in both["models"]] == [True, False]
    for measure in (
        lambda: hm.sweep(net, X, [0.1, 0.5]),
        lambda: hm.stability(net, X[:2], sigma=[1.0], samples=10),
        lambda: hm.persistence(net, X[:2], gamma=0.7),
        lambda: hm.boundary(net, X[:2], X[2:4]),
        lambda: hm.attack(net, X[:2], method="fgsm", epsilon=0.1),
        lambda: hm.alignment(net, X, components=2),
        lambda: hm.map(net, X, 0.5, steps=2),
    ):
        with pytest.warns(hm.HarmoniaWarning, match=words):
            assert words in measure().to_html()


def golden():
    """Outputs with the gradients ±(1, 2, 2)."""
    net = nn.Linear(3, 2).double()
    net.weight.data = torch.tensor([[1, 2, 2], [-1, -2, -2]], dtype=torch.float64)
    return net


@pytest.mark.parametrize("paper, ratio", [(False, 1.3416408), (True, 1.5902596)])
def test_alignment_has_the_golden_values(paper, ratio):
    lines = np.array([[t, 0, 0] for t in (-2, -1, 1, 2)] + [[t, t, 0] for t in (-2, -1, 1, 2)], dtype=float)
    labels = np.repeat([0, 1], 4)
    for y in (labels, torch.from_numpy(labels), labels.astype(float), labels.tolist()):
        result = hm.alignment(golden(), lines, y, components=1, by_label=True, paper=paper)
        np.testing.assert_allclose(result.ratio, ratio, atol=1e-6)
        np.testing.assert_allclose(result.cosine, 1 / ratio, atol=1e-6)
    frame = pd.DataFrame(lines, columns=list("abc"), index=list("stuvwxyz")).assign(digit=labels)
    named = hm.alignment(golden(), frame, label="digit", components=1, by_label=True, paper=paper)
    np.testing.assert_array_equal(named.cosine, result.cosine)
    assert named.to_frame().index.tolist() == list("stuvwxyz") and set(named.outcome) == {"measured"}


@with_files
def test_alignment_is_that_of_the_file(saved):
    net, y = network(4, 16, 3), RNG.integers(0, 3, len(X))
    plane = RNG.normal(size=(50, 4)) * [3, 2, 1, 0.1]
    for options in ({}, {"y": y}, {"manifold": plane}, {"gradient": "output"}):
        ours, theirs = (hm.alignment(f, X, components=2, **options) for f in (net, saved(net)))
        np.testing.assert_allclose(ours.cosine, theirs.cosine, atol=1e-9)
        assert json.loads(ours.to_json())["evaluations"] == json.loads(theirs.to_json())["evaluations"] == len(X) + 2
    probabilities = nn.Sequential(net, nn.Softmax(1))  # the loss is the same, and so is its gradient
    again = hm.alignment(probabilities, X, components=2, outputs="probabilities")
    np.testing.assert_allclose(again.cosine, hm.alignment(net, X, components=2).cosine, atol=1e-9)


def test_pytorch_is_loaded_by_its_user_alone(package):
    code = "import sys, harmonia; harmonia.gamma(lambda x: x[:, 0], [[1.0, 2.0]]); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": f"{package}:{os.environ.get('PYTHONPATH', '')}"},
                          capture_output=True, text=True, timeout=60)  # fmt: skip
    assert done.stdout == "False\n", done.stderr
