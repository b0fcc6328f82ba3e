"""What the paper's Table 1 says of its networks. Needs nothing but Python."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """A line of the paper's Table 1, of 300 natural and 300 adversarial images made with L-BFGS."""

    accuracy: float
    distortion: float
    natural: float
    adversarial: float


PUBLISHED = {
    "fc10-4": Published(0.9209, 0.123, 0.93, 1.68),
    "fc10-2": Published(0.9077, 0.178, 1.37, 4.25),
    "fc10-0": Published(0.8689, 0.278, 1.92, 12.22),
    "fc100-100-10": Published(0.9731, 0.086, 0.65, 0.56),
    "fc200-200-10": Published(0.9761, 0.087, 0.73, 0.56),
    "c-2": Published(0.9594, 0.09, 3.33, 0.027),
    "c-4": Published(0.9736, 0.12, 0.35, 0.027),
    "c-8": Published(0.9850, 0.11, 0.43, 0.0517),
    "c-16": Published(0.9890, 0.11, 0.53, 0.0994),
    "c-32": Published(0.9896, 0.11, 0.78, 0.0836),
    "c-64": Published(0.9900, 0.10, 0.81, 0.0865),
    "c-128": Published(0.9917, 0.11, 0.77, 0.0883),
    "c-256": Published(0.9909, 0.11, 0.83, 0.0900),
    "c-512": Published(0.9922, 0.10, 0.793, 0.0929),
}
