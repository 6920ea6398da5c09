// Applies the schema's rules between settings to a job. Rules about single processes are in together.cc.
#pragma once

#include "muster/mindspore/context.h"

namespace muster {

// Every violated rule, once for each line of the recipe that it reports: first for the settings of the whole job, then
// for those of individual processes.
Diagnostics CheckRules(const Context& job, const JobFacts& facts);

}  // namespace muster
