#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harmonia/core/atomic_file.hpp"
#include "harmonia/data/image_description.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// What a result says besides its rows and summary: all that is needed to repeat it.
struct GammaRunRecord {
  ModelInfo model;
  DataInfo data;
  GammaOptions options;
  std::string model_output;       ///< the model's output that was asked for; empty: its own choice
  bool margin = false;            ///< the value before the link was asked for
  std::string scale = "none";     ///< as asked
  bool automatic_radius = false;  ///< the radius was found, not given
  bool has_schema = false;        ///< features have scales, bounds or the like, from a file or --scale
  std::optional<ImageDescription> description{};  ///< how images came to the model, if they did
  std::string description_path;                   ///< its file
  PixelRange pixel_range = PixelRange::free;      ///< of images
  std::uint64_t seed = 1;
  std::string command_line;  ///< secrets left out
  double seconds = 0;
};

/// The rows with the largest gamma, kept as they come.
class WorstRows {
 public:
  explicit WorstRows(std::size_t count) : count_(count) {}
  void add(const GammaRow& row);
  /// Largest first.
  const std::vector<GammaRow>& rows() const { return rows_; }

 private:
  std::size_t count_;
  std::vector<GammaRow> rows_;
};

/// Rows of images that a result shows, at most half of them of the lowest gamma and half of the highest …
constexpr std::size_t kShownImages = 24;
/// … and the longer side of what it shows of each, in pixels.
constexpr std::size_t kShownPixels = 96;

/// An image as the page shows it.
struct ShownImage {
  GammaRow row;
  std::string png;  ///< the bytes of a PNG file
};

/// The rows with the lowest and the highest gamma, kept as they come; each row once.
class ExtremeRows {
 public:
  void add(const GammaRow& row);
  /// Lowest first.
  std::vector<GammaRow> rows() const;

 private:
  std::vector<GammaRow> lowest_, highest_;
};

/// Small pictures of these rows, which are read from the data again; none if its rows are no images.
std::vector<ShownImage> shown_images(RowSource& data, const ExtremeRows& extremes);

/// Writes a result as JSON, rows as they come, so that it needs no memory for them.
class GammaJsonWriter {
 public:
  /// Into a file, which appears when the result is finished.
  GammaJsonWriter(const std::string& path, const GammaRunRecord& record);
  /// Piece by piece to `write`.
  GammaJsonWriter(std::function<void(std::string_view)> write, const GammaRunRecord& record);
  void add(const GammaRow& row);
  void finish(const GammaSummary& summary, double seconds, const std::vector<ShownImage>& images = {});

 private:
  GammaJsonWriter(std::unique_ptr<AtomicFile> file, const GammaRunRecord& record);

  std::unique_ptr<AtomicFile> file_;
  std::function<void(std::string_view)> write_;
  GammaRunRecord record_;
  WorstRows worst_{kWorstRows};
  bool empty_ = true;
};

/// Writes a result's rows as CSV.
class GammaCsvWriter {
 public:
  GammaCsvWriter(const std::string& path, const GammaRunRecord& record);
  void add(const GammaRow& row);
  void finish() { file_.commit(); }

 private:
  AtomicFile file_;
  GammaRunRecord record_;
};

/// A result as text for a person.
std::string gamma_table(const GammaRunRecord& record, const GammaSummary& summary, const WorstRows& worst);

/// Progress of a run in a file, a line a row, so that an interrupted run can go on. The file begins with what
/// the run was asked; a run that was asked something else is refused.
class GammaJournal {
 public:
  /// Opens or starts the journal. Throws Error(input) if it belongs to another run or cannot be written.
  GammaJournal(const std::string& path, const GammaRunRecord& record);
  /// Rows of the earlier run, whole ones alone.
  const std::vector<GammaRow>& done() const { return done_; }
  void add(const GammaRow& row);
  /// Hands what was added to the system, so that it outlives this process.
  void flush();
  /// The run is complete: the journal is removed, unless rows are left for want of evaluations; then it is
  /// kept, and a run with a larger budget goes on from there.
  void finish(bool complete);

 private:
  std::string path_;
  GammaRunRecord record_;
  std::vector<GammaRow> done_;
  std::ofstream out_;
};

}  // namespace harmonia
