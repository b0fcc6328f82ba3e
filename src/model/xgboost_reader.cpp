#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/model/tree_ensemble.hpp"
#include "model_document.hpp"
#include "xgboost_trees.hpp"

namespace harmonia {
namespace {

using Link = TreeLink::Kind;

constexpr std::size_t kMostFeatures = 1U << 22, kMostOutputs = 1U << 16;

// How an objective's base score is written, and how its margins become predictions.
struct Objective {
  std::string_view name;
  enum class Base { margin, probability, mean } base;  ///< what base_score is: m, logistic(m) or exp(m)
  Link link;
};

constexpr std::array kObjectives{
    Objective{"reg:squarederror", Objective::Base::margin, Link::identity},
    Objective{"reg:linear", Objective::Base::margin, Link::identity},
    Objective{"reg:squaredlogerror", Objective::Base::margin, Link::identity},
    Objective{"reg:absoluteerror", Objective::Base::margin, Link::identity},
    Objective{"reg:pseudohubererror", Objective::Base::margin, Link::identity},
    Objective{"reg:quantileerror", Objective::Base::margin, Link::identity},
    Objective{"reg:expectileerror", Objective::Base::margin, Link::identity},
    Objective{"rank:pairwise", Objective::Base::margin, Link::identity},
    Objective{"rank:ndcg", Objective::Base::margin, Link::identity},
    Objective{"rank:map", Objective::Base::margin, Link::identity},
    Objective{"binary:logitraw", Objective::Base::margin, Link::identity},
    Objective{"binary:logistic", Objective::Base::probability, Link::logistic},
    Objective{"reg:logistic", Objective::Base::probability, Link::logistic},
    Objective{"binary:hinge", Objective::Base::margin, Link::positive},
    Objective{"multi:softprob", Objective::Base::margin, Link::softmax},
    Objective{"multi:softmax", Objective::Base::margin, Link::largest},
    Objective{"count:poisson", Objective::Base::mean, Link::exponential},
    Objective{"reg:gamma", Objective::Base::mean, Link::exponential},
    Objective{"reg:tweedie", Objective::Base::mean, Link::exponential},
    Objective{"survival:cox", Objective::Base::mean, Link::exponential},
    Objective{"survival:aft", Objective::Base::mean, Link::exponential},
};

// In float32 as XGBoost does it, so that the rounding is the same. It keeps probabilities from 0 and 1.
double margin_of(Objective::Base base, double score) {
  constexpr float kLeast = 1e-6F;
  const auto value = static_cast<float>(score);
  if (base == Objective::Base::probability) {
    return value >= 0 && value <= 1 ? -std::log(1 / std::clamp(value, kLeast, 1 - kLeast) - 1) : NAN;
  }
  return base == Objective::Base::mean ? std::log(value) : value;
}

class XgboostReader {
 public:
  XgboostReader(const Document& document, const std::string& name) : document_(document), name_(name) {}

  TreeEnsemble read() {
    const Document& learner = learner_of();
    const Document& parameters = member(learner, "learner_model_param", Document::Kind::object);
    ensemble_.columns = whole(parameters, "num_feature", kMostFeatures);
    const std::size_t classes = whole(parameters, "num_class", kMostOutputs);
    const std::size_t targets =
        parameters.find("num_target") == nullptr ? 1 : whole(parameters, "num_target", kMostOutputs);
    if (classes > 1 && targets > 1) {
      fail(fmt::format("has {} classes and {} targets; expected one of them to be 1", classes, targets));
    }
    const Objective& objective =
        objective_of(text(member(learner, "objective", Document::Kind::object), "name"));
    ensemble_.base =
        base_of(text(parameters, "base_score"), std::max({classes, targets, std::size_t{1}}), objective.base);
    ensemble_.link.kind = objective.link;
    ensemble_.binary = objective.name == "binary:logistic" && ensemble_.margins() == 1;
    read_features(learner);
    read_booster(member(learner, "gradient_booster", Document::Kind::object));
    return std::move(ensemble_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::input, fmt::format("model {} {}", name_, what));
  }

  const Document& learner_of() const {
    const Document* learner = document_.find("learner");
    if (learner == nullptr && document_.find("tree_info") != nullptr) {
      fail("is what LightGBM's dump_model() gives; expected the text that booster.save_model() writes");
    }
    if (learner == nullptr) fail("has no 'learner'; expected an XGBoost model, from booster.save_model()");
    return *learner;
  }

  const Document& member(const Document& object, const char* key, Document::Kind kind) const {
    const Document* found = object.find(key);
    if (found == nullptr || found->kind != kind) {
      fail(fmt::format("has no '{}', or one of another form; expected what XGBoost's save_model() writes",
                       key));
    }
    return *found;
  }

  const std::string& text(const Document& object, const char* key) const {
    return member(object, key, Document::Kind::text).text;
  }

  // Numbers of the parameters are written as texts.
  std::size_t whole(const Document& object, const char* key, std::size_t most) const {
    const std::string& written = text(object, key);
    const double value = read_number(written).value_or(-1);
    if (!(value >= 0 && value <= static_cast<double>(most)) || value != std::trunc(value)) {
      fail(fmt::format("has {} {}; expected a whole number up to {}", key, in_quotes(written), most));
    }
    return static_cast<std::size_t>(value);
  }

  const Objective& objective_of(const std::string& objective) const {
    const auto* found = std::ranges::find(kObjectives, objective, &Objective::name);
    if (found == kObjectives.end()) {
      fail(fmt::format("has the objective {}; expected one that XGBoost 1.7 to 3.2 have",
                       in_quotes(objective)));
    }
    return *found;
  }

