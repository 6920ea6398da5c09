// Completes muster's command line: commands, options, parameters of the recipe with their documentation, runs, topics.
// Shells call it at every key press (muster completion): it starts nothing except the evaluation of the named recipe,
// writes nothing, and ignores errors.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command/command.h"

namespace muster {

struct Completion {
  struct Candidate {
    std::string word;  // the whole word; one that ends in '=' is continued by a value
    std::string about;
  };
  std::vector<Candidate> candidates;  // those that begin with the last word
  bool files = false;                 // also complete names of files
};

// `words`: those after "muster" up to the cursor; the last one is completed, and may be empty.
Completion CompleteWords(std::span<const Command> commands, const std::vector<std::string>& words);

}  // namespace muster
