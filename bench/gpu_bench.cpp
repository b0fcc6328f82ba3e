// Black-box gamma of two image networks on a GPU, 20 pairs an image, against libtorch itself on images that
// lie ready on the device: the same TorchScript file, frozen alike, and batches of the size that gamma's
// calls have, in single precision with TF32 off. The two are timed in turn; the median of their ratios
// counts. The same once more with points answered by differences, on tensor cores. Then the error of gamma in
// single precision, TF32, bfloat16 and by differences against double precision, on the same points.

#include <torch/cuda.h>
#include <torch/script.h>
#include <torch/version.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "crosses.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/model/torch_model.hpp"

namespace harmonia::bench {
namespace {

constexpr double kGoal = 0.97, kDifferencesGoal = 1.5;
constexpr double kRadius = 1;  // a deviation of the images' values
constexpr std::uint64_t kPairs = 20;
constexpr std::size_t kPointsOfRow = 1 + 2 * kPairs;
constexpr int kRepeats = 5;
constexpr double kRawSeconds = 1.2;  // of one raw timing
constexpr double kRight = 1e-4;  // of values and means of balls from two ways of batching, single precision

struct Settings {
  std::string device = "cuda", models = HARMONIA_BENCH_MODELS, json;
  bool small = false;

  bool on_gpu() const { return device != "cpu"; }
  std::int64_t side() const { return small ? 64 : 224; }
  std::size_t inputs() const { return static_cast<std::size_t>(3 * side() * side()); }
};

struct Network {
  std::string title, file;
  std::size_t images;  // of one timing
};

GammaOptions gamma_options() {
  GammaOptions options = cross_options(kRadius);
  options.sample = kPairs;
  return options;
}

// Hands every call on, and notes how large calls are and for how long none is under way.
class Watched final : public Model {
 public:
  explicit Watched(const Model& model) : model_(model) {}
  const ModelInfo& info() const override { return model_.info(); }
  bool makes_points() const override { return model_.makes_points(); }
  void evaluate(RowsView x, MutableRowsView y) const override {
    note(x.rows(), [&] { model_.evaluate(x, y); });
  }
  void evaluate_made(const PointsToMake& points, MutableRowsView y) const override {
    note(points.points(), [&] { model_.evaluate_made(points, y); });
  }

  // The size that most points were asked in.
  std::size_t batch() const {
    const auto more = [](const auto& a, const auto& b) { return a.first * a.second < b.first * b.second; };
    return std::max_element(sizes_.begin(), sizes_.end(), more)->first;
  }
  // Seconds that exactly `calls` calls were under way.
  double seconds_of(std::size_t calls) const {
    const auto found = seconds_.find(calls);
    return found == seconds_.end() ? 0 : found->second;
  }
  // Counting starts here, and ends with stop().
  void start() {
    sizes_.clear();
    seconds_.clear();
    since_ = seconds(CLOCK_MONOTONIC);
  }
  void stop() { change(0); }

 private:
  template <class Call>
  void note(std::size_t points, const Call& call) const {
    change(1);
    call();
    change(-1);
    const std::lock_guard lock(mutex_);
    ++sizes_[points];
  }

  void change(int calls) const {
    const std::lock_guard lock(mutex_);
    const double now = seconds(CLOCK_MONOTONIC);
    seconds_[calls_] += now - since_;
    since_ = now;
    calls_ += static_cast<std::size_t>(calls);
  }

  const Model& model_;
  mutable std::mutex mutex_;
  mutable std::map<std::size_t, std::size_t> sizes_;  // calls of each size
  mutable std::map<std::size_t, double> seconds_;     // by the number of calls under way
  mutable std::size_t calls_ = 0;
  mutable double since_ = 0;
};

// Hands every call on, and keeps the answers.
class Kept final : public Model {
 public:
  explicit Kept(const Model& model) : model_(model) {}
  const ModelInfo& info() const override { return model_.info(); }
  bool makes_points() const override { return model_.makes_points(); }
  void evaluate(RowsView x, MutableRowsView y) const override {
    model_.evaluate(x, y);
    keep(y);
  }
  void evaluate_made(const PointsToMake& points, MutableRowsView y) const override {
    model_.evaluate_made(points, y);
    keep(y);
  }
  std::vector<double>& answers() { return answers_; }

