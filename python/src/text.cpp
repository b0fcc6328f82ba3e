#include "text.hpp"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <utility>

#include "arrays.hpp"
#include "callable_text.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/report/text_report.hpp"
#include "harmonia/text/prompt_ascent.hpp"
#include "interrupt.hpp"
#include "run_measure.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace harmonia::python {
namespace {

constexpr std::size_t kEmbeddedTogether = 16;  // texts, so that Ctrl-C is heard

/// A study as Python holds it.
struct PythonText {
  TextRecord record;

  // Of one of its models alone.
  PythonText of(std::size_t model) const {
    PythonText one{record};
    one.record.models = {record.models.at(model)};
    one.record.rankings.clear();
    one.record.calls = one.record.models.front().result.calls;
    one.record.tokens = one.record.models.front().result.tokens;
    one.record.warnings = text_warnings(one.record);
    return one;
  }
};

/// The embedder in this process as Python holds it.
struct PythonEmbedder {
  std::shared_ptr<Embedder> embedder;

  nb::object embed(const std::vector<std::string>& texts) const {
    std::vector<float> numbers;
    const std::stop_source stop;
    run_interruptibly(stop, [&] {
      for (std::size_t first = 0; first < texts.size(); first += kEmbeddedTogether) {
        if (stop.stop_requested()) throw Error(ErrorCode::interrupted, "stopped");
        const auto [rows, missing] = embedder->embed(
            std::span(texts).subspan(first, std::min(kEmbeddedTogether, texts.size() - first)));
        if (!missing.empty()) throw Error(ErrorCode::model, missing.begin()->second);
        numbers.insert(numbers.end(), rows.view().data, rows.view().data + rows.rows() * rows.columns());
      }
    });
    return numpy_array(std::move(numbers), texts.size());
  }
};

PromptFamily parse_family(const std::string& name) {
  if (const std::optional<PromptFamily> family = family_of(name)) return *family;
  std::string known;
  for (const PromptFamilyInfo& info : prompt_families())
    known += fmt::format("{}{}", known.empty() ? "" : ", ", info.name);
  throw Error(ErrorCode::usage, fmt::format("family {}; expected one of {}", in_quotes(name), known));
}

AngleConvention parse_convention(const std::string& name) {
  if (const std::optional<AngleConvention> convention = convention_of(name)) return *convention;
  throw Error(ErrorCode::usage,
              fmt::format("convention {}; expected angle, chord, sin or paper", in_quotes(name)));
}

// A model: what it is called, and the function that answers.
using Asked = std::pair<std::string, nb::object>;
// A prompt: its text, id and domain.
using Told = std::tuple<std::string, std::string, std::string>;

PythonText study(const std::vector<Asked>& models, const nb::object& embed, TextRecord record,
                 const nb::object& progress) {
  CallableEmbedder embedder(embed, record.embedder);
  std::vector<std::unique_ptr<CallableChat>> chats;
  chats.reserve(models.size());
  for (const auto& [name, function] : models) chats.push_back(std::make_unique<CallableChat>(function, name));
  run_here(progress, [&](ProgressSink sink) {
    const auto start = std::chrono::steady_clock::now();
    const std::size_t prompts = record.prompts.size();
    Run run;
    run.seed = record.seed;
    run.progress = [&](const Progress& now) {
      const std::size_t before = record.models.size() * prompts;
      sink({before + now.rows_done, chats.size() * prompts, now.evaluations});
    };
    std::vector<TextResult> results;
    for (const auto& chat : chats) {
      results.push_back(measure_text(*chat, embedder, record.prompts, record.options, run));
      record.models.push_back(
          {"python", results.back(), summarise_text(results.back(), record.options), {}, {}, {}});
      record.calls += results.back().calls;
    }
    if (results.size() > 1) {
      for (const PromptFamily family : record.options.families)
        record.rankings.push_back(rank_text(results, family, record.convention, record.options.confidence));
    }
    record.warnings = text_warnings(record);
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  return {std::move(record)};
}

nb::dict step_of(const AscentStep& step, AngleConvention convention) {
  const auto end = [&](double Interval::*side) -> std::optional<double> {
    if (!step.gamma.interval) return {};
    return in_convention(*step.gamma.interval, convention).*side;
  };
  nb::dict told;
  told["prompt"] = step.prompt;
  told["answer"] = step.answer;
  told["gamma"] = in_convention(step.gamma.gamma, convention);
  told["low"] = end(&Interval::low);
  told["high"] = end(&Interval::high);
  told["plain"] = in_convention(step.gamma.plain, convention);
  told["resultant"] = step.gamma.resultant;
  told["band"] = band_name(band_of(step.gamma));
  told["variants"] = step.gamma.variants;
  told["changed"] = step.gamma.changed;
  told["calls"] = step.calls;
  return told;
}

nb::dict ascend(const Asked& model, const nb::object& embed, const std::string& prompt, std::size_t number,
                const AscentOptions& options, AngleConvention convention, std::uint64_t seed,
                const nb::object& progress) {
  CallableEmbedder embedder(embed, "embed");
  CallableChat chat(model.second, model.first);
  AscentResult found;
  run_here(progress, [&](ProgressSink sink) {
    Run run;
    run.seed = seed;
    run.progress = std::move(sink);
    found = ascend_prompt(chat, embedder, prompt, number, options, run);
  });
  nb::list path;
  for (const AscentStep& step : found.path) path.append(step_of(step, convention));
  nb::dict told;
  told["path"] = path;
  told["best"] = found.best;
  told["ended"] = found.ended;
  told["calls"] = found.calls;
  return told;
}

void bind_study(nb::module_& m) {
  nb::class_<PythonText>(m, "Text", "gamma of prompts in one or several models.")
      .def("to_json", [](const PythonText& self) { return text_json(self.record); })
      .def("table", [](const PythonText& self) { return text_table(self.record); })
      .def("csv", [](const PythonText& self) { return text_csv(self.record); })
      .def("of", &PythonText::of, "model"_a)
      .def_prop_ro("warnings", [](const PythonText& self) { return self.record.warnings; });
  m.def(
      "text_gamma",
      [](const std::vector<Asked>& models, const nb::object& embed, const std::string& embedder,
         const std::vector<Told>& prompts, const std::string& source, std::size_t variants,
         std::size_t repeats, const std::vector<std::string>& families, const std::string& convention,
         bool isotropy, double confidence, std::uint64_t seed, const std::string& call,
         const nb::object& progress) {
        TextRecord record;
        record.source = source;
        for (const auto& [text, id, domain] : prompts) record.prompts.push_back({text, id, domain, {}, {}});
        record.embedder = embedder;
        record.options = {variants, repeats, {}, isotropy, false, confidence};
        for (const std::string& family : families) record.options.families.push_back(parse_family(family));
        record.functions = true;
        record.convention = parse_convention(convention);
        record.seed = seed;
        record.command_line = call;
        return study(models, embed, std::move(record), progress);
      },
      "models"_a, "embed"_a, "embedder"_a, "prompts"_a, "source"_a, "variants"_a, "repeats"_a, "families"_a,
      "convention"_a, "isotropy"_a, "confidence"_a, "seed"_a, "call"_a, "progress"_a.none());
  m.def(
      "text_ascent",
      [](const Asked& model, const nb::object& embed, const std::string& prompt, std::size_t number,
         std::size_t steps, std::size_t variants, const std::string& family, bool paper, double confidence,
         const std::string& convention, std::uint64_t seed, const nb::object& progress) {
        const AscentOptions options{steps, variants, parse_family(family), paper, confidence};
        return ascend(model, embed, prompt, number, options, parse_convention(convention), seed, progress);
      },
      "model"_a, "embed"_a, "prompt"_a, "number"_a, "steps"_a, "variants"_a, "family"_a, "paper"_a,
      "confidence"_a, "convention"_a, "seed"_a, "progress"_a.none());
}

}  // namespace

void bind_text(nb::module_& m) {
  bind_study(m);
  nb::class_<PythonEmbedder>(m, "LocalEmbedder", "Embeds sentences in this process.")
      .def(
          "__init__",
          [](PythonEmbedder* self, const std::string& folder, std::size_t threads) {
            new (self) PythonEmbedder{open_local_embedder(folder, threads)};
          },
          "folder"_a, "threads"_a)
      .def_prop_ro("name", [](const PythonEmbedder& self) { return self.embedder->name(); })
      .def("__call__", &PythonEmbedder::embed, "texts"_a)
      .def(
          "cuts",
          [](const PythonEmbedder& self, const std::string& text) { return self.embedder->cuts(text); },
          "text"_a);
  m.def("text_families", [] {
    std::vector<std::pair<std::string, std::string>> families;
    for (const PromptFamilyInfo& info : prompt_families()) families.emplace_back(info.name, info.meaning);
    return families;
  });
  m.def(
      "text_variants",
      [](const std::string& text, const std::string& family, std::size_t count, std::uint64_t seed,
         std::size_t number) { return prompt_variants(text, parse_family(family), count, seed, number); },
      "text"_a, "family"_a, "count"_a, "seed"_a, "number"_a);
  m.def(
      "text_angle",
      [](const std::vector<float>& u, const std::vector<float>& v, const std::string& convention) {
        return in_convention(angle_between(u, v), parse_convention(convention));
      },
      "u"_a, "v"_a, "convention"_a);
  m.def(
      "read_prompts",
      [](const std::string& path) {
        std::vector<Told> prompts;
        for (const Prompt& prompt : read_prompts(path, {}))
          prompts.emplace_back(prompt.text, prompt.id, prompt.domain);
        return prompts;
      },
      "path"_a);
}

}  // namespace harmonia::python