  // "5E-1", or from 3.1 on "[4.9E-1,9.8E-1]"; one for all margins, or one each.
  std::vector<double> base_of(std::string_view written, std::size_t margins, Objective::Base base) const {
    std::string_view rest = trim(written);
    if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
    std::vector<double> found;
    while (true) {
      const std::size_t comma = rest.find(',');
      const std::optional<double> score = read_number(rest.substr(0, comma));
      const double margin = margin_of(base, score.value_or(NAN));
      if (!std::isfinite(margin)) {
        fail(fmt::format("has base_score {}; expected finite numbers that its objective allows",
                         in_quotes(written)));
      }
      found.push_back(margin);
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    if (found.size() == 1) found.resize(margins, found[0]);
    if (found.size() != margins) {
      fail(fmt::format("has {} base scores; expected 1 or {}", found.size(), margins));
    }
    return found;
  }

  void read_features(const Document& learner) {
    const Document* names = learner.find("feature_names");
    if (names == nullptr || names->items.empty()) return;
    for (const Document& item : names->items) ensemble_.features.push_back(item.text);
    if (ensemble_.features.size() != ensemble_.columns) {
      fail(fmt::format("names {} features; it has {}", ensemble_.features.size(), ensemble_.columns));
    }
  }

  void read_booster(const Document& booster) {
    const std::string& kind = text(booster, "name");
    if (kind == "gblinear") fail("is a linear model (gblinear); expected trees: gbtree or dart");
    if (kind != "gbtree" && kind != "dart") {
      fail(fmt::format("is a booster of kind {}; expected gbtree or dart", in_quotes(kind)));
    }
    const bool dart = kind == "dart";
    const Document& model = member(dart ? member(booster, "gbtree", Document::Kind::object) : booster,
                                   "model", Document::Kind::object);
    const std::vector<Document>& trees = member(model, "trees", Document::Kind::list).items;
    const std::vector<double>& output = member(model, "tree_info", Document::Kind::list).numbers;
    std::vector<double> weight(trees.size(), 1.0);
    if (dart) weight = member(booster, "weight_drop", Document::Kind::list).numbers;
    if (output.size() != trees.size() || weight.size() != trees.size()) {
      fail(fmt::format("has {} trees, {} outputs for them and {} weights; expected as many", trees.size(),
                       output.size(), weight.size()));
    }
    read_trees(trees, output, weight);
  }

  void read_trees(const std::vector<Document>& trees, const std::vector<double>& output,
                  const std::vector<double>& weight) {
    if (trees.empty()) fail("has no trees");
    ensemble_.leaf_width = leaf_width(trees[0]);
    for (std::size_t column = 0; column < ensemble_.columns; ++column) {
      ensemble_.inputs.push_back({.column = static_cast<std::uint32_t>(column)});
    }
    XgboostTrees adder(ensemble_, name_);
    for (std::size_t t = 0; t < trees.size(); ++t) {
      const std::size_t width = leaf_width(trees[t]);
      if (width != ensemble_.leaf_width) {
        fail(fmt::format("has leaves of {} and of {} numbers; expected the same in all trees",
                         ensemble_.leaf_width, width));
      }
      if (!(output[t] >= 0 && output[t] < static_cast<double>(ensemble_.margins()))) {
        fail(fmt::format("has a tree for output {}; it has {} outputs", output[t], ensemble_.margins()));
      }
      adder.add(trees[t], width > 1 ? 0 : static_cast<std::uint32_t>(output[t]), weight[t]);
    }
  }

  // 0 in older files and 1 in newer mean the same.
  std::size_t leaf_width(const Document& tree) const {
    const Document& parameters = member(tree, "tree_param", Document::Kind::object);
    if (parameters.find("size_leaf_vector") == nullptr) return 1;
    const std::size_t width = std::max<std::size_t>(1, whole(parameters, "size_leaf_vector", kMostOutputs));
    if (width != 1 && width != ensemble_.margins()) {
      fail(fmt::format("has leaves of {} numbers; expected 1 or {}", width, ensemble_.margins()));
    }
    return width;
  }

  const Document& document_;
  const std::string& name_;
  TreeEnsemble ensemble_;
};

// A JSON object goes on with a blank, a quote or its end; a UBJSON object with the type of a length.
bool is_ubjson(std::string_view bytes) {
  return bytes.size() > 1 && bytes[0] == '{' &&
         std::string_view("iUIlL").find(bytes[1]) != std::string_view::npos;
}

}  // namespace

TreeEnsemble read_xgboost(const std::string& bytes, const std::string& name) {
  const std::string_view start = trim(std::string_view(bytes).substr(0, 64));
  if (start.empty()) throw Error(ErrorCode::input, fmt::format("model {} is empty", name));
  if (start.starts_with("binf")) {
    throw Error(ErrorCode::input,
                fmt::format("model {} is in XGBoost's old binary format; expected JSON or UBJSON: "
                            "load it and call booster.save_model(\"model.json\")",
                            name));
  }
  if (!start.starts_with('{')) {
    throw Error(ErrorCode::input,
                fmt::format("model {} begins with {}; expected an XGBoost model in JSON or UBJSON: "
                            "booster.save_model(\"model.json\") writes one",
                            name, in_quotes(start.substr(0, 12))));
  }
  const Document document =
      is_ubjson(bytes) ? read_ubjson_document(bytes, name) : read_json_document(bytes, name);
  return XgboostReader(document, name).read();
}

}  // namespace harmonia
