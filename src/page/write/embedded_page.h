// The files of which pages are made, compiled into the program.
#pragma once

#include <span>

#include "base/values/embedded_file.h"

namespace muster {

std::span<const EmbeddedFile> EmbeddedPage();     // web/
std::span<const EmbeddedFile> EmbeddedD3();       // modules of d3, "d3-array/dist/d3-array.min.js"
std::span<const EmbeddedFile> EmbeddedLicence();  // the licence of d3

}  // namespace muster
