#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/data/csv_source.hpp"
#include "harmonia/data/generated_source.hpp"
#include "harmonia/data/image_source.hpp"
#include "harmonia/data/npy_source.hpp"
#include "harmonia/data/row_source.hpp"
#include "number_text.hpp"
#include "selected_source.hpp"

namespace harmonia {
namespace {

struct Kind {
  std::string_view name;  // a prefix if it ends in a colon, a folder if in a slash, otherwise an extension
  std::string_view form;  // how a user writes it
  std::unique_ptr<RowSource> (*open)(const std::string&, const DataOptions&);
};

// A new kind of data is a new row.
constexpr std::array kKinds{
    Kind{".csv", "FILE.csv", open_csv},
    Kind{".tsv", "FILE.tsv", open_csv},
    Kind{".npy", "FILE.npy", open_npy},
    Kind{"grid:", "grid:LOW..HIGHxCOUNT,…", open_grid},
    Kind{"uniform:", "uniform:COUNT", open_uniform},
    Kind{".png", "IMAGE.png", open_image_file},
    Kind{".jpg", "IMAGE.jpg", open_image_file},
    Kind{".jpeg", "IMAGE.jpeg", open_image_file},
    Kind{"idx3-ubyte", "images-idx3-ubyte", open_idx},
    Kind{"/", "a folder of images", open_image_folder},
};

// Extensions are known in any case.
bool ends_with(std::string_view text, std::string_view ending) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return text.size() >= ending.size() && std::equal(ending.begin(), ending.end(), text.end() - ending.size(),
                                                    [&](char a, char b) { return a == lower(b); });
}

const Kind* find_kind(std::string_view spec) {
  std::error_code ignored;
  if (std::filesystem::is_directory(spec, ignored)) return &kKinds.back();
  for (const Kind& kind : kKinds) {
    if (kind.name.back() == ':' ? spec.starts_with(kind.name) : ends_with(spec, kind.name)) return &kind;
  }
  return nullptr;
}

// One row of a source, which keeps its number.
class SingleRow final : public RowSource {
 public:
  SingleRow(const std::string& spec, RowSource& source, std::size_t row) : info_(source.info()) {
    std::size_t rows = info_.rows.value_or(0);
    while ((!info_.rows || row < *info_.rows) && source.read(block_, rows_per_block(info_.inputs))) {
      rows = block_.first + block_.values.rows();
      if (row < rows) {
        block_.keep({row - block_.first});
        info_.source = spec;
        info_.rows = 1;
        return;
      }
    }
    throw Error(ErrorCode::usage, fmt::format("{} has {}; there is no row {} (rows count from 0)",
                                              info_.source, counted(rows, "row"), row));
  }

  const DataInfo& info() const override { return info_; }

  bool read(RowBlock& block, std::size_t /*limit*/) override {
    if (done_) {
      block.reset(0, 0, info_.inputs);
      return false;
    }
    block = block_;
    done_ = true;
    return true;
  }

  void rewind() override { done_ = false; }

 private:
  DataInfo info_;
  RowBlock block_;
  bool done_ = false;
};

// SPEC#ROW taken apart; without a row it is all stem.
struct Parts {
  std::string stem;
  std::optional<std::size_t> row;
};

Parts take_apart(const std::string& spec) {
  const std::size_t hash = spec.rfind('#');
  const std::string stem = spec.substr(0, hash);
  const Kind* const part = hash == std::string::npos ? nullptr : find_kind(stem);
  std::error_code ignored;
  if (part == nullptr || std::filesystem::exists(spec, ignored)) return {spec, {}};
  const std::string_view text = std::string_view(spec).substr(hash + 1);
  const char* const end = text.data() + text.size();
  std::size_t row = 0;
  if (std::from_chars(text.data(), end, row) == std::from_chars_result{end, std::errc{}}) return {stem, row};
  if (find_kind(spec) != nullptr && part->name.back() != ':') return {spec, {}};
  throw Error(ErrorCode::usage, fmt::format("{}: {} after # is not a row number", spec, in_quotes(text)));
}

}  // namespace

std::unique_ptr<RowSource> open_whole_data(const std::string& spec, const DataOptions& options) {
  const std::string stem = take_apart(spec).stem;
  // A file named FILE.csv#x is of the kind of FILE.csv.
  const Kind* kind = find_kind(stem);
  if (kind == nullptr) kind = find_kind(stem.substr(0, stem.rfind('#')));
  if (kind != nullptr) {
    if (options.jitter && kind->open != open_grid) {
      throw Error(ErrorCode::usage, fmt::format("--jitter moves the points of a grid; {} is none", stem));
    }
    const bool images = is_image_data(stem);
    if (!images && (!options.labels.empty() || options.image != ImageShape{})) {
      throw Error(ErrorCode::usage, fmt::format("{} {} of images; {} is a table",
                                                options.labels.empty() ? "a size or grey" : "--labels",
                                                options.labels.empty() ? "are" : "is a file", stem));
    }
    return kind->open(stem, options);
  }
  std::string forms;
  for (const Kind& known : kKinds) forms += fmt::format("{}{}", forms.empty() ? "" : ", ", known.form);
  throw Error(ErrorCode::usage,
              fmt::format("data {} is of no known kind; known are {}", in_quotes(spec), forms));
}

bool is_image_data(const std::string& spec) {
  const Kind* const kind = find_kind(take_apart(spec).stem);
  return kind != nullptr &&
         (kind->open == open_image_folder || kind->open == open_image_file || kind->open == open_idx);
}

std::unique_ptr<RowSource> open_data(const std::string& spec, const DataOptions& options) {
  const std::optional<std::size_t> row = take_apart(spec).row;
  std::unique_ptr<RowSource> whole = open_whole_data(spec, options);
  const bool selected = !options.window.empty() || !options.regions.empty();
  if (row && selected) {
    throw Error(ErrorCode::usage,
                fmt::format("{} is one row; --window and --region choose among several", spec));
  }
  if (row) return std::make_unique<SingleRow>(spec, *whole, *row);
  return selected ? select_rows(std::move(whole), options) : std::move(whole);
}

}  // namespace harmonia
