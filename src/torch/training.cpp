#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/optim/adam.h>
#include <torch/script.h>

#include <chrono>
#include <cmath>
#include <sstream>
#include <thread>

#include "blas.hpp"
#include "device.hpp"
#include "harmonia/core/error.hpp"
#include "network.hpp"
#include "objective.hpp"
#include "torch_interface.hpp"

namespace harmonia {
namespace {

constexpr std::int64_t kTestedAtOnce = 1000;  // rows

// libtorch's number of threads while it lives, on the thread that made it.
class ThreadCount {
 public:
  explicit ThreadCount(std::size_t threads) : before_(at::get_num_threads()) {
    at::set_num_threads(
        static_cast<int>(threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency())));
  }
  ~ThreadCount() { at::set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

// Rows and classes where the network is.
struct RowsOnDevice {
  at::Tensor values, classes;

  RowsOnDevice(const LabelledRows& rows, c10::Device device) {
    const auto count = static_cast<std::int64_t>(rows.rows());
    const auto columns = static_cast<std::int64_t>(rows.values.columns());
    // libtorch has no word for memory that it may not write to, and does not write to it here.
    values =
        torch::from_blob(const_cast<float*>(rows.values.row(0)), {count, columns}, at::kFloat).to(device);
    classes = torch::from_blob(const_cast<std::int64_t*>(rows.classes.data()), {count}, at::kLong).to(device);
  }
  std::int64_t rows() const { return classes.size(0); }
};

at::Tensor basis_of(const Manifold* plane, c10::Device device) {
  if (plane == nullptr) return {};
  const Matrix<double>& basis = plane->basis();
  return torch::from_blob(
             const_cast<double*>(basis.row(0)),
             {static_cast<std::int64_t>(basis.rows()), static_cast<std::int64_t>(basis.columns())},
             at::kDouble)
      .to(at::TensorOptions(device).dtype(at::kFloat));
}

std::vector<at::Tensor> parameters_of(const torch::jit::Module& network) {
  std::vector<at::Tensor> parameters;
  for (const at::Tensor& parameter : network.parameters()) parameters.push_back(parameter.requires_grad_());
  return parameters;
}

// One training: the network, what it learns from, and how far it is.
class Trainer {
 public:
  Trainer(const TrainingOptions& options, const Training& training, Run& run)
      : options_(options),
        run_(run),
        device_(device_named(options.device)),
        rows_(*training.rows, device_),
        network_(network_on(options, run.seed, device_)),
        objective_(options, network_, basis_of(training.plane, device_)),
        adam_(parameters_of(network_), torch::optim::AdamOptions(options.rate)),
        draws_(at::detail::createCPUGenerator(run.seed + 1)) {
    if (training.test != nullptr) test_.emplace(*training.test, device_);
  }

  TrainingEpoch epoch(std::size_t number) {
    const auto start = std::chrono::steady_clock::now();
    TrainingEpoch told;
    told.epoch = number;
    double aligned = 0;
    const at::Tensor order = at::randperm(rows_.rows(), draws_, at::kLong).to(device_);
    const auto batch = static_cast<std::int64_t>(options_.batch);
    for (std::int64_t first = 0; first < rows_.rows(); first += batch) {
      if (run_.stop.stop_requested()) throw Error(ErrorCode::interrupted, "the training was stopped");
      const ObjectiveValue value = step(order.slice(0, first, std::min(first + batch, rows_.rows())));
      enter(value, std::min(batch, rows_.rows() - first), told, aligned);
      show(told);
    }
    finish(told, aligned);
    if (test_) told.test_right = test();
    told.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return told;
  }

  // The network as the bytes of a TorchScript file.
  std::string file() const {
    torch::jit::Module saved = network_.clone();
    saved.eval();
    saved.to(c10::Device(c10::kCPU));
    std::ostringstream out;
    saved.save(out);
    return out.str();
  }

 private:
  static torch::jit::Module network_on(const TrainingOptions& options, std::uint64_t seed,
                                       c10::Device device) {
    torch::jit::Module network = new_network(options.network, at::kFloat, seed);
    network.to(device);
    return network;
  }

  ObjectiveValue step(const at::Tensor& chosen) {
    at::Tensor x = rows_.values.index_select(0, chosen);
    const at::Tensor classes = rows_.classes.index_select(0, chosen);
    if (options_.adversarial.epsilon > 0) {
      const at::Tensor draws = at::empty(x.sizes(), at::kFloat).uniform_(-1, 1, draws_).to(device_);
      x = moved_rows(network_, options_.adversarial, x, classes, draws);
    }
    adam_.zero_grad();
    ObjectiveValue value = objective_.at(network_, x, classes);
    if (!std::isfinite(value.total.item<double>())) {
      throw Error(
          ErrorCode::model,
          "the objective is no finite number any more; expected a smaller --rate, --alpha or --penalty");
    }
    value.total.backward();
    adam_.step();
    return value;
  }

  static void enter(const ObjectiveValue& value, std::int64_t rows, TrainingEpoch& told, double& aligned) {
    const auto weight = static_cast<double>(rows);
    told.rows += static_cast<std::uint64_t>(rows);
    told.right += static_cast<std::uint64_t>(value.right);
    told.objective += weight * value.total.item<double>();
    told.cross_entropy += weight * value.cross_entropy;
    told.penalty += weight * value.penalty;
    if (!value.alignment) return;
    told.alignment = told.alignment.value_or(0) + static_cast<double>(value.aligned) * *value.alignment;
    aligned += static_cast<double>(value.aligned);
  }

  static void finish(TrainingEpoch& told, double aligned) {
    const auto rows = static_cast<double>(told.rows);
    told.objective /= rows;
    told.cross_entropy /= rows;
    told.penalty /= rows;
    if (told.alignment) *told.alignment /= aligned;
  }

  void show(const TrainingEpoch& told) {
    const auto all = static_cast<std::size_t>(rows_.rows());
    const std::size_t before = (told.epoch - 1) * all;
    if (run_.progress) run_.progress({before + told.rows, options_.epochs * all, before + told.rows});
  }

  std::uint64_t test() {
    const at::NoGradGuard no_gradients;
    std::int64_t right = 0;
    for (std::int64_t first = 0; first < test_->rows(); first += kTestedAtOnce) {
      const std::int64_t last = std::min(first + kTestedAtOnce, test_->rows());
      const at::Tensor logits = network_.forward({test_->values.slice(0, first, last)}).toTensor();
      right += (logits.argmax(1) == test_->classes.slice(0, first, last)).sum().item<std::int64_t>();
    }
    return static_cast<std::uint64_t>(right);
  }

  const TrainingOptions& options_;
  Run& run_;
  c10::Device device_;
  RowsOnDevice rows_;
  std::optional<RowsOnDevice> test_;
  torch::jit::Module network_;
  Objective objective_;
  torch::optim::Adam adam_;
  at::Generator draws_;
};

}  // namespace
}  // namespace harmonia

extern "C" __attribute__((visibility("default"))) void harmonia_torch_train(
    const harmonia::TrainingOptions& options, const harmonia::Training& training, harmonia::Run& run) {
  using namespace harmonia;
  require_fast_blas("training");
  try {
    const ThreadCount threads(run.threads);
    // Operations one by one, as they are written: gradients of gradients are taken of them.
    const torch::jit::GraphOptimizerEnabledGuard as_it_is(false);
    if (options.device != "cpu") compute_in_full();
    Trainer trainer(options, training, run);
    for (std::size_t number = 1; number <= options.epochs; ++number) {
      const TrainingEpoch told = trainer.epoch(number);
      training.epoch_done(told, trainer.file());
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ErrorCode::model, fmt::format("training failed: {}", reason(error)));
  }
}
