// Parses records of functions with parameters (Schema::AddFunctions).
#pragma once

#include "muster/mindspore/schema.h"
#include "muster/result.h"

namespace muster {

struct FunctionRecord {
  Function function;
  Value::List parameters;  // records of attributes; each begins no earlier than the function
};

// Kind "schema" for unknown fields and wrong types, at `place`.
Result<FunctionRecord> FunctionFromValue(const Value& record, const Place& place);

}  // namespace muster
