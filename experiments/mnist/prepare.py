"""Trains one network, attacks it, and writes what is measured. Started by `prepare`, with Debian's Python.

    prepare.py --mnist DIR --out DIR --network NAME --epochs N --images N --deeper N --stops 0 0.9 …

Into the folder it writes
    net.onnx           the network: pixels → logits
    natural.npy, .csv  test images drawn at random, nine for every image that is attacked; label and class of each
    attacks.csv        every attack: image, label, target, whether it got there, how far the image was moved
    adversarial-STOP.npy   the attacks that got there, in the order of the column `row` of attacks.csv
    one.npy, .csv      an image of a 1 and its nine adversarial images
    training.json      accuracies, and how long it took
"""

import argparse
import csv
import json
import time
from pathlib import Path

import numpy as np
import torch

from attack import STEP, attack, towards_others
from models import CLASSES, NETWORKS, REACHED, SEED, stop_name
from train import Images, accuracy, classes, export, read_images, train

ATTACK_COLUMNS = ["stop", "row", "source", "label", "target", "success", "steps", "distortion", "probability", "margin"]


def write_rows(path: Path, header: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def save(path: Path, pixels: torch.Tensor) -> None:
    np.save(path, np.ascontiguousarray(pixels.numpy(), np.float32))


def natural(model: torch.nn.Sequential, test: Images, count: int, order: torch.Tensor, out: Path) -> None:
    """The first `count` images of a random order, whatever the network makes of them."""
    rows = order[:count]
    save(out / "natural.npy", test.pixels[rows])
    found = classes(model, test.pixels[rows])
    columns = zip(range(count), rows.tolist(), test.labels[rows].tolist(), found.tolist())
    write_rows(out / "natural.csv", ["row", "source", "label", "class"], [list(line) for line in columns])


def adversarial(model: torch.nn.Sequential, test: Images, sources: torch.Tensor, deeper: int, stops: tuple[float, ...], out: Path) -> dict:
    """Attacks on `sources` towards all other classes; those that go on past the boundary for the first `deeper` of them."""
    image, targets = towards_others(test.labels[sources])
    start = time.monotonic()
    found = attack(model, test.pixels[sources][image], targets, stops)
    lines, summary = [], {}
    for stop, attacked in found.items():
        count = len(targets) if stop == REACHED else deeper * (CLASSES - 1)
        kept = attacked.success[:count]
        save(out / f"adversarial-{stop_name(stop)}.npy", attacked.pixels[:count][kept])
        numbers = (kept.cumsum(0) - 1).tolist()
        for k in range(count):
            done = bool(kept[k])
            source = int(sources[image[k]])
            lines.append([stop_name(stop), numbers[k] if done else "", source, int(test.labels[source]), int(targets[k]), int(done),
                          int(attacked.steps[k]), *(f"{float(v[k]):.7g}" for v in (attacked.distortion, attacked.probability, attacked.margin))])  # fmt: skip
        summary[stop_name(stop)] = {"attacks": count, "successes": int(kept.sum())}
    write_rows(out / "attacks.csv", ATTACK_COLUMNS, lines)
    return {"step": STEP, "seconds": time.monotonic() - start, "stops": summary}


def one(model: torch.nn.Sequential, test: Images, source: int, out: Path) -> None:
    """An image of a 1, and what the attacks made of it."""
    image, targets = towards_others(test.labels[[source]])
    found = attack(model, test.pixels[[source]][image], targets, (REACHED,))[REACHED]
    save(out / "one.npy", torch.cat([test.pixels[[source]], found.pixels]))
    lines = [[0, source, 1, "", 1, "0"]]
    lines += [[k + 1, source, 1, int(targets[k]), int(found.success[k]), f"{float(found.distortion[k]):.7g}"] for k in range(len(targets))]
    write_rows(out / "one.csv", ["row", "source", "label", "target", "success", "distortion"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mnist", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--network", choices=list(NETWORKS), required=True)
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--images", type=int, required=True)
    parser.add_argument("--deeper", type=int, required=True)
    parser.add_argument("--stops", type=float, nargs="+", required=True)
    options = parser.parse_args()

    torch.set_num_threads(1)  # sums, and so the networks, depend on the number of threads
    training, test = read_images(options.mnist, "train", 60_000), read_images(options.mnist, "t10k", 10_000)
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    model = train(NETWORKS[options.network], training, options.epochs, SEED)
    seconds = time.monotonic() - start
    export(model, out / "net.onnx")

    # The same orders for every network. Attacked are the first that the network has right: one that it has wrong needs no attack.
    draws = torch.Generator().manual_seed(SEED)
    natural_order, attack_order = (torch.randperm(len(test.labels), generator=draws) for _ in range(2))
    right = attack_order[(classes(model, test.pixels) == test.labels)[attack_order]]
    natural(model, test, options.images * (CLASSES - 1), natural_order, out)
    attacks = adversarial(model, test, right[: options.images], options.deeper, tuple(options.stops), out)
    one(model, test, int(right[test.labels[right] == 1][0]), out)

    told = {"network": options.network, "epochs": options.epochs, "seconds": seconds, "train_accuracy": accuracy(model, training),
            "test_accuracy": accuracy(model, test), "torch": torch.__version__, "attacks": attacks}  # fmt: skip
    (out / "training.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    reached = attacks["stops"][stop_name(REACHED)]
    print(f"  {NETWORKS[options.network].title}: test accuracy {100 * told['test_accuracy']:.2f} %, trained in {seconds:.0f} s; "
          f"{reached['successes']} of {reached['attacks']} attacks reach their class, in {attacks['seconds']:.0f} s", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
