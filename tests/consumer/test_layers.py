"""A stage includes only stages to its left, and a third-party header appears only where it is allowed to."""

import re
from pathlib import Path

STAGES = ["core", "data", "ball", "model", "measure", "search", "text", "monitor", "report"]
LIBRARIES = {"torch": "model"}  # folders that are a library of their own, and the stage whose rules they follow
NO_JSON = ["core", "data", "ball", "model", "measure"]
JSON_ALLOWED = re.compile(r"src/(data/json_text|model/inference_protocol)[a-z_]*\.(cpp|hpp)")
THIRD_PARTY = ("nlohmann/", "curl/", "boost/", "CLI/", "Eigen/", "fmt/", "openssl/", "onnxruntime", "unicode/", "pugixml", "png.h", "jpeglib.h", "stb/", "torch/", "ATen/", "sqlite3.h", "httplib.h", "prometheus/", "librdkafka/")
# Libraries that are hidden behind one source file each.
ONE_FILE = {"curl/": "curl", "openssl/": "OpenSSL", "onnxruntime": "ONNX Runtime", "unicode/": "ICU", "png.h": "libpng", "jpeglib.h": "libjpeg", "stb/": "stb", "sqlite3.h": "SQLite", "librdkafka/": "librdkafka", "prometheus/": "prometheus-cpp"}
LIBTORCH = ("torch/", "ATen/", "c10/")  # in a folder of its own
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def files_of(root: Path) -> list[str]:
    found = (p for top in ("include", "src", "apps") for p in (root / top).rglob("*") if p.suffix in (".hpp", ".cpp"))
    return sorted(str(p.relative_to(root)) for p in found)


def stage_of(file: str) -> str | None:
    match = re.match(r"(?:include/harmonia|src)/([^/]+)/", file)
    return LIBRARIES.get(match.group(1), match.group(1)) if match else None


def violations(root: Path) -> list[str]:
    """One line for every include that breaks a rule, and for every folder that is no stage."""
    found = []
    users: dict[str, list[str]] = {start: [] for start in ONE_FILE}
    for file in files_of(root):
        stage = stage_of(file)
        if not file.startswith("apps/") and stage not in STAGES:
            found.append(f"{file}: lies in no stage; stages are {', '.join(STAGES)}")
            continue
        includes = INCLUDE.findall((root / file).read_text(encoding="utf-8"))
        for header in includes:
            if stage and (match := re.match(r"(?:harmonia|\.\.)/([^/]+)/", header)):
                if match.group(1) not in STAGES[: STAGES.index(stage) + 1]:
                    found.append(f"{file}: includes {header}; {stage} sees only itself and what is to its left")
            if file.startswith("include/") and header.startswith(THIRD_PARTY):
                found.append(f"{file}: includes {header}; public headers include no third party")
            if header.startswith(LIBTORCH) and not file.startswith("src/torch/"):
                found.append(f"{file}: includes {header}; libtorch belongs to src/torch")
            if header.startswith("CLI/") and not file.startswith("apps/cli/"):
                found.append(f"{file}: includes {header}; CLI11 belongs to apps/cli")
            if header == "httplib.h" and not file.startswith("apps/cli/"):
                found.append(f"{file}: includes {header}; cpp-httplib belongs to apps/cli")
            if header.startswith("nlohmann/") and stage in NO_JSON and not JSON_ALLOWED.fullmatch(file):
                found.append(f"{file}: includes {header}; JSON enters {stage} only in data/json_text and model/inference_protocol")
        for start, files in users.items():
            if any(header.startswith(start) for header in includes):
                files.append(file)
    for start, files in users.items():
        if len(files) > 1:
            found.append(f"{', '.join(files)}: {ONE_FILE[start]} appears in one file alone")
    return found


def test_stages_and_third_party_headers(root):
    assert len(files_of(root)) > 10
    assert violations(root) == []


