#include "harmonia/monitor/row_stream.hpp"

namespace harmonia {

Time time_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace harmonia
