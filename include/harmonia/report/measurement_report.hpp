#pragma once

#include <string>

#include "harmonia/text/conversation_queue.hpp"

namespace harmonia {

/// A measurement as a JSON object on one line: id and status, and once it is measured gamma with interval and
/// band, in the convention that is written beside it.
std::string measurement_json(const Measurement& measurement, AngleConvention convention,
                             const ConversationOptions& options);

/// An error as OpenAI-compatible servers say it, as JSON on one line.
std::string endpoint_error_json(const std::string& message, const std::string& type, const std::string& code);

}  // namespace harmonia
