#include "harmonia/measure/classes.hpp"

#include "asked_parts.hpp"
#include "harmonia/measure/output.hpp"

namespace harmonia {

std::vector<long long> ask_classes(PointAsker& asker, std::size_t count, const PointAsker::Write& write) {
  const Observer observer({.kind = OutputChoice::Kind::label, .column = 0}, asker.model().info());
  std::vector<long long> found(count);
  ask_in_parts(asker, count, write,
               [&](std::size_t i, std::span<const double> outputs) { found[i] = observer.label(outputs); });
  return found;
}

}  // namespace harmonia
