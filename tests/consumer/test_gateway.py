"""Any client gets gamma by changing its base URL: OpenAI's own, before llama.cpp's server, with the local embedder."""

import openai
import pytest
from support.gateway import running_gateway
from support.llama_server import MODEL

QUESTION = [{"role": "user", "content": "What is the capital of France?"}]


@pytest.fixture(scope="module")
def gateway(program, llama_server, embedder):
    options = ["--embed", f"local:{embedder}", "--variants", 4, "--max-tokens", 24, "--budget-ms", 300000]
    with running_gateway(program, llama_server + "/v1", *options) as running:
        yield running


@pytest.fixture(scope="module")
def client(gateway):
    return openai.OpenAI(base_url=gateway.url, api_key="none", max_retries=0, timeout=300)


def ask(client, **more):
    return client.chat.completions.create(model=MODEL, messages=QUESTION, temperature=0, seed=1, max_tokens=24, **more)


def check(found: dict) -> None:
    assert found["status"] == "measured", found
    assert (found["variants"], found["convention"], found["family"]) == (4, "angle", "appended")
    assert 0 <= found["low"] <= found["gamma"] <= found["high"] <= 3.15
    assert found["gamma"] <= found["plain"] + 1e-9
    assert 0 <= found["changed"] <= 4
    assert (found["changed"] == 0) == (found["plain"] == 0)
    assert 0 < found["resultant"] <= 1 + 1e-6
    assert found["band"] in ("probably trustworthy", "possible hallucination", "likely hallucination")
    assert found["calls"] == 4
    assert found["tokens"] > 0


def test_a_plain_call(client, llama_server):
    direct = openai.OpenAI(base_url=llama_server + "/v1", api_key="none")
    through, straight = ask(client, extra_headers={"X-Harmonia": "skip"}), ask(direct)
    assert through.choices == straight.choices
    assert "harmonia" not in through.model_extra


def test_a_measured_call(client, gateway):
    raw = client.chat.completions.with_raw_response.create(
        model=MODEL, messages=QUESTION, temperature=0, seed=1, max_tokens=24, extra_headers={"X-Harmonia": "measure"})  # fmt: skip
    answer = raw.parse()
    assert answer.choices[0].message.content.strip()
    found = answer.model_extra["harmonia"]
    check(found)
    assert raw.headers["X-Harmonia-Id"] == found["id"]
    assert float(raw.headers["X-Harmonia-Gamma"]) == pytest.approx(found["gamma"], rel=1e-5)
    assert raw.headers["X-Harmonia-Band"] == found["band"]
    assert gateway.gamma(answer.id) == found


def test_a_streamed_call_is_measured_later(client, gateway, llama_server):
    pieces = list(ask(client, stream=True, extra_headers={"X-Harmonia": "measure"}))
    text = "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)
    direct = openai.OpenAI(base_url=llama_server + "/v1", api_key="none")
    assert text == ask(direct).choices[0].message.content
    check(gateway.gamma(pieces[0].id, 300))


def test_errors_and_other_calls_pass(client):
    assert [model.id for model in client.models.list()] == [MODEL]
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(model=MODEL, messages="no list", extra_headers={"X-Harmonia": "measure"})
    assert "harmonia" not in str(refused.value)
    assert refused.value.response.headers.get("X-Harmonia-Id") is None


def test_a_wrong_gateway_key(program, llama_server, embedder, tmp_path):
    key = tmp_path / "key"
    key.write_text("right\n")
    with running_gateway(program, llama_server + "/v1", "--embed", f"local:{embedder}", "--gateway-key-file", key) as gateway:
        with pytest.raises(openai.AuthenticationError, match="gateway's key"):
            openai.OpenAI(base_url=gateway.url, api_key="wrong", max_retries=0).models.list()
        assert openai.OpenAI(base_url=gateway.url, api_key="right").models.list().data[0].id == MODEL
