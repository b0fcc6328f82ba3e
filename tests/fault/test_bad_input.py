"""Whatever a user, a file, a program or a server gets wrong: one clear line, the right exit code, nothing left behind."""

import http.server
import json
import os
import shlex
import signal
import socket
import subprocess
import threading
import time

import pytest

USAGE, MODEL = 2, 3


@pytest.fixture
def fails(harmonia, tmp_path):
    """Runs a command that must fail, checks its manners, and returns its one line."""

    def run(code: int, *arguments, **keywords) -> str:
        before = sorted(os.listdir(tmp_path))
        started = time.monotonic()
        done = harmonia("gamma", *arguments, "--json", tmp_path / "out.json", "--csv", tmp_path / "out.csv", **keywords)
        assert time.monotonic() - started < 60
        assert done.returncode == code, done.stderr
        assert done.stdout == ""
        assert done.stderr.startswith("harmonia: ") and done.stderr.count("\n") == 1, done.stderr
        assert sorted(os.listdir(tmp_path)) == before
        return done.stderr[len("harmonia: ") : -1]

    return run


@pytest.fixture
def rows(tmp_path):
    """Writes a data file."""

    def write(text: str, name: str = "rows.csv") -> str:
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "{} is empty"),
        ("a,b\n", "{} has a header and no rows"),
        ("a,b\n1,2\n3\n", "{} line 3 has 1 field; line 1 has 2"),
        ("a,b\n1,2\n3,x\n", "{} line 3, column 1 (b): 'x' is not a number"),
        ("a,b\n1,inf\n", "{} line 2, column 1 (b): 'inf' is infinite"),
        ("a,b\n1,2\n3,nan\n", "row 1, column 1 is missing (NaN); model fn:f2?n=2 takes no missing values"),
        ("a,b\n1,2\n3,\n", "row 1, column 1 is missing (NaN); model fn:f2?n=2 takes no missing values"),
    ],
)
def test_bad_data(fails, rows, text, message):
    path = rows(text)
    assert fails(USAGE, "fn:f2", path, "--radius", "1") == message.format(path)


def test_a_column_of_text_has_its_remedy(harmonia, fails, rows):
    path = rows("id,city name,a,b\nA1,Paris,1,2\nA2,Rome,3,4\n")
    line = fails(USAGE, "fn:f2", path, "--radius", "1")
    assert line == f"{path} line 2, column 0 (id): 'A1' is not a number; columns of text are left out by --drop 'id,city name'"
    assert harmonia("gamma", "fn:f2", path, "--radius", "1", *shlex.split(line.split(" by ")[1])).returncode == 0


def test_no_command(harmonia):
    done = harmonia()
    assert done.returncode == USAGE and done.stdout == ""
    for part in ["Usage: harmonia", "\n  gamma ", "\n  serve ", "harmonia COMMAND --help"]:
        assert part in done.stderr
    example = next(line for line in done.stderr.splitlines() if line.startswith("  harmonia gamma"))
    assert harmonia(*shlex.split(example)[1:]).returncode == 0


@pytest.mark.parametrize("word, meant", [("gama", "gamma"), ("Gamma", "gamma"), ("atack", "attack"), ("persist", "persistence"), ("stabilty", "stability")])
def test_a_misspelt_command(harmonia, word, meant):
    done = harmonia(word, "fn:f2", "uniform:10", "--radius", "1")
    assert done.returncode == USAGE and done.stdout == ""
    assert done.stderr == f"harmonia: '{word}' is no command; did you mean {meant}? harmonia --help lists all\n"


def test_a_command_that_is_like_none(harmonia):
    done = harmonia("rows.csv")
    assert done.returncode == USAGE
    assert done.stderr == "harmonia: 'rows.csv' is no command; harmonia --help lists them\n"


def test_a_missing_file(fails, tmp_path):
    path = tmp_path / "none.csv"
    assert fails(USAGE, "fn:f2", path, "--radius", "1") == f"{path}: no such file"