 private:
  void keep(MutableRowsView y) const { answers_.insert(answers_.end(), y.data, y.data + y.rows * y.columns); }

  const Model& model_;
  mutable std::vector<double> answers_;
};

// All answers of a model for the points of gamma around the rows.
std::vector<double> answers_around(const Matrix<double>& rows, const Model& model) {
  Kept kept(model);
  Run run;
  run.threads = 1;
  gamma(kept, rows.view(), gamma_options(), run);
  require(kept.answers().size() == rows.rows() * kPointsOfRow * model.info().outputs,
          "as many answers as 20 pairs have");
  return std::move(kept.answers());
}

// Keeps the points it is asked for, and answers 0.
class Recorder final : public Model {
 public:
  explicit Recorder(ModelInfo info) : info_(std::move(info)) {}
  const ModelInfo& info() const override { return info_; }
  void evaluate(RowsView x, MutableRowsView y) const override {
    const MatrixView<const float> rows = x.as<float>();
    points_.insert(points_.end(), rows.data, rows.data + rows.rows * rows.columns);
    std::fill_n(y.data, y.rows * y.columns, 0.0);
  }
  std::vector<float>& points() { return points_; }

 private:
  ModelInfo info_;
  mutable std::vector<float> points_;
};

// The points of gamma around the rows: of every row itself and its pairs.
std::vector<float> points_around(const Matrix<double>& rows, const ModelInfo& info) {
  Recorder recorder(info);
  Run run;
  run.threads = 1;
  gamma(recorder, rows.view(), gamma_options(), run);
  require(recorder.points().size() == rows.rows() * kPointsOfRow * rows.columns(),
          "as many points as 20 pairs have");
  return std::move(recorder.points());
}

// libtorch as a user would call it: a frozen module, and tensors on its device.
class Engine {
 public:
  Engine(const std::string& file, const Settings& settings, at::ScalarType type)
      : device_(settings.device), type_(type), side_(settings.side()) {
    torch::jit::Module module = torch::jit::load(file, device_);
    module.eval();
    module.to(type);
    module_ = torch::jit::freeze(module);
  }

  at::Tensor images(std::int64_t count) const {
    return torch::randn({count, 3, side_, side_}, at::TensorOptions(device_).dtype(type_));
  }

  at::Tensor answer(const at::Tensor& images) { return module_.forward({images}).toTensor(); }

  // Points × outputs in double precision, of points in single precision, a row's at a time.
  std::vector<double> answers(std::vector<float>& points) {
    const c10::InferenceMode no_gradients;
    const torch::jit::GraphOptimizerEnabledGuard as_it_is(false);
    const auto values = static_cast<std::int64_t>(points.size());
    const at::Tensor all = torch::from_blob(points.data(), {values}, at::kFloat).view({-1, 3, side_, side_});
    std::vector<double> out;
    for (const at::Tensor& part : all.split(static_cast<std::int64_t>(kPointsOfRow))) {
      const at::Tensor y = answer(part.to(at::TensorOptions(device_).dtype(type_)))
                               .to(at::TensorOptions(at::kCPU).dtype(at::kDouble))
                               .contiguous();
      out.insert(out.end(), y.data_ptr<double>(), y.data_ptr<double>() + y.numel());
    }
    return out;
  }