def put(root: Path, file: str, *headers: str) -> None:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#pragma once\n" + "".join(f"#include <{header}>\n" for header in headers))


def test_a_clean_tree_has_no_violation(tmp_path):
    put(tmp_path, "include/harmonia/core/rows.hpp", "vector")
    put(tmp_path, "include/harmonia/model/model.hpp", "harmonia/core/rows.hpp", "harmonia/model/other.hpp")
    put(tmp_path, "src/model/inference_protocol.cpp", "harmonia/model/model.hpp", "curl/curl.h", "nlohmann/json.hpp")
    put(tmp_path, "src/model/onnx_session.cpp", "onnxruntime_cxx_api.h", "onnxruntime_session_options_config_keys.h")
    put(tmp_path, "src/core/sha256.cpp", "openssl/evp.h")
    put(tmp_path, "src/data/json_text.hpp", "nlohmann/json.hpp")
    put(tmp_path, "src/core/statistics.cpp", "boost/math/distributions/normal.hpp", "fmt/format.h")
    put(tmp_path, "src/text/http_transfers.cpp", "../model/http_attempt.hpp", "harmonia/text/chat.hpp")
    put(tmp_path, "src/core/sqlite_file.cpp", "sqlite3.h")
    put(tmp_path, "src/report/json.cpp", "nlohmann/json.hpp", "harmonia/measure/gamma.hpp")
    put(tmp_path, "apps/cli/main.cpp", "CLI/CLI.hpp", "harmonia/report/json.hpp", "harmonia/core/rows.hpp")
    assert violations(tmp_path) == []


def test_every_kind_of_violation_is_found(tmp_path):
    put(tmp_path, "src/core/rows.cpp", "harmonia/model/model.hpp")
    put(tmp_path, "src/data/rows.cpp", "../model/http_attempt.hpp")
    put(tmp_path, "include/harmonia/ball/ball.hpp", "harmonia/measure/gamma.hpp")
    put(tmp_path, "include/harmonia/data/schema.hpp", "nlohmann/json_fwd.hpp")
    put(tmp_path, "src/measure/gamma.cpp", "nlohmann/json.hpp")
    put(tmp_path, "src/model/http_model.cpp", "curl/curl.h")
    put(tmp_path, "src/text/chat.cpp", "curl/curl.h", "CLI/CLI.hpp")
    put(tmp_path, "include/harmonia/core/algebra.hpp", "Eigen/Dense")
    put(tmp_path, "src/misc/tools.cpp")
    put(tmp_path, "include/harmonia/model/onnx.hpp", "onnxruntime_cxx_api.h")
    put(tmp_path, "src/model/onnx.cpp", "onnxruntime_c_api.h")
    put(tmp_path, "src/monitor/server.cpp", "httplib.h")
    found = violations(tmp_path)
    for part in [
        "src/core/rows.cpp: includes harmonia/model/model.hpp",
        "src/data/rows.cpp: includes ../model/http_attempt.hpp",
        "include/harmonia/ball/ball.hpp: includes harmonia/measure/gamma.hpp",
        "include/harmonia/data/schema.hpp: includes nlohmann/json_fwd.hpp; public",
        "include/harmonia/data/schema.hpp: includes nlohmann/json_fwd.hpp; JSON",
        "src/measure/gamma.cpp: includes nlohmann/json.hpp",
        "src/text/chat.cpp: includes CLI/CLI.hpp",
        "include/harmonia/core/algebra.hpp: includes Eigen/Dense",
        "src/model/http_model.cpp, src/text/chat.cpp: curl",
        "src/misc/tools.cpp: lies in no stage",
        "include/harmonia/model/onnx.hpp: includes onnxruntime_cxx_api.h; public",
        "include/harmonia/model/onnx.hpp, src/model/onnx.cpp: ONNX Runtime",
        "src/monitor/server.cpp: includes httplib.h; cpp-httplib",
    ]:
        assert any(line.startswith(part) for line in found), part
    assert len(found) == 13
