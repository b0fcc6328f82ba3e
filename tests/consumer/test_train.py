"""`train` and `project` as a user has them: networks from tables and images, what they are then good for, and the errors."""

import csv
import re
import struct

import numpy as np
import pytest

INPUTS = 6


def crossed(rows, seed):
    """Rows near a plane of the first two features, in which the class is whether both have one sign; the label is the last column."""
    draws = np.random.default_rng(seed).normal(size=(rows, INPUTS))
    classes = (draws[:, 0] * draws[:, 1] > 0).astype(float)
    draws[:, 2:] = 0.1 * draws[:, 2:] + 0.05 * (2 * classes[:, None] - 1)
    return np.column_stack([draws, classes])


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    np.save(folder / "train.npy", crossed(1500, 1))
    np.save(folder / "test.npy", crossed(400, 2))
    return folder


@pytest.fixture
def train(harmonia, torch_library, rows, tmp_path):
    """Trains on the rows; the network, and what was printed."""

    def train(*arguments):
        net = tmp_path / "net.pt"
        done = harmonia("train", rows / "train.npy", "--label", INPUTS, "--hidden", "32,32", "--rate", 0.005, "--epochs", 8,
                        "--threads", 1, "--out", net, *arguments)  # fmt: skip
        assert done.returncode == 0, done.stderr
        return net, done

    return train


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_a_network_is_trained_tested_and_measured(harmonia, train, rows, tmp_path):
    net, done = train("--test", rows / "test.npy", "--penalty", 1e-4, "--csv", tmp_path / "epochs.csv")
    epochs = read(tmp_path / "epochs.csv")
    assert [line["epoch"] for line in epochs] == [str(k) for k in range(1, 9)]
    last = epochs[-1]
    assert float(last["test_low"]) < float(last["test_accuracy"]) < float(last["test_high"])
    assert float(last["test_accuracy"]) > 0.93 and last["alignment"] == ""
    assert float(last["objective"]) == pytest.approx(float(last["cross_entropy"]) + float(last["penalty"]))
    assert re.search(rf"{100 * float(last['test_accuracy']):.2f} % of 400 rows tested are right", done.stdout)
    assert len(re.findall(r"^epoch \d of 8: loss ", done.stderr, re.MULTILINE)) == 8

    found = harmonia("attack", net, rows / "test.npy", "--label", INPUTS, "--method", "pgd", "--epsilon", 0.5, "--adversarial",
                     tmp_path / "found.npy", "--csv", tmp_path / "attacked.csv", "--quiet")  # fmt: skip
    assert found.returncode == 0, found.stderr
    attacked = [line for line in read(tmp_path / "attacked.csv") if line["outcome"] == "changed"]
    moved = np.load(tmp_path / "found.npy")
    assert moved.shape == (len(attacked), INPUTS) and len(attacked) > 10
    natural = np.load(rows / "test.npy")[[int(line["row"]) for line in attacked], :INPUTS]
    assert np.abs(moved - natural).max() <= 0.5 + 1e-6
    measured = harmonia("gamma", net, tmp_path / "found.npy", "--radius", 0.01, "--csv", tmp_path / "gamma.csv", "--quiet")
    assert measured.returncode == 0, measured.stderr
    assert [line["class"] for line in read(tmp_path / "gamma.csv")] == [line["new_class"] for line in attacked]


@pytest.mark.parametrize("term", ["ratio", "cosine", "rejection"])
def test_an_alignment_term_turns_gradients_into_the_plane(harmonia, train, rows, tmp_path, term):
    def cosine(net):
        path = tmp_path / "alignment.csv"
        done = harmonia("alignment", net, rows / "test.npy", "--label", INPUTS, "--components", 2, "--csv", path, "--quiet")
        assert done.returncode == 0, done.stderr
        return np.mean([float(line["cosine"]) for line in read(path)])

    plain = cosine(train()[0])
    net, done = train("--align", term, "--alpha", 1, "--components", 2)
    assert f", {term} " in done.stderr
    assert 1 - cosine(net) < (1 - plain) / 2


def test_images_are_divided_by_255_in_the_network(harmonia, torch_library, tmp_path):
    """Bright and dark halves of 18 × 18 pixels; convolutions."""
    draws = np.random.default_rng(3)
    labels = np.tile([0, 1], 150).astype(np.uint8)
    images = draws.integers(0, 120, (300, 18, 18), dtype=np.uint8)
    images[labels == 0, :, :9] += 100
    images[labels == 1, :, 9:] += 100
    pixels, classes = images.tobytes(), labels.tobytes()
    images, labels, net = tmp_path / "images-idx3-ubyte", tmp_path / "labels-idx1-ubyte", tmp_path / "net.pt"
    images.write_bytes(struct.pack(">IIII", 2051, 300, 18, 18) + pixels)
    labels.write_bytes(struct.pack(">II", 2049, 300) + classes)
    done = harmonia("train", images, "--labels", labels, "--channels", 2, "--hidden", 8, "--epochs", 6, "--rate", 0.01, "--out", net)
    assert done.returncode == 0, done.stderr
    measured = harmonia("gamma", net, images, "--labels", labels, "--radius", 5, "--max-evaluations", 200_000, "--csv",
                        tmp_path / "gamma.csv", "--quiet")  # fmt: skip
    assert measured.returncode == 0, measured.stderr
    lines = [line for line in read(tmp_path / "gamma.csv") if line["class"]]
    assert sum(line["class"] == line["label"] for line in lines) > 0.95 * len(lines) > 0


