#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "harmonia/monitor/row_stream.hpp"

namespace harmonia {

/// What became of rows that were pushed.
enum class PushOutcome {
  kept,      ///< for good, counted once
  repeated,  ///< a batch of this id was kept before; it is not counted again
  full,      ///< not taken: too many wait; may be pushed again later
  stopped,   ///< not taken: the stream ends; may be pushed again, to its successor
  late,  ///< still being measured when the wait was over; to be pushed again with the same id, if it has one
};

/// Rows that other threads push, and that one takes. They cannot be read again: who pushes waits until they
/// are kept, and pushes again if they were not; who offers does neither. push(), offer() and close() are safe
/// to call from several threads.
class PushedRows final : public RowStream {
 public:
  /// most_rows: that wait; a batch that is larger on its own is taken when none does.
  explicit PushedRows(std::size_t most_rows = 100000) : most_rows_(most_rows) {}

  /// Enters a batch, whose positions count from 0 (as RowReader::read_all has them), and waits until it is
  /// kept. An empty batch is kept at once.
  PushOutcome push(StreamBatch batch, std::chrono::milliseconds wait);
  /// Enters a batch as push() does, without an id or refused rows, and does not wait. False: not taken, as
  /// too many wait, it has more rows than may, or the stream ends. Offers that follow each other are taken as
  /// one batch.
  bool offer(StreamBatch batch);
  /// Takes no more, and tells those who wait and were not taken so; next() then comes to the end.
  void close();
  /// The same, and nothing more will be kept: those whose rows were taken are told so too.
  void end();
  /// Rows that wait.
  std::size_t waiting() const;

  void start(const StreamPositions& kept) override;
  Arrival next(StreamBatch& batch, std::chrono::milliseconds wait) override;
  void kept(const StreamBatch& batch, bool fresh) override;

 private:
  enum class State { waiting, taken, kept, repeated, stopped };
  struct Pushed {
    StreamBatch batch;
    std::uint64_t first = 0;  // once it is taken
    State state = State::waiting;
    bool offered = false;  // nobody waits for it
  };
  using List = std::list<std::shared_ptr<Pushed>>;

  bool has_room(std::size_t rows) const { return waiting_.empty() || rows_ + rows <= most_rows_; }
  StreamBatch take();

  const std::size_t most_rows_;
  mutable std::mutex mutex_;
  std::condition_variable entered_, settled_;
  List waiting_, taken_;
  std::size_t rows_ = 0;  // of what waits
  std::uint64_t position_ = 0;
  bool closed_ = false;
};

}  // namespace harmonia