 private:
  c10::Device device_;
  at::ScalarType type_;
  std::int64_t side_;
  torch::jit::Module module_;
};

void wait_for(const Settings& settings) {
  if (settings.on_gpu()) torch::cuda::synchronize();
}

// Images a second, of `calls` calls with the same images.
double raw_speed(Engine& engine, const at::Tensor& images, int calls, const Settings& settings) {
  const c10::InferenceMode no_gradients;
  wait_for(settings);
  const double taken = time_once([&] {
                         for (int i = 0; i < calls; ++i) engine.answer(images);
                         wait_for(settings);
                       }).wall;
  return static_cast<double>(images.size(0)) * calls / taken;
}

// Warm, and of about kRawSeconds: how many calls.
int raw_calls(Engine& engine, const at::Tensor& images, const Settings& settings) {
  raw_speed(engine, images, 3, settings);
  const double speed = raw_speed(engine, images, 1, settings);
  return std::max(1, static_cast<int>(kRawSeconds * speed / static_cast<double>(images.size(0))));
}

// gamma of one row and output, of the answers for the points of all rows.
double gamma_of(const std::vector<double>& answers, std::size_t row, std::size_t output,
                std::size_t outputs) {
  const double* const first = answers.data() + row * kPointsOfRow * outputs + output;
  double sum = 0;
  for (std::size_t p = 1; p < kPointsOfRow; ++p) sum += first[p * outputs];
  return std::abs(sum / static_cast<double>(kPointsOfRow - 1) - *first);
}

void check(const Model& model, Engine& engine) {
  const Matrix<double> rows = random_rows(2, model.info().inputs);
  std::vector<float> points = points_around(rows, model.info());
  const std::vector<double> answers = engine.answers(points);
  Run run;
  for (const GammaRow& row : gamma(model, rows.view(), gamma_options(), run).rows) {
    const double value = answers[row.row * kPointsOfRow * model.info().outputs];
    const double expected = gamma_of(answers, row.row, 0, model.info().outputs);
    require(std::abs(*row.gamma - expected) < kRight && std::abs(*row.value - value) < kRight,
            fmt::format("row {}: value {} and gamma {}, by libtorch {} and {}", row.row, *row.value,
                        *row.gamma, value, expected));
  }
}

// gamma's points a second without a second call under way, which hides what is done between two calls.
double one_by_one(const Model& model, MatrixView<const double> rows) {
  const auto measured = [&] {
    Run run;
    run.threads = 1;
    gamma(model, rows, gamma_options(), run);
  };
  measured();
  return static_cast<double>(rows.rows * kPointsOfRow) / time_once(measured).wall;
}

nlohmann::json compare(const Network& network, const Model& model, const Settings& settings, Goals& goals) {
  const bool differences = model.info().fast_path == "differences";
  Engine engine(network.file, settings, at::kFloat);
  check(model, engine);
  const Matrix<double> rows = random_rows(network.images, model.info().inputs);
  const double points = static_cast<double>(rows.rows() * kPointsOfRow);
  Watched watched(model);
  const auto ours = [&] {
    Run run;
    gamma(watched, rows.view(), gamma_options(), run);
  };
  ours();  // warms both
  const auto batch = static_cast<std::int64_t>(watched.batch());
  const at::Tensor images = engine.images(batch);
  std::vector<double> raw, speed, ratios;
  {
    // As gamma has it, whose batches are of several sizes: libtorch would compile anew for each.
    const torch::jit::GraphOptimizerEnabledGuard as_it_is(false);
    const int calls = raw_calls(engine, images, settings);
    watched.start();
    for (int repeat = 0; repeat < (settings.small ? 1 : kRepeats); ++repeat) {
      raw.push_back(raw_speed(engine, images, calls, settings));
      speed.push_back(points / time_once(ours).wall);
      ratios.push_back(speed.back() / raw.back());
    }
    watched.stop();
  }
  const double alone = one_by_one(model, rows.view().slice(0, std::min<std::size_t>(rows.rows(), 48)));
  for (auto* values : {&raw, &speed, &ratios}) std::sort(values->begin(), values->end());
  const std::size_t middle = ratios.size() / 2;
  double calls_seconds = 0;
  for (std::size_t calls = 1; calls < 64; ++calls) calls_seconds += watched.seconds_of(calls);
  const double taken = points / speed[middle] * static_cast<double>(ratios.size());
  fmt::print(
      "{}{}: {} images, batches of {}: gamma {:.0f} points/s, libtorch {:.0f} images/s, ratio {:.3f} ({:.3f} … "
      "{:.3f}); no call under way {:.2f} % of the time, one {:.1f} %; {:.0f} points/s with one call at a "
      "time\n",
      network.title, differences ? ", by differences" : "", network.images, batch, speed[middle], raw[middle],
      ratios[middle], ratios.front(),
      ratios.back(), 100 * (1 - calls_seconds / taken), 100 * watched.seconds_of(1) / taken, alone);
  std::fflush(stdout);
  if (differences) {
    goals.at_least(network.title + ", points/s by differences ÷ images/s", kDifferencesGoal, ratios[middle]);
  } else {
    goals.at_least(network.title + ", points/s ÷ images/s", kGoal, ratios[middle]);
  }
  return {{"images", network.images},
          {"batch", batch},
          {"points_per_second", speed},
          {"raw_images_per_second", raw},
          {"ratios", ratios},
          {"ratio", ratios[middle]},
          {"one_call_at_a_time", alone},
          {"share_without_call", 1 - calls_seconds / taken}};
}

struct Precision {
  const char* name;
  at::ScalarType type;
  bool tf32;
};

void allow_tf32(bool allowed) {
  at::globalContext().setAllowTF32CuBLAS(allowed);
  at::globalContext().setAllowTF32CuDNN(allowed);
}

// The error of gamma, of all outputs of some images, relative to the root of the mean square of gamma.
nlohmann::json precisions(const Network& network, const Model& model, const Settings& settings, Goals& goals) {
  const ModelInfo& info = model.info();
  const Matrix<double> rows = random_rows(settings.small ? 2 : 16, info.inputs);
  std::vector<float> points = points_around(rows, info);
  const auto gammas_of = [&](const std::vector<double>& answers) {
    std::vector<double> out;
    for (std::size_t i = 0; i < rows.rows(); ++i)
      for (std::size_t k = 0; k < info.outputs; ++k) out.push_back(gamma_of(answers, i, k, info.outputs));
    return out;
  };
  const auto gammas = [&](const Precision& precision) {
    allow_tf32(precision.tf32);
    const std::vector<double> answers = Engine(network.file, settings, precision.type).answers(points);
    allow_tf32(false);
    return gammas_of(answers);
  };
  const auto root_mean_square = [](const std::vector<double>& values) {
    double square = 0;
    for (const double value : values) square += value * value;
    return std::sqrt(square / static_cast<double>(values.size()));
  };
  const std::vector<double> exact = gammas({"fp64", at::kDouble, false});
  const double size = root_mean_square(exact);
  fmt::print("{}: gamma of {} images, {} outputs each: rms {:.3g} in fp64\n", network.title, rows.rows(),
             info.outputs, size);
  nlohmann::json out{{"images", rows.rows()}, {"rms_gamma_fp64", size}};
  const auto tell = [&](const char* name, const std::vector<double>& found) {
    std::vector<double> errors;
    for (std::size_t i = 0; i < exact.size(); ++i) errors.push_back(std::abs(found[i] - exact[i]) / size);
    const double rms = root_mean_square(errors), most = *std::max_element(errors.begin(), errors.end());
    fmt::print(
        "  {}: rms gamma {:.3g}; error against fp64, relative to that rms: rms {:.2g}, largest {:.2g}\n",
        name, root_mean_square(found), rms, most);
    std::fflush(stdout);
    out[name] = {{"rms_gamma", root_mean_square(found)}, {"rms_error", rms}, {"max_error", most}};
  };
  for (const Precision& precision :
       {Precision{"fp32", at::kFloat, false}, Precision{"tf32", at::kFloat, true},
        Precision{"bf16", at::kBFloat16, false}}) {
    if (!precision.tf32 || settings.on_gpu()) tell(precision.name, gammas(precision));
  }
  if (info.fast_path == "differences") {
    tell("differences", gammas_of(answers_around(rows, model)));
    goals.at_most(network.title + ", error of gamma by differences ÷ fp32's", 1,
                  out["differences"]["rms_error"].get<double>() / out["fp32"]["rms_error"].get<double>());
  }
  return out;
}

// libtorch's own compiler, which gamma does without: it makes code for one batch size.
double compiled_speed(const Network& network, std::int64_t batch, const Settings& settings) {
  Engine engine(network.file, settings, at::kFloat);
  const at::Tensor images = engine.images(batch);
  const double speed = raw_speed(engine, images, raw_calls(engine, images, settings), settings);
  fmt::print("{}: libtorch with its compiler, batches of {}: {:.0f} images/s\n", network.title, batch, speed);
  std::fflush(stdout);
  return speed;
}

void measure(const Settings& settings) {
  const std::string end = settings.small ? "_small.pt" : ".pt";
  const std::vector<Network> networks{
      {settings.small ? "small ResNet" : "ResNet-50", settings.models + "/resnet50" + end,
       static_cast<std::size_t>(settings.small ? 8 : 384)},
      {settings.small ? "small ViT" : "ViT-B/16", settings.models + "/vit_b_16" + end,
       static_cast<std::size_t>(settings.small ? 8 : 160)}};
  nlohmann::json result{
      {"libtorch", TORCH_VERSION}, {"device", settings.device}, {"pairs", kPairs}, {"side", settings.side()}};
  const auto keep = [&] {
    if (!settings.json.empty()) std::ofstream(settings.json) << result.dump(2) << '\n';
  };
  Goals goals;
  const auto opened = [&](const Network& network, bool fast_path) {
    ModelOptions options;
    options.device = settings.device;
    options.fast_path = fast_path;
    const auto side = static_cast<std::size_t>(settings.side());
    options.row_shape = {3, side, side};
    return open_torch_model(network.file, options, std::vector<double>(settings.inputs()));
  };
  for (const Network& network : networks) {
    result[network.title] = compare(network, *opened(network, false), settings, goals);
    keep();
    const auto fast = opened(network, true);
    if (settings.on_gpu()) fmt::print("{}: fast path: {}\n", network.title, fast->info().fast_path);
    if (fast->info().fast_path == "differences")
      result[network.title]["differences"] = compare(network, *fast, settings, goals);
    keep();
    result[network.title]["precision"] = precisions(network, *fast, settings, goals);
    keep();
  }
  goals.print();
  std::fflush(stdout);
  for (const Network& network : networks) {
    nlohmann::json& found = result[network.title];
    found["compiled_images_per_second"] = compiled_speed(network, found["batch"], settings);
    keep();
  }
}

}  // namespace
}  // namespace harmonia::bench

