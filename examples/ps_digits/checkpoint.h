// Checkpoints of the training: the weights after a pass over the images, as JSON. Whether one is complete follows from
// its name: it is written under another one and renamed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ps_digits/failure.h"

namespace ps_digits {

struct Checkpoint {
  std::uint32_t epoch = 0;
  std::vector<double> weights;  // kWeightCount finite numbers
};

// Writes FOLDER/epoch_N.json, and removes the one of the epoch before.
Result<void> SaveCheckpoint(const std::string& folder, const Checkpoint& checkpoint);

Result<Checkpoint> LoadCheckpoint(const std::string& file);

}  // namespace ps_digits
