"""harmonia text: endpoints that behave and that do not, runs that are killed, leaderboards, labels."""

import json
import math
import random
import signal
import subprocess
import time
from collections import Counter

import jsonschema
import pytest

from support.chat_stand_in import after, chat_body, running
from support.pages import SHOWN, data_of

PROMPTS = [f"Question number {i}?" for i in range(6)]


@pytest.fixture
def prompts(tmp_path):
    path = tmp_path / "prompts.txt"
    path.write_text("\n".join(PROMPTS) + "\n")
    return path


@pytest.fixture(scope="module")
def schema(root):
    return json.loads((root / "docs" / "result.schema.json").read_text())


def own_prompt(text: str) -> str:
    """The prompt that a text is, or is a variant of."""
    return next(prompt for prompt in PROMPTS if text.startswith(prompt))


def steady(body, _asked):
    return "the answer to " + own_prompt(body["messages"][-1]["content"])


def turning(body, _asked):
    text = body["messages"][-1]["content"]
    return steady(body, 0) if own_prompt(text) != PROMPTS[2] else "this one turns: " + repr(text)


def result_of(done, path):
    assert done.returncode == 0, done.stderr
    return json.loads(path.read_text())


def test_a_run_gives_gamma_with_its_interval(harmonia, prompts, tmp_path, schema):
    with running(turning) as (url, endpoint):
        out = tmp_path / "result.json"
        done = harmonia("text", "--chat", url, "--model", "m", "--embed", url, "--prompts", prompts, "--json", out,
                        "--csv", tmp_path / "rows.csv", "--store", tmp_path / "store", "--key-env", "A_KEY", "--header", "X-More: secret2",
                        env={"A_KEY": "secret1", "PATH": "/usr/bin:/bin"})  # fmt: skip
        result = result_of(done, out)
    jsonschema.validate(result, schema)
    rows = result["rows"]
    assert [row["prompt"] for row in rows] == PROMPTS
    for row in rows:
        moved = row["prompt"] == PROMPTS[2]
        assert row["outcome"] == "measured" and row["variants"] == 10
        assert (row["gamma"] > 0.1) == moved and (row["changed"] == 10) == moved
        assert row["low"] <= row["gamma"] <= row["high"] and row["floor"] == 0
        assert row["band"] == ("likely hallucination" if moved else "probably trustworthy")
        if not moved:
            assert (row["gamma"], row["high"], row["resultant"]) == (0, 0, 1)
    assert result["evaluations"] == len(endpoint.questions) == sum(row["calls"] for row in rows)
    assert result["options"]["convention"] == "angle"
    # Control characters come through as the authors draw them, and each text is asked once but for repeats.
    texts = [text for _, text, _ in endpoint.questions]
    assert any("\x00" in text for text in texts) or any("\x01" in text for text in texts)
    assert Counter(texts)[PROMPTS[0]] == 4
    assert {headers.get("Authorization") for headers in endpoint.headers if "Authorization" in headers} == {"Bearer secret1"}
    everything = done.stdout + done.stderr + out.read_text() + (tmp_path / "rows.csv").read_text()
    everything += (tmp_path / "store").read_bytes().decode("latin-1")
    assert "secret1" not in everything and "secret2" not in everything
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 7


def test_the_page_shows_prompts_and_the_answers_beside_each_other(harmonia, prompts, tmp_path, look):
    page, out = tmp_path / "page.html", tmp_path / "result.json"
    with running(turning) as (url, _):
        done = harmonia("text", "--chat", url, "--model", "m", "--embed", url, "--prompts", prompts, "--html", page, "--json", out, "--no-store")
        result = result_of(done, out)
    (shown,) = data_of(page)
    assert [row["gamma"] for row in shown["rows"]] == [row["gamma"] for row in result["rows"]]
    assert [len(row.get("answers", [])) for row in shown["rows"]] == [0, 0, 10, 0, 0, 0], "answers of those that turn"
    for width in (1100, 360):
        seen = look(page, width=width, script=SHOWN + """
            return {title: document.querySelector("h1").textContent, dots: all(document, "svg circle").length,
                    prompts: all(document, "details.prompt").map((e) => e.querySelector("summary").textContent),
                    quotes: all(document, "details.prompt blockquote").length, wide: document.documentElement.scrollWidth > innerWidth};""")  # fmt: skip
        assert seen["title"] == "Answers of m" and seen["dots"] >= 6 and not seen["wide"]
        assert len(seen["prompts"]) == 1 and PROMPTS[2] in seen["prompts"][0]
        assert seen["quotes"] == 1 + len({entry["answer"] for entry in result["rows"][2]["answers"]})
        lines = look(page, width=width, script="""
            const words = document.createRange();
            words.selectNodeContents([...document.querySelectorAll("td")].find((cell) => cell.textContent === "appended"));
            return words.getClientRects().length;""")  # fmt: skip
        assert lines == 1, "the family's name stays on a line"