def test_the_wrong_number_of_columns(fails, rows):
    path = rows("1,2,3\n")
    assert fails(USAGE, "fn:f2?n=2", path, "--radius", "1") == "data has 3 columns; model fn:f2?n=2 expects 2"


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["fn:f2", "uniform:3"], "--radius is required"),
        (["fn:f2", "uniform:3", "--radius", "-1"], "radius is -1; expected a finite number above 0"),
        (["fn:f2", "uniform:3", "--radius", "0"], "radius is 0; expected a finite number above 0"),
        (["fn:f2", "uniform:3", "--radius", "nan"], "radius is nan; expected a finite number above 0"),
        (["fn:f2", "uniform:3", "--radius", "big"], "--radius 'big'; expected a number above 0, or auto"),
        (["fn:f2", "uniform:3", "--radius", "0.1\nx"], "--radius '0.1 x'; expected a number above 0, or auto"),
        (["fn:f2", "uniform:3", "--radius", "1", "--timeout", "nan"], "--timeout: 'nan'; expected a number above 0"),
        (["fn:f2", "uniform:3", "--radius", "1", "--timeout", "inf"], "--timeout: 'inf'; expected a number above 0"),
        (["fn:f2", "uniform:3", "--radius", "1", "--precision", "inf", "--floor", "1"], "precision inf and floor 1; expected finite numbers, not negative"),
        (["fn:f2", "no\nsuch\x1b[31m.csv", "--radius", "1"], "no such\\x1b[31m.csv: no such file"),
        (["no\nsuch.json", "uniform:3", "--radius", "1"], "model no such.json: No such file or directory"),
        (
            ["fn:f2", "uniform:3", "--radius", "1", "--ball", "round"],
            "ball 'round' is not known; expected simplex, anti, simplex+anti, cross, one-hot, rotated:K, rotated-simplex:K, "
            "rademacher, random:N, "
            "random-pairs:N, gaussian:N, or of images pixel or patch:K",
        ),
        (["fn:f2", "uniform:3", "--radius", "1", "--output", "column:1"], "output column:1; model fn:f2?n=2 has 1 (numbered from 0)"),
        (["fn:f2", "uniform:3", "--radius", "1", "--output", "label"], None),
        (["fn:f5", "uniform:3", "--radius", "1"], "no function 'f5'; known are f1, f2, f3, f4, half-space, ball-class, cone, shells, soft-plane, soft-ball"),
        (["fn:f2?n=0", "uniform:3", "--radius", "1"], "model fn:f2?n=0: 'n=0' after '?'; expected n=N with N >= 1"),
        (["fn:cone?angle=wide", "uniform:3", "--radius", "1"], "model fn:cone?angle=wide: 'angle=wide' after '?'; expected n=N with N >= 1, or NAME=NUMBER"),
        (["fn:cone?angle=200", "uniform:3", "--radius", "1"], "function cone: angle is 200; expected between 0 and 180"),
        (["fn:ball-class?d=1", "uniform:3", "--radius", "1"], "function ball-class has no 'd'; expected n and r"),
        (["fn:shells", "uniform:3", "--radius", "1"], "function shells is of one variable; asked for 2"),
        (["net.xyz", "uniform:3", "--radius", "1"], "model 'net.xyz' is of no known kind; expected a model file (net.onnx, net.pt, XGBoost's .json or .ubj, LightGBM's .txt), fn:f1…f4, cmd:PROGRAM ARGS or http(s)://host/v2/models/NAME"),
        (["fn:f2", "rows.xlsx", "--radius", "1"], None),
        (["fn:f2", "uniform:3", "--radius", "1", "--precision", "0.1"], "precision needs a floor above 0: a gamma near 0 would otherwise never be precise"),
        (["fn:f2", "uniform:3", "--radius", "1", "--sample", "2", "--precision", "0.1", "--floor", "1"], None),
        (["fn:f2", "uniform:3", "--radius", "1", "--confidence", "1"], "confidence is 1; expected between 0 and 1"),
        (["fn:f2", "uniform:3", "--radius", "1", "--threads", "100000"], None),
        (["fn:f2", "uniform:3", "--radius", "1", "--ball", "random:5", "--explain", "2"], None),
        (["fn:f2?n=40", "uniform:3", "--radius", "1", "--ball", "rademacher"], "this ball has no end; give it a count, a sample or a precision"),
        (["fn:f2", "uniform:1", "--radius", "auto"], "radius auto: uniform:1 has no two rows at different places; give a radius"),
        (["fn:f2", "uniform:3", "--radius", "1", "--schema", "none.json"], None),
        (["fn:f2", "uniform:3", "--radius", "1", "--bogus"], None),
        (["fn:f2", "uniform:3", "--radius", "1", "--batch", "-1"], None),
        (["fn:f2", "uniform:3", "--radius", "1", "--sample", "-1"], None),
        (["fn:f2", "uniform:3", "--radius", "1", "--paper", "--ball", "cross"], None),
        (["fn:f2", "uniform:3", "--radius", "1", "--floor", "1"], "floor needs a precision: it says when to stop looking for it"),
        (["fn:f2", "uniform:3", "--radius", "1", "--precision", "nan", "--floor", "1"], None),
        (["f2", "grid:0..1x2", "--radius", "1", "--model-kind", "command"], None),
    ],
)
def test_bad_options(fails, arguments, message):
    said = fails(MODEL if "label" in arguments or "command" in arguments else USAGE, *arguments)
    assert message is None or said == message


