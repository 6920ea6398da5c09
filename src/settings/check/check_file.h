// Validates a JSON file that an attribute names against MindSpore's format. The content is passed in; opens nothing.
#pragma once

#include <string>

#include "muster/mindspore/context.h"
#include "settings/check/check_value.h"

namespace muster {

// Problems have places in the file; each has a note with the place where `path`, the attribute or sub-key, names the
// file. False after an error. Kinds: bad_json, and those of CheckValue for the content.
bool CheckFile(const Attribute& attribute, const ShippedFile& file, const std::string& path, const CheckedIn& where,
               Diagnostics& problems);

}  // namespace muster
