// The effective value of a setting: the set value, else the default of the release and the device target, else a fact
// about the job; for the paths of rules, and as a getter of the context API returns it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/mindspore/context.h"

namespace muster {

// The effective value for a rule's path (Rule in schema.h): the set value, else the default of the release and the
// device target, else a fact about the job. Reports no problems.

struct EffectiveValue {
  Value value;             // null: unknown
  bool set = false;        // by the recipe
  bool unsettled = false;  // set by a refused call: the other fields mean nothing
  Place place;             // the place, if it was set
  std::string shown;       // for messages: "jit_config.jit_level = \"O1\"", "--opt_level=0 of graph_kernel_flags", "8"
  std::vector<Note> why;   // the sources of the value; empty if unknown
};

// The path names an attribute of some release (checked by Schema::AddRules) or a fact about the job.
EffectiveValue FindEffectiveValue(const Context& context, const JobFacts& facts, std::string_view path);

// The result of a getter of the context API: the effective value, in the form that the release returns.

// `api` is the setter's name and a function of the context's release; `was_reset` is where the function was last reset,
// or null. Kinds: unknown_key, use_nested_dict, release, not_readable.
Result<Reading> ReadSetting(const Context& context, std::string_view api, std::string_view name, const Place& place,
                            const Place* was_reset);

}  // namespace muster
