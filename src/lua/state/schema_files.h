// Which of muster's own Lua files hold the schema of the context API (lua/muster/schema), and in which order.
#pragma once

#include <functional>
#include <string>

#include "muster/diagnostic.h"
#include "muster/mindspore/schema.h"
#include "muster/value.h"

namespace muster {

// Adds the records of all files. `content`: what the file at the path returns, a list of records.
Diagnostics AddSchemaFiles(Schema& schema, const std::function<Value(const std::string& path)>& content);

}  // namespace muster
