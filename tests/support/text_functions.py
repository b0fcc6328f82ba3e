"""Functions that answer and embed as a test of harmonia.text wants them."""

import math

import numpy as np

PROMPTS = ["First one?", "Second?"]


def at_angles(texts):
    """The text "0.3" lies at the angle 0.3; others at a right angle."""
    angles = [float(text) if text.startswith(("0.", "-0.")) else math.pi / 2 for text in texts]
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def spread(texts):
    """Directions of 8 numbers that depend on the text alone."""
    return np.array([np.random.default_rng(list(text.encode("utf-8"))).normal(size=8) for text in texts])


def moved(prompt):
    """Answers to variants of the first prompt lie 0.3 from its own; the second's stay."""
    return "0.4" if prompt.startswith(PROMPTS[0]) and prompt != PROMPTS[0] else "0.1"


def wordy(prompt):
    """Another answer to every variant, near the prompt's own."""
    return f"{len(prompt)} {sum(map(ord, prompt)) % 5}"
