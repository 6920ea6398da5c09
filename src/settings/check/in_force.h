// Values in force, named by the paths of rules (Rule in schema.h): what was set, else the default of the release and
// the device target, else a fact about the job. Judges nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/context.h"

namespace muster {

struct InForce {
  Value value;             // null: not known
  bool set = false;        // by the recipe
  bool unsettled = false;  // by a call that was refused: the rest says nothing
  Place place;             // where, if it was set
  std::string shown;       // for messages: "jit_config.jit_level = \"O1\"", "--opt_level=0 of graph_kernel_flags", "8"
  std::vector<Note> why;   // where the value comes from; empty if it is not known
};

// The path names an attribute of some release (Schema::AddRules saw to that) or a fact about the job.
InForce ValueInForce(const Context& context, const JobFacts& facts, std::string_view path);

}  // namespace muster