def test_an_answer_that_is_not_finite(fails):
    said = fails(MODEL, "fn:f4?n=2", "grid:700..700x1,300..300x1", "--radius", "1", "--threads", "1")
    assert said == "model fn:f4?n=2 answered inf in output 0 for data row 0; expected finite numbers"


def test_results_that_cannot_be_written(harmonia, tmp_path):
    done = harmonia("gamma", "fn:f2", "uniform:3", "--radius", "1", "--json", tmp_path / "no" / "out.json")
    assert done.returncode == USAGE
    assert done.stderr == f"harmonia: cannot write {tmp_path}/no/out.json: No such file or directory\n"


@pytest.mark.parametrize(
    "script, message",
    [
        ("exit 3", "exited with status 3 after 0 of 1 answers; expected one line per row"),
        ("echo oops >&2; exit 3", "exited with status 3 after 0 of 1 answers; expected one line per row; its standard error ends with: oops"),
        ("sleep 100", "no answer within 1 s, 0 of 1 rows answered"),
        ("while read l; do echo; done", None),
        ("while read l; do echo 1; echo 2; done", "wrote more lines than it was given rows, the first of them '2'; expected one line per row"),
        ("read l; echo 1; while read l; do echo 1,2; done", "line 1 of its answer, '1,2', has 2 values; expected 1, as in its first answer"),
        ("while read l; do echo hello; done", "line 1 of its answer, 'hello', has 'hello'; expected a number"),
        ("while read l; do echo nan; done", None),
        ("read l; echo 1; read l; echo 1; exit 0", None),
    ],
)
def test_programs_that_fail(fails, script, message):
    said = fails(MODEL, f"cmd:sh -c '{script}'", "uniform:5", "--radius", "1", "--timeout", "1", "--threads", "1")
    assert message is None or said == f"model cmd:sh -c '{script}': {message}"


def test_a_program_that_is_not_there(fails):
    said = fails(MODEL, "cmd:no-such-program", "uniform:5", "--radius", "1")
    assert "not found" in said


def test_interrupting_says_how_far_it_came(program, tmp_path):
    slow = "cmd:sh -c 'while read line; do sleep 0.01; echo 1; done'"
    arguments = ["gamma", slow, "uniform:2000", "--radius", "1", "--json", str(tmp_path / "out.json"), "--threads", "2", "--batch", "8"]
    process = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert output == ""
    assert errors.startswith("harmonia: stopped after ") and " of 2000 rows and " in errors
    assert os.listdir(tmp_path) == []


