// The whole context API as one Markdown document (docs/attributes.md).
#pragma once

#include <string>

#include "muster/schema.h"
#include "reference/outline.h"

namespace muster {

std::string ContextReference(const Schema& schema, const Outline& outline);

}  // namespace muster
