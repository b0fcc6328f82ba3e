#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "harmonia/core/error.hpp"
#include "harmonia/core/sha256.hpp"
#include "harmonia/model/onnx_model.hpp"
#include "harmonia/model/tree_ensemble.hpp"
#include "model_file.hpp"
#include "onnx_graph.hpp"
#include "onnx_plan.hpp"

namespace harmonia {
namespace {

// What is here and cannot be said as a TreeEnsemble: ONNX Runtime has to run it.
struct NotOurs {};

void require(bool condition) {
  if (!condition) throw NotOurs{};
}

// Numbers are attributes of floats, or a tensor where the model computes in double.
std::vector<double> numbers(const OnnxNode& node, const std::string& name) {
  if (const auto& tensor = node.attribute(name + "_as_tensor").tensor) {
    auto values = tensor_numbers(*tensor);
    require(values.has_value());
    return std::move(*values);
  }
  return node.attribute(name).reals;
}

// The split `x < threshold` that is true for the same values of the type as x < t, or as x <= t.
double below(double t, bool or_equal, Scalar scalar) {
  if (scalar == Scalar::float64)
    return or_equal ? std::nextafter(t, std::numeric_limits<double>::infinity()) : t;
  require(std::abs(t) <= static_cast<double>(std::numeric_limits<float>::max()));
  const auto nearest = static_cast<float>(t);
  const auto value = static_cast<double>(nearest);
  const bool up = value < t || (or_equal && value == t);
  return up ? static_cast<double>(std::nextafter(nearest, std::numeric_limits<float>::infinity())) : value;
}

// The arrays of a TreeEnsembleClassifier or TreeEnsembleRegressor: nodes, and the weights of the leaves.
class TreeReader {
 public:
  TreeReader(const OnnxNode& node, bool classifier, Scalar scalar, std::size_t columns)
      : node_(node), classifier_(classifier) {
    ensemble_.scalar = scalar;
    ensemble_.columns = columns;
  }

  TreeEnsemble read() {
    number_nodes();
    read_weights();
    for (std::size_t i = 0; i < ids_.size(); ++i) read_node(i);
    find_roots();
    classifier_ ? set_classes() : set_targets();
    narrow_leaves();
    for (std::size_t j = 0; j < ensemble_.columns; ++j) {
      ensemble_.inputs.push_back({static_cast<std::uint32_t>(j), TreeInput::Rule::plain, 0});
    }
    return std::move(ensemble_);
  }

 private:
  using Id = std::pair<std::int64_t, std::int64_t>;  // tree, node

  const std::vector<std::int64_t>& integers(const std::string& name) const {
    return node_.attribute(name).integers;
  }

  // Splits and leaves are numbered each for itself, in the order of the file.
  void number_nodes() {
    const auto &trees = integers("nodes_treeids"), &nodes = integers("nodes_nodeids");
    const auto& modes = node_.attribute("nodes_modes").strings;
    require(!trees.empty() && trees.size() == nodes.size() && trees.size() == modes.size());
    require(trees.size() <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()));
    std::int32_t splits = 0, leaves = 0;
    for (std::size_t i = 0; i < trees.size(); ++i) {
      ids_.emplace_back(trees[i], nodes[i]);
      require(number_.emplace(ids_.back(), modes[i] == "LEAF" ? ~leaves++ : splits++).second);
    }
    leaf_count_ = static_cast<std::size_t>(leaves);
  }

  void read_weights() {
    const std::string prefix = classifier_ ? "class" : "target";
    const auto &trees = integers(prefix + "_treeids"), &nodes = integers(prefix + "_nodeids"),
               &outputs = integers(prefix + "_ids");
    const std::vector<double> weights = numbers(node_, prefix + "_weights");
    require(!weights.empty() && trees.size() == weights.size() && nodes.size() == weights.size() &&
            outputs.size() == weights.size());
    const std::int64_t most = *std::max_element(outputs.begin(), outputs.end());
    require(*std::min_element(outputs.begin(), outputs.end()) >= 0 && most < kMostOutputs);
    width_ = static_cast<std::size_t>(most) + 1;
    weight_count_ = weights.size();
    require(leaf_count_ <= most_numbers() / width_);
    ensemble_.leaves.assign(leaf_count_ * width_, 0.0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const auto leaf = number_.find({trees[i], nodes[i]});
      require(leaf != number_.end() && leaf->second < 0);
      ensemble_
          .leaves[static_cast<std::size_t>(~leaf->second) * width_ + static_cast<std::size_t>(outputs[i])] +=
          weights[i];
      used_.insert(static_cast<std::uint32_t>(outputs[i]));
      of_tree_[trees[i]].insert(static_cast<std::uint32_t>(outputs[i]));
      all_positive_ = all_positive_ && weights[i] >= 0;
    }
  }

