#include "batch_builder.hpp"

#include <algorithm>
#include <utility>

namespace harmonia {

void BatchBuilder::begin(const std::string& partition, std::uint64_t first) {
  batch_ = {};
  batch_.partition = partition;
  batch_.first = first;
  values_.clear();
  numbers_.clear();
}

void BatchBuilder::add(std::uint64_t position, const ReadRow& row) {
  if (!row.reason.empty()) {
    batch_.refused.push_back({position, row.reason});
    return;
  }
  values_.insert(values_.end(), row.values.begin(), row.values.end());
  numbers_.push_back(position);
  batch_.rows.ids.push_back(row.id);
}

StreamBatch BatchBuilder::end(std::uint64_t next) {
  batch_.next = next;
  batch_.time = time_now();
  std::vector<std::string> ids = std::move(batch_.rows.ids);
  batch_.rows.reset(numbers_.empty() ? batch_.first : numbers_.front(), numbers_.size(), features_);
  std::copy(values_.begin(), values_.end(), batch_.rows.values.view().data);
  if (!numbers_.empty() && numbers_.back() - numbers_.front() + 1 != numbers_.size())
    batch_.rows.numbers = numbers_;
  if (std::any_of(ids.begin(), ids.end(), [](const std::string& id) { return !id.empty(); }))
    batch_.rows.ids = std::move(ids);
  return std::move(batch_);
}

}  // namespace harmonia
