// The terminal behind standard output: its width, and the characters that it shows.
#pragma once

#include <cstddef>

#include "base/values/text_plot.h"

namespace muster {

// `otherwise` if standard output is no terminal, or one without a width.
std::size_t OutputColumns(std::size_t otherwise);

// The same of standard error; 0 if it is no terminal.
std::size_t ErrorColumns();

// By the caller's locale.
PlotGlyphs OutputGlyphs();

}  // namespace muster