def test_rows_are_projected_as_by_an_svd(harmonia, rows, tmp_path):
    out = tmp_path / "flat.npy"
    done = harmonia("project", rows / "test.npy", "--label", INPUTS, "--manifold", rows / "train.npy", "--components", 3, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "400 rows in a plane of 3 dimensions" in done.stdout and f"column {INPUTS} is the label" in done.stdout
    fitted, told = np.load(rows / "train.npy")[:, :INPUTS], np.load(rows / "test.npy")
    mean = fitted.mean(0)
    basis = np.linalg.svd(fitted - mean, full_matrices=False)[2][:3]
    flat = np.load(out)
    assert flat.dtype == np.float32
    np.testing.assert_allclose(flat[:, :INPUTS], mean + (told[:, :INPUTS] - mean) @ basis.T @ basis, atol=1e-5)
    np.testing.assert_array_equal(flat[:, INPUTS], told[:, INPUTS])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--epochs", 1], "has no labels; name their column with --label"),
        (["--label", 0], "expected the number of its class, 0, 1, …"),
        (["--label", INPUTS, "--penalty", "1,2,3"], "3 penalties for 1 fully connected layer; expected one for each"),
        (["--label", INPUTS, "--channels", 2], "--image is required: rows of 6 features are no square"),
        (["--label", INPUTS, "--channels", 2, "--image", "2x3"], "are too small for four convolutions"),
        (["--label", INPUTS, "--adversarial", 0.1, "--lower", 1, "--upper", 0], "--lower is not below --upper"),
        (["--label", INPUTS, "--device", "moon"], "--device moon: is no device"),
        (["--label", INPUTS, "--test", "none.npy"], "none.npy"),
        (["--label", INPUTS, "--adversarial", 0.1, "--lower", 5], "expected a value within --lower and --upper"),
        (["--label", INPUTS, "--alpha", 2], "--alpha requires --align"),
        (["--label", INPUTS, "--csv", "nowhere/epochs.csv"], "nowhere"),
    ],
)
def test_what_cannot_be_is_one_line(harmonia, torch_library, rows, tmp_path, arguments, said):
    done = harmonia("train", rows / "train.npy", "--out", tmp_path / "net.pt", *arguments)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and said in done.stderr
    assert not (tmp_path / "net.pt").exists()


def test_nothing_is_written_over_what_is_read(harmonia, rows):
    before = (rows / "train.npy").read_bytes()
    for arguments in (["train", rows / "train.npy", "--label", INPUTS], ["project", rows / "train.npy"],
                      ["train", f"{rows}/train.npy#0", "--label", INPUTS], ["project", f"{rows}/train.npy#0"]):  # fmt: skip
        done = harmonia(*arguments, "--out", rows / "train.npy")
        assert done.returncode == 2 and "named twice" in done.stderr
    assert (rows / "train.npy").read_bytes() == before


@pytest.mark.parametrize("command", ["train", "project"])
def test_columns_in_another_order_are_refused(harmonia, tmp_path, command):
    (tmp_path / "rows.csv").write_text("a,b,y\n0,1,0\n1,0,1\n2,2,0\n")
    (tmp_path / "other.csv").write_text("b,a,y\n0,1,0\n1,0,1\n2,2,0\n")
    other = "--test" if command == "train" else "--manifold"
    done = harmonia(command, tmp_path / "rows.csv", "--label", "y", other, tmp_path / "other.csv", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "has column 'b' where" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("bad", ["nan", "1e300"])
def test_only_finite_numbers_are_projected(harmonia, tmp_path, bad):
    (tmp_path / "rows.csv").write_text("a,b\n0,1\n1,0\n2,2\n")
    (tmp_path / "bad.csv").write_text(f"a,b\n0,1\n1,{bad}\n")
    done = harmonia("project", tmp_path / "bad.csv", "--manifold", tmp_path / "rows.csv", "--components", 1, "--out", tmp_path / "out.npy")
    assert done.returncode == 2
    assert "row 1 of" in done.stderr and "in column b; expected a finite number" in done.stderr
    assert not (tmp_path / "out.npy").exists()
