#include "harmonia/measure/classes.hpp"

#include "harmonia/measure/output.hpp"

namespace harmonia {

std::vector<long long> ask_classes(PointAsker& asker, std::size_t count, const PointAsker::Write& write) {
  const ModelInfo& model = asker.model().info();
  Matrix<double> answers(count, model.outputs);
  asker.ask(count, write, answers.view());
  const Observer observer({.kind = OutputChoice::Kind::label, .column = 0}, model);
  std::vector<long long> found(count);
  for (std::size_t i = 0; i < count; ++i) found[i] = observer.label({answers.row(i), model.outputs});
  return found;
}

}  // namespace harmonia