  void read_node(std::size_t i) {
    const std::string_view mode = node_.attribute("nodes_modes").strings[i];
    if (mode == "LEAF") return;
    const auto &features = integers("nodes_featureids"), &trues = integers("nodes_truenodeids"),
               &falses = integers("nodes_falsenodeids"),
               &tracks = integers("nodes_missing_value_tracks_true");
    if (thresholds_.empty()) thresholds_ = numbers(node_, "nodes_values");
    require(i < features.size() && i < trues.size() && i < falses.size() && i < thresholds_.size());
    require(tracks.empty() || i < tracks.size());
    require(features[i] >= 0 && static_cast<std::size_t>(features[i]) < ensemble_.columns);
    const bool less = mode == "BRANCH_LEQ" || mode == "BRANCH_LT";
    const bool or_equal = mode == "BRANCH_LEQ" || mode == "BRANCH_GT";
    require(less || or_equal || mode == "BRANCH_GTE");
    // x > t and x >= t are the other side of x <= t and x < t; a missing value is neither.
    const bool missing_true = !tracks.empty() && tracks[i] != 0;
    const std::int32_t yes = child(ids_[i].first, trues[i]), no = child(ids_[i].first, falses[i]);
    TreeNode split;
    split.threshold = below(thresholds_[i], or_equal, ensemble_.scalar);
    require(std::isfinite(split.threshold));
    split.input = static_cast<std::uint32_t>(features[i]);
    split.left = less ? yes : no;
    split.right = less ? no : yes;
    split.missing_left = less == missing_true;
    ensemble_.nodes.push_back(split);
  }

  std::int32_t child(std::int64_t tree, std::int64_t node) {
    const auto found = number_.find({tree, node});
    require(found != number_.end() && children_.insert(found->first).second);
    return found->second;
  }

  // The root of a tree is its first node, and nobody's child.
  void find_roots() {
    std::set<std::int64_t> seen;
    for (const Id& id : ids_) {
      const bool first = seen.insert(id.first).second;
      require(first == !children_.contains(id));
      if (first) {
        tree_ids_.push_back(id.first);
        ensemble_.trees.push_back({number_.at(id), 0});
      }
    }
  }

  // The sums of ONNX Runtime's TreeEnsembleClassifier, where they are not a matter of its own.
  void set_classes() {
    ensemble_.classes = onnx_class_names(node_);
    const std::size_t classes = ensemble_.classes.size();
    std::vector<double> base = numbers(node_, "base_values");
    const std::string_view link = node_.attribute("post_transform").text;
    require(classes >= 2);
    if (classes == 2 && used_.size() == 1) {
      // One score for two classes, given to the first.
      require(base.size() <= 1 && *used_.begin() == 0);
      ensemble_.base = base.empty() ? std::vector<double>{0.0} : base;
      ensemble_.link.complement = true;
      // Where no weight is negative the score is a probability, whatever the link says.
      if (all_positive_) {
        require(link.empty() || link == "NONE");
      } else {
        require(link == "LOGISTIC");
        ensemble_.link.kind = TreeLink::Kind::logistic;
      }
      return;
    }
    require(base.empty() || (base.size() == classes && classes > 2));
    require(widen(classes));
    ensemble_.base = base.empty() ? std::vector<double>(classes, 0.0) : base;
    ensemble_.link.kind = link_kind(link);
  }

  void set_targets() {
    const std::int64_t targets = node_.attribute("n_targets").integer.value_or(1);
    const std::string_view sum = node_.attribute("aggregate_function").text;
    const std::string_view link = node_.attribute("post_transform").text;
    require(targets >= 1 && targets < kMostOutputs && (link.empty() || link == "NONE"));
    require(sum.empty() || sum == "SUM" || sum == "AVERAGE");
    if (sum == "AVERAGE") ensemble_.factor = 1 / static_cast<double>(ensemble_.trees.size());
    require(widen(static_cast<std::size_t>(targets)));
    std::vector<double> base = numbers(node_, "base_values");
    require(base.empty() || base.size() == width_);
    ensemble_.base = base.empty() ? std::vector<double>(width_, 0.0) : base;
  }

  static TreeLink::Kind link_kind(std::string_view name) {
    if (name.empty() || name == "NONE") return TreeLink::Kind::identity;
    if (name == "LOGISTIC") return TreeLink::Kind::logistic;
    require(name == "SOFTMAX");
    return TreeLink::Kind::softmax;
  }

  // Columns for outputs that no leaf adds to.
  bool widen(std::size_t outputs) {
    if (outputs < width_ || leaf_count_ > most_numbers() / outputs) return false;
    std::vector<double> leaves(leaf_count_ * outputs, 0.0);
    for (std::size_t i = 0; i < leaf_count_; ++i) {
      std::copy_n(ensemble_.leaves.begin() + static_cast<std::ptrdiff_t>(i * width_), width_,
                  leaves.begin() + static_cast<std::ptrdiff_t>(i * outputs));
    }
    ensemble_.leaves = std::move(leaves);
    width_ = outputs;
    return true;
  }

