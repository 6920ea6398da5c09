// The page of one attribute or sub-key, and the tables that list many.
#pragma once

#include <vector>

#include "reference/attribute_history.h"
#include "reference/page.h"

namespace muster {

// `variants`: the histories of one path (more than one where a sub-key is another thing beside another sibling).
// `keys`: those of its sub-keys, which are listed. `all`: the releases that are talked about.
Page AttributePage(const std::vector<const AttributeHistory*>& variants,
                   const std::vector<const AttributeHistory*>& keys, const std::vector<Release>& all);

// Name, releases and what it does; with `values` also type and default (of the newest release).
Table AttributeTable(const std::vector<const AttributeHistory*>& histories, const std::vector<Release>& all,
                     bool values);

// Name, kind and summary of one for a list of topics in JSON.
Value AttributeData(const AttributeHistory& history);

}  // namespace muster
