#include "harmonia/text/chat.hpp"

namespace harmonia {

std::string chat_outcome_name(ChatOutcome outcome) {
  switch (outcome) {
    case ChatOutcome::answered:
      return "answered";
    case ChatOutcome::refused:
      return "refused";
    case ChatOutcome::failed:
      return "failed";
    case ChatOutcome::too_long:
      return "too_long";
    case ChatOutcome::empty:
      return "empty";
    case ChatOutcome::unasked:
      return "unasked";
  }
  return "";
}

}  // namespace harmonia
