#include "harmonia/report/report_page.hpp"

#include <fmt/format.h>

#include "harmonia/core/error.hpp"
#include "report_assets.hpp"
#include "report_data.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

// JSON that may stand inside a script element: without '<' nothing in it can end that, or begin a comment.
std::string script_text(const Json& json) {
  const std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string html_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string title_of(const Json& results) {
  if (results.size() > 1) return fmt::format("Harmonia: {} results", results.size());
  const Json& result = results.front();
  const std::string on = result.at("data").at("source");
  const std::string command = result.at("command");
  const bool noisy =
      command == "stability" || command == "persistence" || command == "attack" || command == "alignment";
  const std::string what = command == "boundary" ? "decision boundary"
                           : noisy               ? command
                                                 : "harmonic robustness";
  if (result.contains("model") && result["model"].contains("path") && result["model"]["path"].is_string()) {
    return fmt::format("{} on {}: {}", result["model"]["path"].get<std::string>(), on, what);
  }
  return fmt::format("Models on {}: {}", on, command == "text" ? "how steady answers are" : what);
}

}  // namespace

std::string report_missing() { return std::string(report_assets().missing); }

std::string report_page(const std::vector<std::string>& results_json, const std::vector<std::string>& names) {
  const PageAssets assets = report_assets();
  if (!assets.missing.empty()) throw Error(ErrorCode::usage, std::string(assets.missing));
  if (results_json.empty()) throw Error(ErrorCode::usage, "a report needs a result; none was given");
  Json results = Json::array();
  for (std::size_t i = 0; i < results_json.size(); ++i) {
    results.push_back(
        report_data({i < names.size() ? names[i] : fmt::format("result {}", i + 1), results_json[i]}));
  }
  // No source is allowed but this page itself, and no script but the one whose hash is known.
  return fmt::format(
      R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '{}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="harmonia {}">
<meta name="color-scheme" content="light dark">
<title>{}</title>
<style>{}</style>
</head>
<body>
<noscript><p>The plots of this page are drawn by its script; the numbers are in the result file it was made of.</p></noscript>
<main id="report"></main>
<script type="application/json" id="results">{}</script>
<script>{}</script>
</body>
</html>
)",
      assets.script_hash, HARMONIA_VERSION, html_text(title_of(results)), assets.style, script_text(results),
      assets.script);
}

}  // namespace harmonia
