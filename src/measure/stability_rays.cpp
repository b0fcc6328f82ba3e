#include "stability_rays.hpp"

#include <algorithm>
#include <mutex>

#include "harmonia/core/error.hpp"
#include "harmonia/measure/classes.hpp"

namespace harmonia {
namespace {

constexpr std::uint64_t kPointsAtOnce = 4096;  // of one thread

}  // namespace

std::unique_ptr<RayCounter> RayCounter::find(PointAsker& asker, const Noise& noise,
                                             std::span<const double> sigmas) {
  const RayPath* const path = asker.model().ray_path();
  auto first = path == nullptr ? nullptr : path->open(noise, sigmas);
  if (first == nullptr) return nullptr;
  return std::unique_ptr<RayCounter>(new RayCounter(asker, noise, sigmas, std::move(first)));
}

RayCounter::RayCounter(PointAsker& asker, const Noise& noise, std::span<const double> sigmas,
                       std::unique_ptr<RayAsker> first)
    : asker_(asker),
      noise_(noise),
      sigmas_(sigmas),
      observer_({.kind = OutputChoice::Kind::label, .column = 0}, asker.model().info()),
      workers_(asker.pool().threads()) {
  for (Worker& worker : workers_) worker.counts.resize(sigmas.size());
  workers_.front().path = std::move(first);
}

void RayCounter::count(std::span<const double> row, std::uint64_t samples, std::span<Counts* const> counts) {
  const std::uint64_t most = std::max<std::uint64_t>(1, kPointsAtOnce / sigmas_.size());
  const std::size_t outputs = asker_.model().info().outputs;
  std::mutex mutex;
  std::vector<std::uint64_t> refused;  // first samples of parts
  asker_.pool().run((samples + most - 1) / most, [&](std::size_t number, std::size_t part) {
    if (asker_.run().stop.stop_requested()) throw Error(ErrorCode::interrupted, "stopped");
    Worker& worker = workers_[number];
    if (worker.path == nullptr) worker.path = asker_.model().ray_path()->open(noise_, sigmas_);
    const std::uint64_t first = part * most, some = std::min(most, samples - first);
    worker.answers.resize(some * sigmas_.size(), outputs);
    if (!worker.path->evaluate(row, first, worker.answers.view())) {
      const std::lock_guard lock(mutex);
      refused.push_back(first);
      return;
    }
    asker_.run().ledger.spend(worker.answers.rows());
    for (std::size_t i = 0; i < worker.answers.rows(); ++i)
      ++worker.counts[i % sigmas_.size()][observer_.label({worker.answers.row(i), outputs})];
  });
  std::sort(refused.begin(), refused.end());
  for (const std::uint64_t first : refused) ask_points(row, first, std::min(most, samples - first), counts);
  for (Worker& worker : workers_) {
    for (std::size_t s = 0; s < sigmas_.size(); ++s) {
      for (const auto& [label, found] : worker.counts[s]) (*counts[s])[label] += found;
      worker.counts[s].clear();
    }
  }
}

// Which says what is wrong with them.
void RayCounter::ask_points(std::span<const double> row, std::uint64_t first, std::uint64_t samples,
                            std::span<Counts* const> counts) {
  const auto classes =
      ask_classes(asker_, samples * sigmas_.size(), [&](std::size_t i, std::span<double> out) {
        noise_.put(row, sigmas_[i % sigmas_.size()], first + i / sigmas_.size(), false, out);
      });
  for (std::size_t i = 0; i < classes.size(); ++i) ++(*counts[i % sigmas_.size()])[classes[i]];
}

}  // namespace harmonia
