#include "selected_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/data/region.hpp"

namespace harmonia {
namespace {

// Rows first … last, by number.
struct Window {
  std::size_t first = 0;
  std::size_t last = std::numeric_limits<std::size_t>::max();
};

Window parse_window(const std::string& text) {
  Window window;
  const std::size_t dots = text.find("..");
  const auto read = [&](std::string_view part, std::size_t& number) {
    const char* end = part.data() + part.size();
    return part.empty() ||
           std::from_chars(part.data(), end, number) == std::from_chars_result{end, std::errc{}};
  };
  if (dots == std::string::npos || !read(std::string_view(text).substr(0, dots), window.first) ||
      !read(std::string_view(text).substr(dots + 2), window.last) || window.last < window.first) {
    throw Error(ErrorCode::usage,
                fmt::format("--window {}; expected FIRST..LAST, row numbers from 0", in_quotes(text)));
  }
  return window;
}

class SelectedSource final : public RowSource {
 public:
  SelectedSource(std::unique_ptr<RowSource> source, const DataOptions& options)
      : source_(std::move(source)), info_(source_->info()) {
    if (!options.window.empty()) window_ = parse_window(options.window);
    for (const std::string& text : options.regions) regions_.push_back(open_region(text, source_->info()));
    info_.window = options.window;
    info_.regions = options.regions;
    if (info_.rows) {
      const std::size_t end = window_.last < *info_.rows ? window_.last + 1 : *info_.rows;
      info_.rows = end - std::min(end, window_.first);
    }
    if (!regions_.empty()) info_.rows.reset();
  }

  const DataInfo& info() const override { return info_; }

  bool read(RowBlock& block, std::size_t limit) override {
    while (next_ <= window_.last && source_->read(block, limit)) {
      next_ = block.first + block.values.rows();
      places_.clear();
      for (std::size_t i = 0; i < block.values.rows(); ++i) {
        if (takes(block, i)) places_.push_back(i);
      }
      if (places_.empty()) continue;
      any_ = true;
      if (places_.size() < block.values.rows()) block.keep(places_);
      return true;
    }
    block.reset(0, 0, info_.inputs);
    if (any_) return false;
    std::string what = info_.window.empty() ? "" : fmt::format(" --window {}", info_.window);
    for (const std::string& region : info_.regions) what += fmt::format(" --region {}", printable(region));
    throw Error(ErrorCode::input, fmt::format("{} has no row in{}", info_.source, what));
  }

  void rewind() override {
    source_->rewind();
    next_ = 0;
  }

 private:
  bool takes(const RowBlock& block, std::size_t i) const {
    const std::size_t number = block.number(i);
    if (number < window_.first || number > window_.last) return false;
    const std::span<const double> x(block.values.row(i), block.values.columns());
    return std::all_of(regions_.begin(), regions_.end(),
                       [&](const std::unique_ptr<Region>& region) { return region->contains(x); });
  }

  std::unique_ptr<RowSource> source_;
  DataInfo info_;
  Window window_;
  std::vector<std::unique_ptr<Region>> regions_;
  std::vector<std::size_t> places_;
  std::size_t next_ = 0;
  bool any_ = false;
};

}  // namespace

std::unique_ptr<RowSource> select_rows(std::unique_ptr<RowSource> source, const DataOptions& options) {
  return std::make_unique<SelectedSource>(std::move(source), options);
}

}  // namespace harmonia
