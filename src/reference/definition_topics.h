// Topics of the module "muster" and of site and sweep files, from the definitions that editors read.
#pragma once

#include "reference/definitions.h"
#include "reference/topic.h"

namespace muster {

// "muster.flags" and every other function and value of the module; the fields of sweep files, site files and contracts,
// by table.
Topics DefinitionTopics(const Definitions& definitions);

}  // namespace muster
