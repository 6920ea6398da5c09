// muster's Python files, which are embedded in the program, and the copy of them that the trials of a sweep share,
// with its place in their run directories. A copy is never changed: that of another version of muster has another
// name.
#pragma once

#include <span>
#include <string>

#include "base/values/embedded_file.h"
#include "muster/result.h"

namespace muster {

// muster's Python files, which are embedded in the program: the content of python/ in a run directory.

// "muster/__init__.py", …, "muster_context/__init__.py", …, "site/sitecustomize.py"
std::span<const EmbeddedFile> EmbeddedPython();

// The copy of muster's Python packages that the trials of a sweep share, and its place in their run directories.
//
// A copy is never changed: that of another version of muster has another name. Python adds its __pycache__.

// The copy in `folder` (absolute, of the sweep), which is written unless it is there: complete, or not under its name.
Result<std::string> SharedPython(const std::string& folder);

// Makes python/ of a run directory a relative link to the copy. False if the file system refuses.
bool LinkPython(int run_folder, const std::string& run_dir, const std::string& copy);

}  // namespace muster
