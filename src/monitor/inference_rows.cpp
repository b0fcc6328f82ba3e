#include "harmonia/monitor/inference_rows.hpp"

#include <algorithm>

#include "../model/inference_protocol.hpp"
#include "harmonia/core/text.hpp"
#include "json_rows.hpp"

namespace harmonia {

StreamBatch read_inference_rows(std::string_view body, std::optional<std::size_t> json_bytes,
                                std::size_t features, const std::string& model) {
  const InferenceRows found = parse_inference_request(body, json_bytes, features, model);
  StreamBatch batch;
  batch.next = found.rows;
  batch.time = time_now();
  batch.rows.reset(0, found.rows, features);
  std::ranges::copy(found.values, batch.rows.values.view().data);
  if (!found.id.empty())
    batch.rows.ids.assign(found.rows, repair_utf8(std::string_view(found.id).substr(0, kLongestId)));
  return batch;
}

}  // namespace harmonia
