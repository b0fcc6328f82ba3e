#pragma once

#include <algorithm>
#include <cstdint>
#include <future>
#include <memory>
#include <vector>

#include "harmonia/model/black_box.hpp"
#include "held_blocks.hpp"
#include "row_estimator.hpp"

namespace harmonia {

/// A row under way.
struct RowUnderWay {
  RowEstimator estimator;
  HeldBlock* held;
};

/// Asks for one wave of points after another, and knows whose they are.
struct Lane {
  explicit Lane(BlackBox& asked_box) : box(asked_box) {}

  BlackBox& box;
  std::vector<PointRequest> requests;
  /// Whom a request is of, and where its answers begin; until the row is settled.
  struct Asked {
    RowUnderWay* row;
    std::uint64_t first;
  };
  std::vector<Asked> asked;
  std::uint64_t points = 0, room = 0;  ///< in the wave, and as many as it may have
  Matrix<double> answers;
  std::vector<std::unique_ptr<RowUnderWay>> begun;
  std::vector<RowUnderWay*> idle, waiting;  ///< those that are done, and those that are in no wave
  std::vector<RowUnderWay*> done;           ///< those that are being settled
  StudentQuantiles quantiles;
  std::future<void> under_way;  ///< ends before what it works on does

  /// Begins another wave.
  void clear() {
    requests.clear();
    points = 0;
  }

  /// Puts what fits of a row's wishes into the wave; whether anything did.
  bool ask(RowUnderWay& row) {
    RowEstimator& estimator = row.estimator;
    const std::uint64_t centre = estimator.started() ? 0 : 1;
    const std::size_t each = estimator.ball().shape().points();
    const std::uint64_t taken = points + centre;
    std::uint64_t count = std::min(estimator.wanted(), room > taken ? (room - taken) / each : 0);
    if (count == 0 && estimator.wanted() > 0) {
      if (!requests.empty()) return false;
      count = 1;
    }
    requests.push_back(estimator.next(count));
    asked.push_back({&row, points});
    points += requests.back().points();
    return true;
  }

  /// Room for the answers to the wave, of so many outputs each.
  MatrixView<double> room_for_answers(std::size_t outputs) {
    if (answers.rows() < points) answers.resize(points, outputs);
    return answers.view().slice(0, points);
  }

  /// Gives the answers to those who asked, on the box's threads,
  void take() {
    constexpr std::size_t kTogether = 16;
    box.pool().run((asked.size() + kTogether - 1) / kTogether, [&](std::size_t, std::size_t group) {
      take(group * kTogether, std::min(asked.size(), (group + 1) * kTogether));
    });
  }
  /// and to these of them, here.
  void take(std::size_t first, std::size_t end) {
    for (std::size_t r = first; r < end; ++r) {
      // After the model's work they are in no cache; those from `end` on are another thread's.
      if (r + 4 < end) asked[r + 4].row->estimator.prefetch();
      if (r + 2 < end) asked[r + 2].row->estimator.prefetch_parts();
      asked[r].row->estimator.take(requests[r], answers.view().slice(asked[r].first, requests[r].points()));
    }
  }
};

}  // namespace harmonia
