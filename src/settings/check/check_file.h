// Whether a JSON file that an attribute names is what MindSpore reads there. Opens nothing: the content is given.
#pragma once

#include <string>

#include "muster/context.h"
#include "settings/check/check_value.h"

namespace muster {

// Problems stand at the file's own lines; each has a note that says where `path`, the attribute or sub-key, names the
// file. False after an error. Kinds: bad_json, and those of CheckValue for what the file holds.
bool CheckFile(const Attribute& attribute, const ShippedFile& file, const std::string& path, const CheckedIn& where,
               Diagnostics& problems);

}  // namespace muster
