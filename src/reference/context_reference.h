// The whole context API as one Markdown document (docs/attributes.md).
#pragma once

#include <string>

#include "muster/mindspore/schema.h"
#include "reference/outline.h"

namespace muster {

std::string ContextReference(const Schema& schema, const Outline& outline);

}  // namespace muster
