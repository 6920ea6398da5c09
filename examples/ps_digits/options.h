// The command line: the training settings. The same for all roles, since every role runs the same command. The
// cluster's settings are in the environment (cluster_settings.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ps_digits/failure.h"

namespace ps_digits {

struct Options {
  std::uint32_t epochs = 20;
  double learning_rate = 0.5;
  std::uint32_t batch_size = 64;
  double decay = 1;         // of the learning rate, after each epoch
  double l2 = 0;            // of weights, not of biases
  double smoothing = 0;     // of targets
  std::string data_file;    // empty: the copy installed beside the program
  std::string checkpoints;  // folder; empty: none are written
  std::string resume;       // a checkpoint; empty: from the beginning
  bool help = false;
};

Result<Options> ParseOptions(const std::vector<std::string>& arguments);

std::string Usage();

}  // namespace ps_digits
