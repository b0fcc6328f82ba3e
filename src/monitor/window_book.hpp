#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harmonia/monitor/window.hpp"

namespace harmonia {

/// The last windows, as they fill: some hundred, however many partitions there are.
class WindowBook {
 public:
  /// Gives the window of a partition that begins at a position, as it was stored; none: it was not.
  using Stored = std::function<std::optional<Window>(const std::string& partition, std::uint64_t first)>;

  WindowBook(const Baseline& baseline, std::uint64_t size, Stored stored)
      : baseline_(baseline), size_(size), stored_(std::move(stored)) {}

  /// The window of a position, to be changed; positions ascend in a partition. A new window begins with
  /// measured row `number`.
  Window& at(const std::string& partition, std::uint64_t position, Time time, std::uint64_t number);
  /// Puts back a window that was stored, in the order in which they began.
  void restore(Window window);

  /// In the order in which they began.
  std::vector<Window> last() const;
  /// Counts of the windows whose first measured row is `number` or a later one.
  RowCounts counts_from(std::uint64_t number) const;
  /// When the window with the row of this number began; 0: it is not known any more.
  Time time_of(std::uint64_t number) const;

  /// Hands out those that changed since the last settle().
  void changed(const std::function<void(const Window&)>& take) const;
  /// They are stored: those that were not changed may be forgotten.
  void settle();

 private:
  struct Entry {
    Window window;
    bool changed = false;
  };

  Entry& begin(Window window);

  const Baseline& baseline_;
  std::uint64_t size_;
  Stored stored_;
  std::list<Entry> entries_;              // by first_number, ascending
  std::map<std::string, Entry*> latest_;  // by partition, of those that are here
};

}  // namespace harmonia
