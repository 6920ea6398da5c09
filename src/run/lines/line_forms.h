// What lines of journals make of the forms of fields (wire/archive/field_forms.h): bounds are the archive's alone,
// since texts grow where they are written as \xNN.
#pragma once

#include <cstddef>

#include "wire/archive/archive.h"
#include "wire/archive/field_forms.h"

namespace muster {

struct UnlessTrue {};  // written unless it is true; may be missing

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