int main(int argc, char** argv) {
  using namespace harmonia::bench;
  Settings settings;
  CLI::App program("gamma of ResNet-50 and ViT-B/16 on a GPU, against libtorch itself");
  program.add_option("--device", settings.device, "cuda, cuda:N, or cpu with --small to see that it works");
  program.add_option("--models", settings.models, "folder of what bench/gpu_models.py writes");
  program.add_option("--json", settings.json, "file for the figures");
  program.add_flag("--small", settings.small, "the networks of bench/gpu_models.py --small");
  CLI11_PARSE(program, argc, argv);
  if (settings.on_gpu() && !torch::cuda::is_available()) {
    fmt::print("no GPU that libtorch {} can use; --device cpu --small shows that this works\n",
               TORCH_VERSION);
    return 0;
  }
  const std::string file = settings.models + (settings.small ? "/vit_b_16_small.pt" : "/vit_b_16.pt");
  if (!std::ifstream(file)) {
    fmt::print(stderr, "no {}; expected what `/usr/bin/python3 bench/gpu_models.py {}{}` writes\n", file,
               settings.models, settings.small ? " --small" : "");
    return 1;
  }
  setenv("HARMONIA_TORCH", HARMONIA_TORCH_LIBRARY, 0);
  try {
    measure(settings);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