def test_what_was_answered_is_not_asked_again(harmonia, prompts, tmp_path):
    with running(turning) as (url, endpoint):
        common = ["text", "--chat", url, "--model", "m", "--embed", url, "--prompts", prompts, "--store", tmp_path / "store"]
        first = result_of(harmonia(*common, "--json", tmp_path / "a.json"), tmp_path / "a.json")
        calls = len(endpoint.questions)
        again = result_of(harmonia(*common, "--json", tmp_path / "b.json"), tmp_path / "b.json")
        assert len(endpoint.questions) == calls and again["evaluations"] == 0
        assert [row["gamma"] for row in again["rows"]] == [row["gamma"] for row in first["rows"]]
        # Twenty variants keep the first ten.
        more = result_of(harmonia(*common, "--variants", 20, "--json", tmp_path / "c.json"), tmp_path / "c.json")
        assert 0 < more["evaluations"] <= 60
        hotter = result_of(harmonia(*common, "--temperature", 0.5, "--json", tmp_path / "d.json"), tmp_path / "d.json")
        assert hotter["evaluations"] == calls


def test_an_endpoint_that_misbehaves_costs_its_own_prompts_alone(harmonia, prompts, tmp_path, schema):
    def write(handler, body, length=None):
        handler.send_response(200)
        handler.send_header("Content-Length", str(length or len(body)))
        handler.end_headers()
        handler.wfile.write(body)
        handler.wfile.flush()
        handler.close_connection = True

    def answer(body, asked):
        text = body["messages"][-1]["content"]
        which = PROMPTS.index(own_prompt(text))
        if which == 0:
            return lambda handler: time.sleep(11)  # hangs
        if which == 1:
            return lambda handler: handler.connection.close()
        if which == 2 and asked == 0:  # takes its time the first time
            return lambda handler: handler.say(b"{}", 429, Retry_After="1")
        if which == 3:
            return lambda handler: write(handler, json.dumps(chat_body("cut")).encode()[:20], 20)
        if which == 4:
            return "" if "\n" not in text else json.dumps(chat_body("x" * 10_000_000)).encode()
        return "fine"

    out = tmp_path / "result.json"
    with running(answer) as (url, _):
        done = harmonia("text", "--chat", url, "--model", "m", "--embed", url, "--prompts", prompts, "--json", out, "--no-store",
                        "--timeout", 5, "--retries", 3, "--in-flight", 64, "--variants", 4)  # fmt: skip
        result = result_of(done, out)
    jsonschema.validate(result, schema)
    outcomes = [row["outcome"] for row in result["rows"]]
    assert outcomes == ["failed", "failed", "measured", "failed", "empty", "measured"]
    assert all(row["reason"] for row in result["rows"] if row["outcome"] != "measured")
    assert "no answer within 5 s" in result["rows"][0]["reason"]
    assert "4 rows without a value" in "".join(result["summary"]["warnings"])
    assert result["rows"][5]["gamma"] == 0


def test_a_text_that_is_refused_is_said_and_not_asked_again(harmonia, prompts, tmp_path):
    out = tmp_path / "result.json"

    def answer(body, _asked):
        return 400 if "\n" in body["messages"][-1]["content"] else "fine"

    with running(answer) as (url, endpoint):
        done = harmonia("text", "--chat", url, "--model", "m", "--embed", url, "--prompts", prompts, "--json", out,
                        "--store", tmp_path / "store", "--variants", 40)  # fmt: skip
        result = result_of(done, out)
    refused = sum(row["refused"] for row in result["rows"])
    assert refused > 0
    assert max(Counter(endpoint.questions).values()) == 1
    assert f"the endpoint refused {refused} variants" in done.stdout + done.stderr


