#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harmonia/model/training.hpp"

namespace harmonia {

/// One line of an epoch for a person; `tested`: rows that it was tested on, 0 if it was not.
std::string epoch_text(const TrainingEpoch& epoch, const TrainingOptions& options, std::uint64_t tested);

/// A line an epoch; the last columns are empty if nothing was tested.
std::string training_csv(const std::vector<TrainingEpoch>& epochs, std::uint64_t tested, double confidence);

/// What came of a training: accuracy on the rows tested, with its interval, or on those learnt from.
std::string training_text(const std::vector<TrainingEpoch>& epochs, std::uint64_t tested, double confidence);

}  // namespace harmonia
