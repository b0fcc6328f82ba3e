"""What the pages of reports hold."""

import json
import re

#: For scripts in a page: numbers(element) that it shows.
SHOWN = """
const all = (within, what) => [...within.querySelectorAll(what)];
const numbers = (within) => all(within, "data").map((e) => Number(e.getAttribute("value")));
"""


def data_of(page) -> list[dict]:
    """What the program gave the page."""
    return json.loads(re.search(r'id="results">(.*?)</script>', page.read_text(), re.DOTALL).group(1))
