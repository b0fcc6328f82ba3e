#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/model/tree_ensemble.hpp"
#include "lightgbm_trees.hpp"

namespace harmonia {
namespace {

using Link = TreeLink::Kind;

constexpr std::size_t kMostFeatures = 1U << 22, kMostOutputs = 1U << 16;

struct Objective {
  std::string_view name;
  Link link;
};

constexpr std::array kObjectives{
    Objective{"regression", Link::identity},
    Objective{"regression_l1", Link::identity},
    Objective{"huber", Link::identity},
    Objective{"fair", Link::identity},
    Objective{"quantile", Link::identity},
    Objective{"mape", Link::identity},
    Objective{"lambdarank", Link::identity},
    Objective{"rank_xendcg", Link::identity},
    Objective{"custom", Link::identity},
    Objective{"none", Link::identity},
    Objective{"poisson", Link::exponential},
    Objective{"gamma", Link::exponential},
    Objective{"tweedie", Link::exponential},
    Objective{"binary", Link::logistic},
    Objective{"multiclassova", Link::logistic},
    Objective{"cross_entropy", Link::logistic},
    Objective{"xentropy", Link::logistic},
    Objective{"multiclass", Link::softmax},
    Objective{"cross_entropy_lambda", Link::softplus},
    Objective{"xentlambda", Link::softplus},
};

class LightgbmReader {
 public:
  LightgbmReader(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  TreeEnsemble read() {
    std::string_view line;
    while (line.empty() && next(line)) continue;
    if (line != "tree") {
      fail(fmt::format("begins with {}; expected a LightGBM model, from booster.save_model(): 'tree'",
                       in_quotes(line)));
    }
    const LightgbmFields header = fields();
    read_header(header);
    LightgbmTrees trees(ensemble_, name_);
    while (line_.starts_with("Tree=")) trees.add(fields());
    if (line_ != "end of trees" && !line_.starts_with("feature")) {
      fail(fmt::format("ends after {}; expected 'end of trees'", counted(ensemble_.trees.size(), "tree")));
    }
    const auto sizes = header.find("tree_sizes");
    const std::size_t expected =
        sizes == header.end() ? ensemble_.trees.size() : words_of(sizes->second).size();
    const std::size_t iterations = ensemble_.trees.size() / ensemble_.margins();
    if (ensemble_.trees.size() != expected || iterations * ensemble_.margins() != expected) {
      fail(fmt::format("has {} trees; expected {}, and as many for each of {} outputs",
                       ensemble_.trees.size(), expected, ensemble_.margins()));
    }
    if (header.contains("average_output") && iterations > 0) {
      ensemble_.factor = 1 / static_cast<double>(iterations);
    }
    return std::move(ensemble_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::input, fmt::format("model {} {}", name_, what));
  }

  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line = trim(rest_.substr(0, end));
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    return true;
  }

  // Lines of NAME=VALUE up to the next tree or the end of all trees, which is left in line_.
  LightgbmFields fields() {
    LightgbmFields found;
    line_ = {};
    for (std::string_view line; next(line);) {
      if (line.starts_with("Tree=") || line == "end of trees" || line == "feature importances:" ||
          line == "feature_importances:") {
        line_ = line;
        break;
      }
      const std::size_t equals = line.find('=');
      if (!line.empty()) {
        found[line.substr(0, equals)] = equals == std::string_view::npos ? "" : line.substr(equals + 1);
      }
    }
    return found;
  }

  std::size_t whole(const LightgbmFields& header, std::string_view key, std::size_t most) const {
    const auto found = header.find(key);
    if (found == header.end()) fail(fmt::format("has no {}; expected a LightGBM model", key));
    const double value = read_number(found->second).value_or(-1);
    if (!(value >= 0 && value <= static_cast<double>(most)) || value != std::trunc(value)) {
      fail(fmt::format("has {} {}; expected a whole number up to {}", key, in_quotes(found->second), most));
    }
    return static_cast<std::size_t>(value);
  }

  void read_header(const LightgbmFields& header) {
    ensemble_.scalar = Scalar::float64;
    ensemble_.columns = whole(header, "max_feature_idx", kMostFeatures - 1) + 1;
    const std::size_t margins = whole(header, "num_tree_per_iteration", kMostOutputs);
    if (margins == 0) fail("has num_tree_per_iteration 0; expected 1 or more");
    ensemble_.base.assign(margins, 0.0);
    if (const auto objective = header.find("objective"); objective != header.end()) {
      read_objective(objective->second);
    }
    const auto names = header.find("feature_names");
    if (names == header.end()) return;
    for (const std::string_view word : words_of(names->second)) ensemble_.features.emplace_back(word);
    if (ensemble_.features.size() != ensemble_.columns) {
      fail(fmt::format("names {} features; it has {}", ensemble_.features.size(), ensemble_.columns));
    }
  }

  void read_objective(std::string_view written) {
    const std::vector<std::string_view> words = words_of(written);
    if (words.empty()) return;
    const auto* found = std::ranges::find(kObjectives, words[0], &Objective::name);
    if (found == kObjectives.end()) {
      fail(fmt::format("has the objective {}; expected one that LightGBM 4 has", in_quotes(words[0])));
    }
    ensemble_.link.kind = found->link;
    for (const std::string_view word : words) {
      if (word == "sqrt" && found->link == Link::identity) ensemble_.link.kind = Link::signed_square;
      if (!word.starts_with("sigmoid:")) continue;
      const double value = read_number(word.substr(8)).value_or(NAN);
      if (!(value > 0) || !std::isfinite(value))
        fail(fmt::format("has {}; expected a number > 0", in_quotes(word)));
      ensemble_.link.parameter = value;
    }
    ensemble_.binary = found->name == "binary";
  }

  std::string_view rest_, line_;
  const std::string& name_;
  TreeEnsemble ensemble_;
};

}  // namespace

TreeEnsemble read_lightgbm(const std::string& text, const std::string& name) {
  return LightgbmReader(text, name).read();
}

}  // namespace harmonia
