#include "window_book.hpp"

#include <utility>

namespace harmonia {
namespace {

constexpr std::size_t kLastWindows = 200;

}  // namespace

Window& WindowBook::at(const std::string& partition, std::uint64_t position, Time time,
                       std::uint64_t number) {
  const std::uint64_t first = position - position % size_;
  Entry*& latest = latest_[partition];
  if (latest == nullptr || latest->window.first != first) {
    Entry& entry = entries_.emplace_back();
    entry.window.partition = partition;
    entry.window.first = entry.window.next = first;
    entry.window.begin = time;
    entry.window.first_number = number;
    entry.window.counts = no_counts(baseline_);
    latest = &entry;
  }
  latest->changed = true;
  latest->window.next = std::max(latest->window.next, position + 1);
  latest->window.end = time;
  return latest->window;
}

void WindowBook::restore(Window window) {
  Entry& entry = entries_.emplace_back();
  entry.window = std::move(window);
  latest_[entry.window.partition] = &entry;
}

std::vector<Window> WindowBook::last() const {
  std::vector<Window> windows;
  for (const Entry& entry : entries_) windows.push_back(entry.window);
  return windows;
}

RowCounts WindowBook::counts_from(std::uint64_t number) const {
  RowCounts counts = no_counts(baseline_);
  for (const Entry& entry : entries_) {
    if (entry.window.first_number >= number) merge(counts, entry.window.counts);
  }
  return counts;
}

Time WindowBook::time_of(std::uint64_t number) const {
  Time time = 0;
  for (const Entry& entry : entries_) {
    if (entry.window.first_number <= number) time = entry.window.begin;
  }
  return time;
}

void WindowBook::changed(const std::function<void(const Window&)>& take) const {
  for (const Entry& entry : entries_) {
    if (entry.changed) take(entry.window);
  }
}

void WindowBook::settle() {
  for (Entry& entry : entries_) entry.changed = false;
  // One that may still be filled stays.
  for (auto entry = entries_.begin(); entry != entries_.end() && entries_.size() > kLastWindows;) {
    entry = latest_[entry->window.partition] == &*entry ? std::next(entry) : entries_.erase(entry);
  }
}

}  // namespace harmonia
