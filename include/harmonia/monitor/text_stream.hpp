#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harmonia/monitor/note.hpp"
#include "harmonia/monitor/row_reader.hpp"
#include "harmonia/monitor/row_stream.hpp"

namespace harmonia {

/// Rows that are lines of text. Positions are the numbers of the lines that are neither blank nor a header.
struct TextStreamOptions {
  RowForm form = RowForm::any;
  std::string id = "id";  ///< column or member that is carried as the row's id
  bool follow = true;     ///< of a file: wait for more at its end
  Note note{};            ///< called from the thread that reads
  StreamMarks marks{};    ///< of a file: those that are kept
};

/// Rows from an open descriptor, standard input say, that cannot be read again: a process goes on with
/// numbers after those that are kept. Rows that were read and not kept when a process ended are lost, and
/// start() says so. The descriptor is not closed. `name`: what messages call it.
std::unique_ptr<RowStream> open_input_stream(int descriptor, const std::string& name,
                                             const std::vector<std::string>& features,
                                             const TextStreamOptions& options);

/// Rows of a file that grows. Every file is a partition of its own, named after its header and first row, so
/// that a monitor that starts again goes on where it was, and a file that was put in the place of another is
/// read from its beginning; what is left of the other is read before. Of files that begin alike, hashes of
/// what was read tell which one it is, wherever it lies: one is taken for another as long as all of its rows
/// are the other's. A last line that has no end yet is waited for. Without `follow` the stream ends where the
/// file does. next() throws Error(input) if the first file is shorter than what is kept of it.
std::unique_ptr<RowStream> open_growing_file(const std::string& path,
                                             const std::vector<std::string>& features,
                                             const TextStreamOptions& options);

}  // namespace harmonia
