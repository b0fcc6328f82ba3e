"""gamma in training loops of PyTorch, and the examples that need it. Runs under a Python that has PyTorch."""

import doctest
import re

import numpy as np
import pytest
import torch
from torch import nn

import harmonia as hm
import harmonia.pytorch

X = np.random.default_rng(3).normal(size=(24, 4))


def train(watch=None, epochs=30, seed=0):
    """A network with dropout on labels with noise."""
    rng = np.random.default_rng(seed)
    rows = torch.from_numpy(rng.normal(size=(60, 2))).float()
    labels = torch.from_numpy(((rows[:, 0] > 0).numpy() ^ (rng.random(60) < 0.25)).astype(np.int64))
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Dropout(0.05), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    watch = watch and watch(net, rows)
    losses = []
    for epoch in range(epochs):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(rows), labels)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
        if watch and watch(epoch, loss, losses[-1] + 1):
            break
    return net, watch, losses


def test_the_callback_logs_beside_the_losses():
    net, watch, losses = train(lambda net, rows: hm.pytorch.GammaCallback(net, rows, 0.1, period=10))
    history = watch.history
    assert history["round"] == [0, 10, 20] and watch.stopped is None
    assert history["loss"] == [losses[i] for i in (0, 10, 20)]
    assert history["validation_loss"] == [losses[i] + 1 for i in (0, 10, 20)]
    assert all(low <= mean <= high for low, mean, high in zip(history["low"], history["gamma"], history["high"]))
    again = hm.pytorch.GammaCallback(net, torch.zeros(3, 2), 0.1)
    assert not again(7) and not again(8) and again.history["round"] == [7, 8]
    assert np.isnan(again.history["loss"]).all() and np.isnan(again.history["validation_loss"]).all()
    assert not again(0) and again.history["round"] == [0]


def test_training_goes_the_same_way_with_the_callback():
    plain = train()[0]
    watched = train(lambda net, rows: hm.pytorch.GammaCallback(net, rows, 0.1))[0]
    assert all(map(torch.equal, plain.state_dict().values(), watched.state_dict().values()))

    class Draws(nn.Module):
        def forward(self, x):
            return x + torch.randn_like(x)

    before = torch.get_rng_state()
    hm.pytorch.GammaCallback(Draws(), X, 0.1)(0)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_callback_stops_when_gamma_climbs():
    _, watch, losses = train(lambda net, rows: hm.pytorch.GammaCallback(net, rows, 0.1, stop=True, patience=3), epochs=300)
    assert watch.stopped is not None and watch.stopped == len(losses) - 1 < 299
    assert losses[-1] < losses[0]
    _, watch, losses = train(lambda net, rows: hm.pytorch.GammaCallback(net, rows, 0.1, stop=True, rise=1e4), epochs=20)
    assert watch.stopped is None and len(losses) == 20


def test_mistakes_with_the_callback():
    with pytest.raises(hm.UsageError, match="the model is function; expected a torch.nn.Module"):
        hm.pytorch.GammaCallback(train, X)
    with pytest.raises(hm.UsageError, match="stop=True needs the training loss"):
        hm.pytorch.GammaCallback(nn.Linear(4, 2), X, stop=True)(0)


def test_examples_of_the_docstrings_and_the_readme(root, tmp_path, monkeypatch):
    for module in (hm.pytorch, hm._alignment):
        assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0
    assert ">>>" in hm.pytorch.GammaCallback.__doc__
    blocks = re.findall(r"^```python\n(.*?)^```", (root / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    (example,) = (block for block in blocks if "torch" in block)
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile(example, "README.md", "exec"), names)
    assert names["attacked"].success.any() and names["watch"].history["gamma"]
