#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "harmonia/monitor/window.hpp"

namespace harmonia {

/// The last windows, as they fill.
class WindowBook {
 public:
  WindowBook(const Baseline& baseline, std::uint64_t size) : baseline_(baseline), size_(size) {}

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
  /// They are stored.
  void settle();

 private:
  struct Entry {
    Window window;
    bool changed = false;
  };

  const Baseline& baseline_;
  std::uint64_t size_;
  std::list<Entry> entries_;
  std::map<std::string, Entry*> latest_;  // by partition
};

}  // namespace harmonia