  // One number a leaf where every tree adds to one output alone.
  void narrow_leaves() {
    ensemble_.leaf_width = width_;
    if (width_ == 1) return;
    for (const auto& [tree, outputs] : of_tree_) {
      if (outputs.size() != 1) return;
    }
    std::vector<double> leaves(leaf_count_, 0.0);
    for (std::size_t i = 0; i < leaf_count_; ++i) {
      for (std::size_t k = 0; k < width_; ++k) leaves[i] += ensemble_.leaves[i * width_ + k];
    }
    ensemble_.leaves = std::move(leaves);
    ensemble_.leaf_width = 1;
    for (std::size_t t = 0; t < tree_ids_.size(); ++t) {
      const auto outputs = of_tree_.find(tree_ids_[t]);
      if (outputs != of_tree_.end()) ensemble_.trees[t].output = *outputs->second.begin();
    }
  }

  static constexpr std::int64_t kMostOutputs = 1 << 20;
  // Of dense leaves; what is larger for its weights is left to ONNX Runtime.
  std::size_t most_numbers() const { return 256 * weight_count_ + (std::size_t{1} << 20); }

  const OnnxNode& node_;
  bool classifier_;
  TreeEnsemble ensemble_;
  std::vector<Id> ids_;
  std::map<Id, std::int32_t> number_;
  std::set<Id> children_;
  std::vector<double> thresholds_;
  std::size_t leaf_count_ = 0, width_ = 1, weight_count_ = 0;
  std::set<std::uint32_t> used_;                             // outputs that any leaf adds to
  std::map<std::int64_t, std::set<std::uint32_t>> of_tree_;  // the same by tree
  std::vector<std::int64_t> tree_ids_;
  bool all_positive_ = true;
};

// The tree node that the graph's default output comes from, if nothing but copies lie around it.
const OnnxNode& tree_node(const OnnxGraph& graph, const OnnxPlan& plan) {
  const std::string_view value = onnx_origin(graph, plan.output);
  const OnnxNode* node = graph.maker(value);
  require(node != nullptr && node->machine_learning() && node->inputs.size() == 1);
  const bool classifier = node->operation == "TreeEnsembleClassifier";
  require(classifier || node->operation == "TreeEnsembleRegressor");
  require(node->outputs.size() > (classifier ? 1U : 0U) && node->outputs[classifier ? 1 : 0] == value);
  require(onnx_origin(graph, node->inputs.front()) == plan.input);
  return *node;
}

// A cast to float on the way makes the comparison one of floats.
Scalar compared_as(const OnnxGraph& graph, std::string_view value, Scalar scalar) {
  while (const OnnxNode* maker = graph.maker(value)) {
    if (maker->operation == "Cast" &&
        maker->attribute("to").integer == static_cast<std::int64_t>(OnnxType::float32)) {
      scalar = Scalar::float32;
    }
    value = maker->inputs.front();
  }
  return scalar;
}

}  // namespace

std::optional<TreeEnsemble> read_onnx_trees(const std::string& bytes, const std::string& name) {
  try {
    const OnnxGraph graph = read_onnx_graph(bytes, name);
    const OnnxPlan plan = plan_onnx(graph, {}, {}, name);
    require(plan.shape.size() == 2);
    const OnnxNode& node = tree_node(graph, plan);
    const Scalar scalar = compared_as(graph, node.inputs.front(), plan.scalar);
    TreeEnsemble ensemble =
        TreeReader(node, node.operation == "TreeEnsembleClassifier", scalar, plan.width).read();
    check_trees(ensemble, name);
    return ensemble;
  } catch (const NotOurs&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // opening it with ONNX Runtime says what is wrong
  }
}

bool is_onnx_trees_file(const std::string& path) {
  try {
    return read_onnx_trees(read_model_file(path), path).has_value();
  } catch (const Error&) {
    return false;
  }
}

std::unique_ptr<Model> open_onnx_trees(const std::string& path, const ModelOptions& options,
                                       std::span<const double> example) {
  // Other values than the prediction are the runtime's to compute.
  if (!options.output_name.empty()) return open_onnx_model(path, options, example);
  const std::string bytes = read_model_file(path);
  const auto ensemble = read_onnx_trees(bytes, path);
  if (!ensemble) {
    throw Error(
        ErrorCode::input,
        fmt::format("model {} is not a single sum of trees in ONNX's ai.onnx.ml operators; expected one, or "
                    "--model-kind onnx",
                    path));
  }
  return make_tree_model(*ensemble, {.name = path,
                                     .kind = "onnx-trees",
                                     .sha256 = sha256_hex(bytes),
                                     .margin = options.margin,
                                     .fast_path = options.fast_path});
}

}  // namespace harmonia
