// muster's Python files, which are embedded in the program: the content of python/ in a run directory.
#pragma once

#include <span>

#include "base/values/embedded_file.h"

namespace muster {

// "muster/__init__.py", …, "muster_context/__init__.py", …, "site/sitecustomize.py"
std::span<const EmbeddedFile> EmbeddedPython();

}  // namespace muster