@pytest.mark.parametrize("status", [400, 500])
def test_a_text_that_cannot_be_embedded_costs_its_own_prompt_alone(harmonia, prompts, tmp_path, schema, status):
    out = tmp_path / "result.json"

    def embed(texts):
        return status if any(PROMPTS[1] in text and "answer" in text for text in texts) else None

    with running(steady, embed) as (url, _):
        done = harmonia("text", "--chat", url, "--model", "m", "--embed", url, "--prompts", prompts, "--json", out,
                        "--store", tmp_path / "store", "--retries", 0)  # fmt: skip
        result = result_of(done, out)
    jsonschema.validate(result, schema)
    assert [row["outcome"] for row in result["rows"]] == ["measured", "unembedded"] + 4 * ["measured"]
    assert result["rows"][1]["reason"] == f"endpoint {url}: status {status}: status {status}"
    assert "m: 1 row without a value; the first: endpoint" in done.stdout + done.stderr


@pytest.mark.parametrize("status", [401, 500])
def test_an_embedder_that_embeds_nothing_ends_the_run(harmonia, prompts, tmp_path, status):
    with running(steady, lambda texts: status) as (url, _):
        done = harmonia("text", "--chat", url, "--model", "m", "--embed", url, "--prompts", prompts, "--store", tmp_path / "store", "--retries", 0)
    assert done.returncode == 3
    assert f"status {status}" in done.stderr and len(done.stderr.strip().splitlines()) == 1


def test_an_ascent_prints_its_path(harmonia, prompts, tmp_path, schema):
    out = tmp_path / "result.json"

    def answer(body, _asked):  # the longer the prompt, the more it turns
        text = body["messages"][-1]["content"]
        return "same" if len(text) < 24 else "turns: " + repr(text)

    with running(answer) as (url, _):
        done = harmonia("text", "--chat", url, "--model", "m", "--embed", url, "--prompts", prompts, "--json", out, "--no-store",
                        "--ascend", 2, "--repeats", 0)  # fmt: skip
        result = result_of(done, out)
        paper = result_of(harmonia("text", "--chat", url, "--model", "m", "--embed", url, "--prompts", prompts, "--json", out, "--no-store",
                                   "--ascend", 1, "--paper"), out)  # fmt: skip
    jsonschema.validate(result, schema)
    jsonschema.validate(paper, schema)
    assert [ascent["row"] for ascent in result["summary"]["ascents"]] == list(range(6))
    for ascent in result["summary"]["ascents"]:
        gammas = [step["gamma"] for step in ascent["path"]]
        assert gammas == sorted(gammas) and ascent["best"] == len(gammas) - 1
        assert all(step["prompt"].startswith(PROMPTS[ascent["row"]]) for step in ascent["path"])
    assert all(len(ascent["path"]) == 2 for ascent in paper["summary"]["ascents"])
    assert "ascents of m" in done.stdout
    for row in paper["rows"]:
        assert row["gamma"] == row["plain"] == row["paper"], "what the authors' program says"


def test_a_key_that_an_endpoint_repeats_stays_secret(harmonia, prompts, tmp_path):
    out = tmp_path / "result.json"
    with running(lambda body, asked: b"debug: got Bearer sk-secret-12345") as (url, _):
        done = harmonia("text", "--chat", url, "--model", "m", "--embed", url, "--prompts", prompts, "--json", out, "--store", tmp_path / "store",
                        "--retries", 0, "--key-env", "A_KEY", env={"A_KEY": "sk-secret-12345", "PATH": "/usr/bin:/bin"})  # fmt: skip
    assert "sk-secret" not in done.stdout + done.stderr + out.read_text()
    assert b"sk-secret" not in (tmp_path / "store").read_bytes()


@pytest.mark.parametrize(("status", "words"), [(401, "status 401"), (404, "status 404")])
def test_what_is_wrong_for_all_ends_the_run(harmonia, prompts, tmp_path, status, words):
    with running(lambda body, asked: status) as (url, _):
        done = harmonia("text", "--chat", url, "--model", "m", "--embed", url, "--prompts", prompts, "--store", tmp_path / "store")
    assert done.returncode == 3
    assert words in done.stderr and len(done.stderr.strip().splitlines()) == 1


