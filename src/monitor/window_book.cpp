#include "window_book.hpp"

#include <utility>

namespace harmonia {
namespace {

constexpr std::size_t kLastWindows = 200;

}  // namespace

Window& WindowBook::at(const std::string& partition, std::uint64_t position, Time time,
                       std::uint64_t number) {
  const std::uint64_t first = position - position % size_;
  const auto latest = latest_.find(partition);
  Entry* entry = latest == latest_.end() ? nullptr : latest->second;
  if (entry == nullptr) {  // the partition is new, or has rested
    if (std::optional<Window> window = stored_(partition, first)) entry = &begin(std::move(*window));
  }
  if (entry == nullptr || entry->window.first != first) {
    Window window;
    window.partition = partition;
    window.first = window.next = first;
    window.begin = time;
    window.first_number = number;
    window.counts = no_counts(baseline_);
    entry = &begin(std::move(window));
  }
  entry->changed = true;
  entry->window.next = std::max(entry->window.next, position + 1);
  entry->window.end = time;
  return entry->window;
}

WindowBook::Entry& WindowBook::begin(Window window) {
  auto place = entries_.end();
  while (place != entries_.begin() && std::prev(place)->window.first_number > window.first_number) --place;
  Entry& entry = *entries_.insert(place, Entry{std::move(window)});
  latest_[entry.window.partition] = &entry;
  return entry;
}

void WindowBook::restore(Window window) { begin(std::move(window)); }

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
  for (auto entry = entries_.begin(); entry != entries_.end() && entries_.size() > kLastWindows;) {
    if (entry->changed) {
      ++entry;
      continue;
    }
    const auto latest = latest_.find(entry->window.partition);
    if (latest != latest_.end() && latest->second == &*entry) latest_.erase(latest);
    entry = entries_.erase(entry);
  }
  for (Entry& entry : entries_) entry.changed = false;
}

}  // namespace harmonia
