#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "csv_records.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/data/image_source.hpp"
#include "image_rows.hpp"

namespace harmonia {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kColourChannels = 3;

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorCode::input, what); }

// One row of the data.
struct ImageFile {
  std::string name;  // under the folder
  std::string label;
};

bool has_image_name(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

// The names of images and of folders in a folder; what begins with a dot is nobody's business.
struct Listing {
  std::vector<std::string> images, folders;
};

Listing list(const fs::path& folder) {
  Listing listing;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    const std::string name = entry->path().filename().string();
    if (name.starts_with('.')) continue;
    if (entry->is_directory(gone)) {
      listing.folders.push_back(name);
    } else if (has_image_name(entry->path())) {
      listing.images.push_back(name);
    }
  }
  if (error) fail(fmt::format("{}: {}", folder.string(), error.message()));
  std::sort(listing.images.begin(), listing.images.end());
  std::sort(listing.folders.begin(), listing.folders.end());
  return listing;
}

std::vector<ImageFile> find_images(const std::string& folder) {
  std::vector<ImageFile> files;
  const Listing top = list(folder);
  for (const std::string& name : top.images) files.push_back({name, {}});
  if (!files.empty()) return files;
  for (const std::string& label : top.folders) {
    const Listing inside = list(fs::path(folder) / label);
    if (inside.images.empty()) {
      fail(fmt::format("{} has no images; expected PNG or JPEG files in every class's folder",
                       (fs::path(folder) / label).string()));
    }
    for (const std::string& name : inside.images) files.push_back({(fs::path(label) / name).string(), label});
  }
  if (files.empty()) {
    fail(fmt::format("{} has no images; expected PNG or JPEG files, or a sub-folder of them for each class",
                     folder));
  }
  return files;
}

// Gives every file its label. The table's first line may say what the columns are.
void read_labels(const std::string& path, const std::string& folder, std::vector<ImageFile>& files) {
  std::map<std::string, std::string> labels;
  CsvRecords records(path);
  for (bool first = true; records.next(); first = false) {
    const auto& fields = records.fields();
    if (fields.size() != 2) {
      fail(fmt::format("{} line {} has {}; expected file,label", path, records.line(),
                       counted(fields.size(), "field")));
    }
    if (first && fields[0] == "file" && fields[1] == "label") continue;
    if (!labels.emplace(fields[0], fields[1]).second)
      fail(fmt::format("{} line {}: {} is named twice", path, records.line(), in_quotes(fields[0])));
  }
  for (ImageFile& file : files) {
    const auto found = labels.find(file.name);
    if (found == labels.end()) {
      fail(fmt::format("{} has {}, which {} does not name; expected a label for every image", folder,
                       in_quotes(file.name), path));
    }
    file.label = found->second;
    labels.erase(found);
  }
  if (!labels.empty()) {
    fail(fmt::format("{} names {}, which {} does not have; expected labels of its images alone", path,
                     in_quotes(labels.begin()->first), folder));
  }
}

class ImageFolder final : public RowSource {
 public:
  ImageFolder(const std::string& source, std::string folder, std::vector<ImageFile> files,
              const DataOptions& options)
      : folder_(std::move(folder)), files_(std::move(files)), options_(options) {
    check_image_options(source, options);
    info_.source = source;
    info_.image = options.image;
    if (info_.image.channels == 0) info_.image.channels = kColourChannels;
    if (info_.image.values() == 0) {
      throw Error(ErrorCode::usage,
                  fmt::format("{}: images have to come to one size; expected a description beside the model "
                              "(net.image.json of net.onnx), --description FILE, or --size HEIGHTxWIDTH",
                              source));
    }
    check_image_size(source, info_.image);
    info_.inputs = info_.image.values();
    info_.rows = files_.size();
    info_.by = options.by;
    labelled_ =
        std::any_of(files_.begin(), files_.end(), [](const auto& file) { return !file.label.empty(); });
    if (!info_.by.empty() && !labelled_)
      throw Error(ErrorCode::usage, fmt::format("--by label: the images of {} have no labels", source));
  }

  const DataInfo& info() const override { return info_; }

  bool read(RowBlock& block, std::size_t limit) override {
    const std::size_t count = std::min(limit, files_.size() - next_);
    block.reset(next_, count, info_.inputs);
    for (std::size_t i = 0; i < count; ++i) {
      const ImageFile& file = files_[next_ + i];
      write_image_row(read_image((fs::path(folder_) / file.name).string()), info_.image, options_,
                      block.values.row(i));
      block.ids.push_back(file.name);
      if (labelled_) block.labels.push_back(file.label);
      if (!info_.by.empty()) block.segments.push_back(file.label);
    }
    next_ += count;
    return count > 0;
  }

  void rewind() override { next_ = 0; }

 private:
  std::string folder_;
  std::vector<ImageFile> files_;
  DataOptions options_;
  DataInfo info_;
  bool labelled_ = false;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<RowSource> open_image_folder(const std::string& path, const DataOptions& options) {
  std::vector<ImageFile> files = find_images(path);
  if (!options.labels.empty()) read_labels(options.labels, path, files);
  return std::make_unique<ImageFolder>(path, path, std::move(files), options);
}

std::unique_ptr<RowSource> open_image_file(const std::string& path, const DataOptions& options) {
  const fs::path file(path);
  const std::string folder = file.parent_path().string();
  std::vector<ImageFile> files{{file.filename().string(), {}}};
  if (!options.labels.empty()) read_labels(options.labels, folder, files);
  return std::make_unique<ImageFolder>(path, folder, std::move(files), options);
}

}  // namespace harmonia
