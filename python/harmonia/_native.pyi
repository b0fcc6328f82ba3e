"""The C++ library behind the package."""

from typing import Any, Callable, Iterator, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

__version__: str
OUTCOMES: list[str]

class Model:
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def inputs(self) -> int: ...
    @property
    def outputs(self) -> int: ...
    @property
    def features(self) -> list[str]: ...
    @property
    def warning(self) -> str: ...
    @property
    def classes(self) -> list[str]: ...
    def evaluate(self, rows: NDArray[np.float64]) -> NDArray[np.float64]: ...

class Images:
    @property
    def row_shape(self) -> list[int]: ...
    def row(self, image: Sequence[float]) -> list[float]: ...
    def measures_logits(self, model: str, margin: bool, output: str) -> bool: ...

class Data:
    @property
    def source(self) -> str: ...
    @property
    def inputs(self) -> int: ...
    @property
    def features(self) -> list[str]: ...
    def first_row(self) -> list[float]: ...
    def values(self) -> NDArray[np.float64]: ...

class Result:
    def columns(self) -> dict[str, Any]: ...
    def summary(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    def values(self) -> NDArray[np.float64]: ...
    @property
    def model(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def outputs(self) -> int: ...
    @property
    def classes(self) -> list[str]: ...
    @property
    def source(self) -> str: ...
    @property
    def features(self) -> list[str]: ...
    @property
    def radius(self) -> float: ...
    @property
    def ball(self) -> str: ...
    @property
    def output(self) -> str: ...
    @property
    def confidence(self) -> float: ...
    @property
    def seed(self) -> int: ...
    @property
    def seconds(self) -> float: ...

def function_model(
    function: Callable[[NDArray[Any]], Any],
    name: str,
    example: Sequence[float],
    float32: bool,
    batch: int,
    reentrant: bool,
    missing: bool,
    binary: bool,
    features: Sequence[str],
    classes: Sequence[str],
) -> Model: ...
def module_model(
    function: Callable[[NDArray[Any]], NDArray[Any]],
    gradient: Callable[
        [NDArray[Any]], tuple[NDArray[Any], Callable[[NDArray[np.float64]], NDArray[Any]]]
    ],
    name: str,
    inputs: int,
    outputs: int,
    example_rows: int,
    float32: bool,
    batch: int,
    missing: bool,
    binary: bool,
    warning: str,
    features: Sequence[str],
    images: Images,
) -> Model: ...
def open_model(
    address: str,
    example: Sequence[float],
    kind: str,
    headers: Sequence[str],
    ca_file: str,
    output_name: str,
    timeout: float,
    retries: int,
    binary: bool,
    missing: bool,
    margin: bool,
    images: Images,
    device: str,
    fast_path: bool,
) -> Model: ...
def ask_images(model: str, description: str, size: str, grey: bool) -> Images: ...
def is_image_data(spec: str) -> bool: ...
def needs_example(address: str, kind: str) -> bool: ...
def memory_data(
    array: NDArray[np.float64], names: Sequence[str], ids: Sequence[str], labels: Sequence[str]
) -> Data: ...
def open_data(
    spec: str,
    columns: Sequence[str],
    drop: Sequence[str],
    id: str,
    label: str,
    inputs: int,
    seed: int,
    images: Images,
    labels: str,
) -> Data: ...
def tree_model(
    file: bytes, kind: str, name: str, margin: bool, complement: bool, classes: Sequence[str]
) -> Model: ...

class GrowingModel(Model):
    def add(self, file: bytes, known: int) -> bool: ...
    @property
    def trees(self) -> int: ...

def growing_model(file: bytes, kind: str, name: str, margin: bool) -> GrowingModel: ...

class Arguments:
    radius: Optional[float]
    ball: str
    average: str
    output: str
    sample: int
    precision: float
    floor: float
    confidence: float
    explain: int
    paper: bool
    batch: int
    scale: str
    schema_file: str
    schema: Optional[str]
    fixed: Sequence[int]
    model_output: str
    margin: bool
    binary: bool
    seed: int
    threads: int
    max_evaluations: int
    images: Images
    pixel_range: str
    call: str

class Comparison:
    def to_json(self) -> str: ...
    def table(self) -> str: ...
    def gamma(self, model: int) -> NDArray[np.float64]: ...
    @property
    def warnings(self) -> list[str]: ...

class Sweep:
    def to_json(self) -> str: ...
    def table(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...

class Stability:
    def to_json(self) -> str: ...
    def table(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...

class Persistence:
    def to_json(self) -> str: ...
    def table(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...

class Map:
    def to_json(self) -> str: ...
    def table(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...

class MapUse:
    def to_json(self) -> str: ...
    def table(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...

class SavedMap:
    @property
    def steps(self) -> int: ...
    @property
    def radius(self) -> float: ...
    @property
    def ball(self) -> str: ...
    @property
    def margin(self) -> bool: ...
    @property
    def model(self) -> str: ...
    @property
    def model_output(self) -> str: ...
    @property
    def sha256(self) -> str: ...
    @property
    def outputs(self) -> str: ...
    @property
    def inputs(self) -> list[str]: ...
    @property
    def means(self) -> list[float]: ...
    @property
    def scales(self) -> list[float]: ...
    @property
    def coefficients(self) -> list[float]: ...
    @property
    def floor(self) -> float: ...
    @property
    def confidence(self) -> float: ...
    def answers(
        self,
        log_odds: Sequence[float],
        gamma: Sequence[float],
        low: Sequence[float],
        high: Sequence[float],
        extra: Optional[NDArray[np.float64]],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...

class Boundary:
    @property
    def warnings(self) -> list[str]: ...
    def to_json(self) -> str: ...
    def table(self) -> str: ...
    def points(self) -> NDArray[np.float64]: ...
    def normals(self) -> NDArray[np.float64]: ...

class GradientOptions:
    def __init__(
        self,
        norm: Optional[str],
        target: Optional[str],
        step_size: float,
        decay: float,
        penalty: float,
        constant: float,
        kappa: float,
        random_start: bool,
        probabilities: bool,
    ) -> None: ...

class Attack:
    warnings: list[str]
    def to_json(self) -> str: ...
    def table(self) -> str: ...
    def adversarial(self) -> NDArray[np.float64]: ...

class Alignment:
    @property
    def warnings(self) -> list[str]: ...
    def to_json(self) -> str: ...
    def table(self) -> str: ...

class Text:
    @property
    def warnings(self) -> list[str]: ...
    def to_json(self) -> str: ...
    def table(self) -> str: ...
    def csv(self) -> str: ...
    def of(self, model: int) -> Text: ...

class LocalEmbedder:
    def __init__(self, folder: str, threads: int) -> None: ...
    @property
    def name(self) -> str: ...
    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]: ...

Progress = Optional[Callable[[int, Optional[int], int], None]]

def gamma(model: Model, data: Data, arguments: Arguments, progress: Progress) -> Result: ...
def compare(
    models: Sequence[Model], names: Sequence[str], data: Data, arguments: Arguments, progress: Progress
) -> Comparison: ...
def sweep(model: Model, data: Data, radii: Sequence[float], arguments: Arguments, progress: Progress) -> Sweep: ...
def boundary(
    model: Model, a: Data, b: Data, arguments: Arguments, steps: int, normal: str, step: float, progress: Progress
) -> Boundary: ...
def parse_radii(text: str) -> list[float]: ...
def stability(
    model: Model,
    data: Data,
    sigmas: Sequence[float],
    samples: int,
    half_width: float,
    gamma: Optional[float],
    within: float,
    noise: str,
    directions: Optional[NDArray[np.float64]],
    image: Sequence[int],
    arguments: Arguments,
    progress: Progress,
) -> Stability: ...
def persistence(
    model: Model,
    data: Data,
    against: Optional[Data],
    end: Optional[Data],
    steps: int,
    gammas: Sequence[float],
    sigma: Optional[tuple[float, float]],
    precision: float,
    samples: int,
    paper: bool,
    paper_precision: float,
    radius: Optional[float],
    noise: str,
    directions: Optional[NDArray[np.float64]],
    arguments: Arguments,
    progress: Progress,
) -> Persistence: ...
def map(
    model: Model,
    data: Data,
    outputs: str,
    steps: int,
    candidates: int,
    lower: Optional[float],
    upper: Optional[float],
    ridge: float,
    folds: int,
    names: Sequence[str],
    values: Optional[NDArray[np.float64]],
    arguments: Arguments,
    progress: Progress,
) -> Map: ...
def use_map(
    map: SavedMap,
    path: str,
    model: Model,
    data: Data,
    names: Sequence[str],
    values: Optional[NDArray[np.float64]],
    arguments: Arguments,
    progress: Progress,
) -> MapUse: ...
def read_map(path: str) -> SavedMap: ...
def parse_map(text: str) -> SavedMap: ...
def log_odds(probabilities: Sequence[float]) -> list[float]: ...
def attack(
    model: Model,
    data: Data,
    method: str,
    against: Optional[str],
    steps: int,
    radius: float,
    lower: Optional[float],
    upper: Optional[float],
    candidates: int,
    epsilon: float,
    paper: bool,
    go_on: bool,
    gradient: GradientOptions,
    image: Sequence[int],
    arguments: Arguments,
    progress: Progress,
) -> Attack: ...
def alignment(
    model: Model,
    data: Data,
    plane: Optional[Data],
    components: int,
    by_label: bool,
    gradient: str,
    probabilities: bool,
    paper: bool,
    arguments: Arguments,
    progress: Progress,
) -> Alignment: ...
def parse_sigmas(text: str) -> list[float]: ...
def report_page(results: Sequence[str]) -> str: ...
def paired_difference(
    gamma_a: Sequence[float],
    split_a: Sequence[float],
    gamma_b: Sequence[float],
    split_b: Sequence[float],
    confidence: float,
) -> tuple[Optional[float], Optional[float], Optional[float]]: ...
def text_gamma(
    models: Sequence[tuple[str, Callable[[Sequence[tuple[str, int]]], Iterator[tuple[int, str, str, str, int]]]]],
    embed: Callable[[Sequence[str]], NDArray[np.float32]],
    embedder: str,
    prompts: Sequence[tuple[str, str, str]],
    source: str,
    variants: int,
    repeats: int,
    families: Sequence[str],
    convention: str,
    isotropy: bool,
    confidence: float,
    seed: int,
    call: str,
    progress: Progress,
) -> Text: ...
def text_ascent(
    model: tuple[str, Callable[[Sequence[tuple[str, int]]], Iterator[tuple[int, str, str, str, int]]]],
    embed: Callable[[Sequence[str]], NDArray[np.float32]],
    prompt: str,
    number: int,
    steps: int,
    variants: int,
    family: str,
    paper: bool,
    confidence: float,
    convention: str,
    seed: int,
    progress: Progress,
) -> dict[str, Any]: ...
def text_families() -> list[tuple[str, str]]: ...
def text_variants(text: str, family: str, count: int, seed: int, number: int) -> list[str]: ...
def text_angle(u: Sequence[float], v: Sequence[float], convention: str) -> float: ...
def read_prompts(path: str) -> list[tuple[str, str, str]]: ...
