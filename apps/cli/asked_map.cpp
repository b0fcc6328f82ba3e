#include "asked_map.hpp"

namespace harmonia {

void exclude_measuring(CLI::Option& map) {
  for (const char* other : {"--radius", "--ball", "--average", "--sample", "--precision", "--floor",
                            "--paper", "--confidence", "--margin", "--schema", "--scale", "--pixel-range"})
    map.excludes(other);
}

SavedMap read_asked_map(const std::string& file, ModelOptions& model) {
  SavedMap map = read_map(read_result_file(file));
  model.margin = map.margin;
  if (model.output_name.empty()) model.output_name = map.model_output;
  return map;
}

void measure_as(const SavedMap& map, std::size_t batch, GammaRunRecord& record) {
  record.options = map.gamma;
  record.options.ball.image = record.data.image;
  record.options.batch = batch;
  record.scale = map.scale;
  record.has_schema = !map.gamma.schema.empty();
}

}  // namespace harmonia
