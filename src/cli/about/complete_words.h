// What may stand next on muster's command line: commands, options, parameters of the recipe with what they mean, runs,
// topics. For shells (muster completion), which ask at every press of a key: nothing is started but the evaluation of a
// recipe that is named, nothing is written, and what is wrong is silence.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command/command.h"

namespace muster {

struct Completion {
  struct Candidate {
    std::string word;  // whole; one that ends in '=' goes on
    std::string about;
  };
  std::vector<Candidate> candidates;  // those that begin as the last word does
  bool files = false;                 // and files of any name
};

// `words`: those after "muster" up to the cursor; the last is the one to be completed, and may be empty.
Completion CompleteWords(std::span<const Command> commands, const std::vector<std::string>& words);

}  // namespace muster