def test_killed_at_a_random_moment_it_goes_on(harmonia, program, prompts, tmp_path):
    in_flight = 4

    def answer(body, asked):
        return after(0.01, turning(body, asked))

    with running(answer) as (url, undisturbed):
        whole = result_of(harmonia("text", "--chat", url, "--model", "m", "--embed", url, "--prompts", prompts, "--no-store", "--json", tmp_path / "whole.json"), tmp_path / "whole.json")
    with running(answer) as (url, endpoint):
        command = ["text", "--chat", url, "--model", "m", "--embed", url, "--prompts", prompts, "--store", tmp_path / "store",
                   "--in-flight", in_flight, "--json", tmp_path / "result.json"]  # fmt: skip
        draw = random.Random(1)
        kills = 4
        for _ in range(kills):
            started = subprocess.Popen([str(program), *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(draw.uniform(0.02, 0.12))
            started.send_signal(signal.SIGKILL)
            started.wait()
        result = result_of(harmonia(*command), tmp_path / "result.json")
    same = ["prompt", "gamma", "low", "high", "floor", "excess", "band", "answer", "answers", "outcome"]
    assert [{k: row[k] for k in same} for row in result["rows"]] == [{k: row[k] for k in same} for row in whole["rows"]]
    repeated = len(endpoint.questions) - len(set(endpoint.questions))
    assert repeated <= kills * in_flight
    assert set(endpoint.questions) == set(undisturbed.questions)


def test_caps_are_hard_and_a_forecast_makes_no_call(harmonia, prompts, tmp_path, schema):
    out = tmp_path / "result.json"
    with running(steady) as (url, endpoint):
        common = ["text", "--chat", url, "--model", "m", "--embed", url, "--prompts", prompts, "--store", tmp_path / "store"]
        forecast = harmonia(*common, "--dry-run")
        assert forecast.returncode == 0 and "at most 84 chat calls" in forecast.stdout
        assert endpoint.questions == [] and not (tmp_path / "store").exists()
        result = result_of(harmonia(*common, "--max-calls", 30, "--json", out), out)
    jsonschema.validate(result, schema)
    assert len(endpoint.questions) == 30 == result["evaluations"]
    assert [row["outcome"] for row in result["rows"]].count("measured") in (2, 3)
    assert result["rows"][5]["outcome"] == "unasked"
    assert "a cap on calls or tokens was reached" in "".join(result["summary"]["warnings"])


def test_several_models_make_a_leaderboard_and_labels_a_score(harmonia, tmp_path, schema):
    table = tmp_path / "prompts.csv"
    lines = [f"{i},{PROMPTS[0]} part {i},{'facts' if i % 2 else 'odd'},{int(i % 3 > 0)},{5 - i % 3}" for i in range(60)]
    table.write_text("id,prompt,domain,right,stars\n" + "\n".join(lines) + "\n")

    def answer(body, _asked):
        text = body["messages"][-1]["content"]
        if body["temperature"] == 1:
            return f"warm {body['seed'] % 3}"
        part = int(text.split("part ")[1].split()[0])
        return "always" if body["model"] == "calm" or part % 3 else "turns: " + repr(text)

    out = tmp_path / "result.json"
    with running(answer) as (url, _):
        done = harmonia("text", "--chat", url, "--model", "wild", "--model", "calm", "--embed", url, "--prompts", table, "--labels", "right",
                        "--rating", "stars", "--store", tmp_path / "store", "--json", out, "--family", "appended,whitespace")  # fmt: skip
        result = result_of(done, out)
    jsonschema.validate(result, schema)
    assert len(result["rows"]) == 2 * 60 * 2
    for ranking in result["summary"]["rankings"]:
        assert ranking["ranking"] == [["calm"], ["wild"]]
        assert ranking["pairs"][0]["low"] > 0
    scores = {(s["model"], s["score"]): s for s in result["summary"]["labels"]}
    assert scores["wild", "gamma"]["low"] > 0.8 and scores["calm", "gamma"]["auroc"] == 0.5
    assert {score for _, score in scores} == {"gamma", "answer length", "resampling"}
    assert scores["wild", "resampling"]["gamma_minus_this"]["low"] > 0
    rated = [entry for entry in result["summary"]["ratings"] if entry["model"] == "wild"]
    assert [entry["domain"] for entry in rated] == [None, "facts", "odd"]
    assert "steadiest first" in done.stdout and "AUROC" in done.stdout


def test_the_same_name_at_two_addresses_is_two_models(harmonia, prompts, tmp_path, schema):
    out = tmp_path / "result.json"
    with running(steady) as (calm, _), running(turning) as (wild, _):
        done = harmonia("text", "--chat", wild, "--chat", calm + "/", "--model", "m", "--model", "m", "--embed", calm, "--prompts", prompts,
                        "--json", out, "--store", tmp_path / "store")  # fmt: skip
        result = result_of(done, out)
    jsonschema.validate(result, schema)
    names = [f"m at {wild}", f"m at {calm}"]
    assert [model["name"] for model in result["models"]] == names
    assert [model["address"] for model in result["models"]] == [wild, calm]
    assert [row["model"] for row in result["rows"]] == [name for name in names for _ in PROMPTS]
    assert sorted(name for group in result["summary"]["rankings"][0]["ranking"] for name in group) == sorted(names)


def test_an_address_may_end_in_a_slash(harmonia, prompts, tmp_path):
    with running(steady) as (url, endpoint):
        for written in (url, url + "/", url + "/chat/completions"):
            done = harmonia("text", "--chat", written, "--model", "m", "--embed", url, "--prompts", prompts, "--store", tmp_path / "store")
            assert done.returncode == 0, done.stderr
        assert max(Counter(endpoint.questions).values()) == 1, "what is stored is found however the address is written"
        done = harmonia("text", "--chat", url, "--chat", url + "/", "--model", "m", "--model", "m", "--embed", url, "--prompts", prompts)
    assert done.returncode == 2 and "model m is named twice" in done.stderr


def test_without_a_store_the_same_variant_is_asked_once_too(harmonia, tmp_path):
    path = tmp_path / "short.txt"
    path.write_text("2a\n")
    with running(lambda body, asked: "fine") as (url, endpoint):
        done = harmonia("text", "--chat", url, "--model", "m", "--embed", url, "--prompts", path, "--no-store", "--variants", 40, "--family", "case", "--json", tmp_path / "a.json")
        result = result_of(done, tmp_path / "a.json")
    assert max(Counter(endpoint.questions).values()) == 1
    assert result["rows"][0]["variants"] == 40 and result["evaluations"] == len(endpoint.questions) < 40


def test_a_server_that_wants_max_completion_tokens_gets_it(harmonia, prompts, tmp_path):
    limits = []

    def answer(body, _asked):
        limits.append(sorted(key for key in body if key.startswith("max_")))
        if "max_tokens" in body:
            words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
            return lambda handler: handler.say(json.dumps({"error": {"message": words}}).encode(), 400)
        return "fine"

    with running(answer) as (url, _):
        done = harmonia("text", "--chat", url, "--model", "m", "--embed", url, "--prompts", prompts, "--no-store", "--in-flight", 4, "--json", tmp_path / "a.json")
        result = result_of(done, tmp_path / "a.json")
    assert [row["outcome"] for row in result["rows"]] == 6 * ["measured"]
    assert 1 <= limits.count(["max_tokens"]) <= 8, "those that were in flight when the first was refused"
    assert result["evaluations"] == len(limits) == sum(row["calls"] for row in result["rows"])


def test_a_sine_ranks_by_the_angle(harmonia, tmp_path, schema):
    """One model's answers turn by some 80 degrees, the other's by 170: the sine of the second is smaller."""
    out, prompts = tmp_path / "result.json", tmp_path / "prompts.txt"
    asked = [f"{i} of 30?" for i in range(30)]
    prompts.write_text("\n".join(asked))

    def answer(body, _asked):
        text = body["messages"][-1]["content"]
        more = int(text.split()[0]) % 3
        return "0" if text in asked else str({"near": 80, "far": 170}[body["model"]] + more)

    def on_a_circle(text):
        angle = math.radians(float(text)) if text.isdigit() else 0
        return [math.cos(angle), math.sin(angle)]

    with running(answer, embed=on_a_circle) as (url, _):
        done = harmonia("text", "--chat", url, "--model", "far", "--model", "near", "--embed", url, "--prompts", prompts, "--json", out, "--no-store",
                        "--convention", "sin")  # fmt: skip
        result = result_of(done, out)
    jsonschema.validate(result, schema)
    (ranking,) = result["summary"]["rankings"]
    assert ranking["ranking"] == [["near"], ["far"]] and ranking["convention"] == "angle"
    assert ranking["pairs"][0]["difference"] == pytest.approx(math.radians(90), abs=1e-5)
    assert result["rows"][0]["gamma"] == pytest.approx(math.sin(math.radians(170)), abs=1e-5)
    assert result["rows"][0]["gamma"] < result["rows"][30]["gamma"], "which would have been the other way round"


def test_labels_that_score_nothing_are_said(harmonia, tmp_path):
    table = tmp_path / "prompts.csv"
    table.write_text("prompt,right\n" + "".join(f"{prompt},1\n" for prompt in PROMPTS))
    with running(steady) as (url, _):
        done = harmonia("text", "--chat", url, "--model", "m", "--embed", url, "--prompts", table, "--labels", "right", "--no-resampling", "--no-store")
    assert done.returncode == 0
    assert "m: no score against the labels: 0 wrong and 6 right answers have a value; expected at least one of each" in done.stdout + done.stderr


def test_answers_that_the_local_embedder_cuts_are_counted(harmonia, prompts, tmp_path, embedder):
    def answer(body, _asked):
        return "word " * (400 if own_prompt(body["messages"][-1]["content"]) == PROMPTS[0] else 100)

    command = ["text", "--model", "m", "--embed", f"local:{embedder}", "--prompts", prompts, "--store", tmp_path / "store", "--variants", 4, "--repeats", 1]
    with running(answer) as (url, _):
        for _ in range(2):  # what is stored is cut as well
            done = harmonia(*command, "--chat", url)
            assert "m: 6 answers are longer than the embedder reads: their ends make no difference" in done.stdout + done.stderr


def test_a_forecast_sees_wrong_addresses(harmonia, prompts):
    common = ["text", "--model", "m", "--prompts", prompts, "--dry-run"]
    for arguments in (["--chat", "127.0.0.1:1"], ["--chat", "http://h/v1", "--embed", "ftp://h"], ["--chat", "http://h/v1", "--header", "NoColon"]):
        done = harmonia(*common, *arguments)
        assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1
        assert "expected http(s)://" in done.stderr or "'Name: value'" in done.stderr


@pytest.mark.parametrize(("arguments", "words"), [
    (["--chat", "{url}", "--model", "m", "--key-file", "/dev/zero"], "--key-file /dev/zero: has more than 65536 bytes; expected a key on one line"),
    (["--chat", "{url}", "--model", "m", "--embed", "local", "--embed-model", "e"], "--embed-model 'e' with --embed local; expected --embed URL"),
    (["--chat", "{url}", "--model", "m", "--model", "m"], "model m is named twice; expected different models"),
    (["--chat", "{url}", "--chat", "{url}/x", "--chat", "{url}/y", "--model", "m"], "expected one address, or one for each model"),
    (["--chat", "{url}", "--model", "m", "--family", "poetry"], "--family 'poetry'; expected some of appended"),
    (["--chat", "{url}", "--model", "m", "--key-env", "NO_SUCH_KEY"], "--key-env NO_SUCH_KEY: no such variable"),
    (["--chat", "{url}", "--model", "m", "--chat-seed", "x"], "--chat-seed 'x'; expected none or a whole number"),
    (["--chat", "{url}", "--model", "m", "--embed", "local:/nowhere"], "/nowhere"),
    (["--chat", "{url}", "--model", "m", "--json", "prompts.txt"], "prompts.txt"),
])  # fmt: skip
def test_bad_usage_is_one_line_and_no_call(harmonia, prompts, tmp_path, arguments, words):
    with running(steady) as (url, endpoint):
        embed = [] if "--embed" in arguments else ["--embed", url]
        filled = [argument.format(url=url) for argument in arguments]
        done = harmonia("text", *filled, *embed, "--prompts", "prompts.txt", cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr and len(done.stderr.strip().splitlines()) == 1
    assert endpoint.questions == []
