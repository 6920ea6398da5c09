// The terminal behind standard output: its width, and the characters that it shows.
#pragma once

#include <cstddef>

#include "base/values/text_plot.h"

namespace muster {

// `otherwise` if standard output is no terminal, or one without a width.
std::size_t OutputColumns(std::size_t otherwise);

// By the caller's locale.
PlotGlyphs OutputGlyphs();

}  // namespace muster