class Answers(http.server.BaseHTTPRequestHandler):
    """A model server that fails as `mode` says, after it has told what it takes."""

    mode = "ok"
    protocol_version = "HTTP/1.1"

    def reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        info = {"name": "m", "inputs": [{"name": "x", "datatype": "FP64", "shape": [-1, 2]}], "outputs": [{"name": "y", "datatype": "FP64", "shape": [-1, 1]}]}
        self.reply(200, json.dumps(info).encode())

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        rows = request["inputs"][0]["shape"][0]
        answer = {"outputs": [{"name": "y", "datatype": "FP64", "shape": [rows, 1], "data": [1.0] * rows}]}
        if self.mode == "slow" or (self.mode == "hangs" and rows > 1):
            time.sleep(5 if self.mode == "slow" else 30)
        elif self.mode == "500":
            return self.reply(500, b'{"error": "out of memory"}')
        elif self.mode == "garbage":
            return self.reply(200, b"<html>hello</html>")
        elif self.mode == "null":
            answer["outputs"][0]["data"][0] = None
        elif self.mode == "few":
            answer["outputs"][0]["data"].pop()
        self.reply(200, json.dumps(answer).encode())

    def log_message(self, *_) -> None:
        pass


@pytest.fixture
def server():
    """Starts a failing server; gives its address."""
    servers = []

    def start(mode: str) -> str:
        handler = type("Handler", (Answers,), {"mode": mode})
        one = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        one.daemon_threads = True
        threading.Thread(target=one.serve_forever, daemon=True).start()
        servers.append(one)
        return f"http://127.0.0.1:{one.server_port}/v2/models/m"

    yield start
    for one in servers:
        one.shutdown()
        one.server_close()


@pytest.mark.parametrize(
    "mode, message",
    [
        ("slow", "no answer within 1 s after 2 tries"),
        ("500", "status 500 after 3 tries: out of memory"),
        ("garbage", "its answer is not JSON: '<html>hello</html>'"),
        ("few", "its answer holds 0 values; its shape [1,1] expects 1"),
    ],
)
def test_servers_that_fail(fails, server, mode, message):
    address = server(mode)
    said = fails(MODEL, address, "uniform:5", "--radius", "1", "--timeout", "1", "--retries", "2")
    assert said == f"model {address}: {message}"


def test_a_server_that_answers_nothing_finite(fails, server):
    address = server("null")
    said = fails(MODEL, address, "uniform:5", "--radius", "1", "--threads", "1")
    assert said == f"model {address} answered nan in output 0 for data row 0; expected finite numbers"


def test_a_server_that_is_down(fails):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}/v2/models/m"
    assert fails(MODEL, address, "uniform:5", "--radius", "1", "--retries", "1") == f"model {address}: connection refused after 2 tries"


@pytest.mark.parametrize("option", [["--header", "Authorization: secret"], ["--ca-file", "ca.pem"]])
@pytest.mark.parametrize("model, kind", [("fn:f2", "function"), ("cmd:cat", "command"), ("{}/examples/booster.json", "xgboost")])
def test_what_goes_to_servers_alone(harmonia, root, option, model, kind):
    model = model.format(root)
    done = harmonia("gamma", model, root / "examples" / "rows.csv", "--id", "customer", "--radius", "1", *option)
    said = f"{option[0]}: model {model} is of kind {kind}, and no server; expected http(s)://host/v2/models/NAME"
    assert (done.returncode, done.stderr) == (2, f"harmonia: {said}\n")


def test_headers_of_a_comparison_go_to_its_servers(harmonia, server):
    address = server("ok")
    done = harmonia("compare", "fn:f2", address, "uniform:5", "--radius", "1", "--header", "Authorization: secret")
    assert done.returncode == 0, done.stderr
    done = harmonia("compare", "fn:f2", "fn:f4", "uniform:5", "--radius", "1", "--header", "Authorization: secret")
    assert done.returncode == 2 and done.stderr.startswith("harmonia: --header: model fn:f2 is of kind function")


