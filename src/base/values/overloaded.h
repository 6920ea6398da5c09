// A visitor of a variant, made of one lambda for each alternative.
#pragma once

#include <type_traits>

namespace muster {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

// The part of a visitor that does nothing: it names the alternatives that it ignores, so that a new one does not
// compile before somebody has decided whether it matters there.
template <class... Alternatives>
struct Ignoring {
  template <class E>
  requires(std::is_same_v<E, Alternatives> || ...) void operator()(const E&) const {}
};

}  // namespace muster
