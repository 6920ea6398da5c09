// Muster's Python side, which is part of the program: what a run directory holds below python/.
#pragma once

#include <span>

#include "base/values/embedded_file.h"

namespace muster {

// "muster_context/__init__.py", …, "site/sitecustomize.py"
std::span<const EmbeddedFile> EmbeddedPython();

}  // namespace muster
