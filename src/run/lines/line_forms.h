// How lines of journals treat the forms of fields (wire/archive/field_forms.h). They ignore bounds, which hold for the
// archive only, since texts get longer when bytes are written as \xNN.
#pragma once

#include <cstddef>

#include "wire/archive/archive.h"
#include "wire/archive/field_forms.h"

namespace muster {

struct UnlessTrue {};  // omitted if it is true

// The field without its bound or form; a NamedMember keeps its names.
template <class T>
T& Plain(T& field) {
  return field;
}
template <class T, std::size_t N>
T& Plain(Bounded<T, N>& field) {
  return field.value;
}
inline std::string& Plain(Phrase& field) { return field.value; }

}  // namespace muster
