// A visitor of a variant, made of one lambda for each alternative.
#pragma once

namespace muster {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

}  // namespace muster
