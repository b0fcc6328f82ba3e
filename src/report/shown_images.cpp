#include <algorithm>
#include <map>

#include "base64.hpp"
#include "gamma_json.hpp"
#include "harmonia/report/gamma_report.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kEach = kShownImages / 2;

// The image, made smaller if it is larger than what is shown.
Image thumbnail(const ImageShape& shape, const double* values) {
  Image image{shape, std::vector<float>(values, values + shape.values())};
  const std::size_t longer = std::max(shape.height, shape.width);
  if (longer <= kShownPixels) return image;
  const auto side = [&](std::size_t pixels) {
    return std::max<std::size_t>(1, pixels * kShownPixels / longer);
  };
  return fitted(image, {side(shape.height), side(shape.width), shape.channels}, ImageFit::stretch);
}

// Puts a row where it belongs in a list of the few that are first by `before`.
template <class Before>
void insert(std::vector<GammaRow>& rows, const GammaRow& row, const Before& before) {
  if (rows.size() == kEach && !before(row, rows.back())) return;
  rows.insert(std::upper_bound(rows.begin(), rows.end(), row, before), row);
  if (rows.size() > kEach) rows.pop_back();
}

}  // namespace

void ExtremeRows::add(const GammaRow& row) {
  if (!row.gamma) return;
  insert(lowest_, row, [](const GammaRow& a, const GammaRow& b) { return *a.gamma < *b.gamma; });
  insert(highest_, row, [](const GammaRow& a, const GammaRow& b) { return *a.gamma > *b.gamma; });
}

std::vector<GammaRow> ExtremeRows::rows() const {
  std::vector<GammaRow> rows = lowest_;
  for (auto row = highest_.rbegin(); row != highest_.rend(); ++row) {
    const bool known =
        std::any_of(rows.begin(), rows.end(), [&](const GammaRow& other) { return other.row == row->row; });
    if (!known) rows.push_back(*row);
  }
  return rows;
}

std::vector<ShownImage> shown_images(RowSource& data, const ExtremeRows& extremes) {
  const ImageShape shape = data.info().image;
  std::vector<ShownImage> images;
  if (shape.values() == 0) return images;
  std::map<std::size_t, std::size_t> places;  // by the row's number
  for (const GammaRow& row : extremes.rows()) {
    places[row.row] = images.size();
    images.push_back({row, {}});
  }
  std::size_t missing = images.size();
  data.rewind();
  RowBlock block;
  while (missing > 0 && data.read(block, rows_per_block(data.info().inputs))) {
    for (std::size_t i = 0; i < block.values.rows(); ++i) {
      const auto place = places.find(block.number(i));
      if (place == places.end()) continue;
      images[place->second].png = encode_png(thumbnail(shape, block.values.row(i)));
      --missing;
    }
  }
  data.rewind();
  return images;
}

Json shown_images_json(const std::vector<ShownImage>& images) {
  Json list = Json::array();
  for (const ShownImage& image : images) {
    Json json{{"row", image.row.row}};
    if (!image.row.id.empty()) json["id"] = image.row.id;
    if (!image.row.label.empty()) json["label"] = image.row.label;
    json["class"] = or_null(image.row.decided_class);
    json["gamma"] = or_null(image.row.gamma);
    json["low"] = or_null(image.row.low);
    json["high"] = or_null(image.row.high);
    json["png"] = base64(image.png);
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace harmonia
