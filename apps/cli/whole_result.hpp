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
  /// Throws Error(usage) if a page is asked for and this build writes none.
  explicit WholeResult(const RunOptions& run);
  /// Puts them in place; a text is asked for only if its file was.
  template <class Json, class Csv>
  void write(const Json& json, const Csv& csv) {
    if (json_ || html_) {
      const std::string text = json();
      put(json_, text);
      put_page(text);
    }
    if (csv_) put(csv_, csv());
  }

 private:
  static void put(std::unique_ptr<AtomicFile>& file, const std::string& text);
  void put_page(const std::string& json);

  std::unique_ptr<AtomicFile> json_, csv_, html_;
};

}  // namespace harmonia
