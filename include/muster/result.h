// Result<T>: a value, or the diagnostics that explain its absence. The error type between folders; no exception leaves
// a file.
#pragma once

#include <utility>

#include <tl/expected.hpp>

#include "muster/diagnostic.h"

namespace muster {

template <class T>
using Result = tl::expected<T, Diagnostics>;

inline tl::unexpected<Diagnostics> Fail(Diagnostic diagnostic) {
  return tl::unexpected<Diagnostics>(Diagnostics{std::move(diagnostic)});
}

inline tl::unexpected<Diagnostics> Fail(Diagnostics diagnostics) {
  return tl::unexpected<Diagnostics>(std::move(diagnostics));
}

}  // namespace muster