def test_headers_are_kept_out_of_results(harmonia, server, tmp_path):
    address, path = server("ok"), tmp_path / "out.json"
    for secret in (["--header", "Authorization: Bearer s3cret"], ["--header=Authorization: Bearer s3cret"]):
        done = harmonia("gamma", address, "uniform:3", "--radius", "1", *secret, "--json", path)
        assert done.returncode == 0, done.stderr
        assert "s3cret" not in path.read_text() + done.stdout + done.stderr


@pytest.mark.parametrize("kind", ["program", "server"])
def test_interrupting_a_model_that_does_not_answer(program, server, tmp_path, kind):
    """Ctrl-C does not wait for the time-out of a model that hangs."""
    model = "cmd:sh -c 'read l; echo 1; sleep 100'" if kind == "program" else server("hangs")
    arguments = ["gamma", model, "uniform:20", "--radius", "1", "--json", str(tmp_path / "out.json"), "--timeout", "60"]
    process = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert process.returncode == 130
    assert errors.startswith("harmonia: stopped after 0 of 20 rows and ") and errors.count("\n") == 1
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("spelt", ["{}", "./{}"])
@pytest.mark.parametrize("victim", ["booster.json", "rows.csv", "hull.csv"])
@pytest.mark.parametrize("option", ["--json", "--csv", "--html"])
def test_a_result_never_overwrites_what_is_read(harmonia, root, tmp_path, option, victim, spelt):
    for name, source in [("booster.json", "booster.json"), ("rows.csv", "rows.csv"), ("hull.csv", "rows.csv")]:
        (tmp_path / name).write_bytes((root / "examples" / source).read_bytes())
    before = (tmp_path / victim).read_bytes()
    done = harmonia("gamma", "booster.json", "rows.csv", "--id", "customer", "--radius", "1", "--region",
                    "hull:hull.csv?columns=0", option, spelt.format(victim), cwd=tmp_path)
    assert done.returncode == USAGE and "is named twice; expected a file of its own for each" in done.stderr
    assert (tmp_path / victim).read_bytes() == before


def test_a_page_that_cannot_be_written_is_said_at_once(harmonia, tmp_path):
    done = harmonia("gamma", "cmd:cat", "uniform:3", "--radius", "1", "--html", tmp_path / "nowhere" / "page.html")
    assert done.returncode == USAGE and done.stderr.count("\n") == 1 and done.stdout == ""


@pytest.mark.parametrize("model", ["fn:f2", "cmd:cat", "{}/examples/booster.json"])
def test_an_output_by_name_of_a_model_without_names(harmonia, root, model):
    done = harmonia("gamma", model.format(root), "uniform:3", "--radius", "1", "--model-output", "y")
    assert done.returncode == USAGE and done.stderr.count("\n") == 1 and "--model-output" in done.stderr


def test_one_file_for_two_results(harmonia, tmp_path):
    path = tmp_path / "out"
    done = harmonia("gamma", "fn:f2", "uniform:3", "--radius", "1", "--json", path, "--csv", path)
    assert (done.returncode, done.stderr) == (USAGE, f"harmonia: {path} is named twice; expected a file of its own for each\n")
    assert os.listdir(tmp_path) == []


def test_results_to_a_link_and_to_a_pipe(harmonia, tmp_path):
    target, link, pipe = tmp_path / "target.json", tmp_path / "link.json", tmp_path / "pipe"
    target.write_text("old")
    link.symlink_to(target)
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
    done = harmonia("gamma", "fn:f2", "uniform:3", "--radius", "1", "--json", link, "--csv", pipe)
    assert done.returncode == 0, done.stderr
    assert link.is_symlink() and json.loads(target.read_text())["data"]["rows"] == 3
    assert reader.communicate(timeout=10)[0].startswith("row,id,label") and pipe.is_fifo()
    assert sorted(os.listdir(tmp_path)) == ["link.json", "pipe", "target.json"]
