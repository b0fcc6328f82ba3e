"""The language model that texts are measured with: SmolLM2-135M-Instruct, served by llama.cpp on the loopback interface."""

import pytest
from support.llama_server import MODEL, ask


@pytest.fixture(scope="module")
def answer(llama_server):
    """Asks one thing at temperature 0, with nothing kept from an earlier prompt."""

    def run(prompt: str, **parameters) -> dict:
        body = {"model": MODEL, "messages": [{"role": "user", "content": prompt}], "temperature": 0, "seed": 1, "max_tokens": 32,
                "cache_prompt": False, **parameters}
        return ask(llama_server + "/v1/chat/completions", body)

    return run


def test_an_answer_is_the_same_again(answer):
    first, second = (answer("What is the capital of France?") for _ in range(2))
    (choice,) = first["choices"]
    assert choice["message"]["content"].strip()
    assert second["choices"][0]["message"] == choice["message"]
    assert first["model"] == MODEL
    assert first["usage"]["prompt_tokens"] == second["usage"]["prompt_tokens"] > 0
    assert 0 < first["usage"]["completion_tokens"] <= 32


def test_control_characters_reach_the_model(answer):
    """All of code points 0 to 31 are taken, and count: they are tokens of the prompt."""
    plain = answer("Name a fruit.", max_tokens=1)["usage"]["prompt_tokens"]
    for code in range(32):
        said = answer("Name a fruit. " + 3 * chr(code), max_tokens=1)
        assert said["usage"]["prompt_tokens"] > plain, code
