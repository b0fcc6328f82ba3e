#pragma once

#include <memory>
#include <string>

#include "harmonia/core/atomic_file.hpp"
#include "options.hpp"

namespace harmonia {

/// The files of a result that is written as a whole; they are opened before the run, so that a folder that
/// cannot be written to is found at once.
class WholeResult {
 public:
  explicit WholeResult(const RunOptions& run);
  /// Puts them in place; a text is asked for only if its file was.
  template <class Json, class Csv>
  void write(const Json& json, const Csv& csv) {
    put(json_, json);
    put(csv_, csv);
  }

 private:
  template <class Text>
  static void put(std::unique_ptr<AtomicFile>& file, const Text& text) {
    if (!file) return;
    file->write(text());
    file->commit();
  }

  std::unique_ptr<AtomicFile> json_, csv_;
};

}  // namespace harmonia
