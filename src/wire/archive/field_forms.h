// Forms of fields: what a description (Fields) says of a field besides its name, for visitors that need more than the
// value's type, such as writers and readers of JSON. An archive has the plain value in every form.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "wire/archive/archive.h"

namespace muster {

// A member of an enumeration with the names of all members, in their order.
template <class E>
struct NamedMember {
  E& value;
  std::span<const std::string_view> names;
};
template <class E, std::size_t N>
NamedMember<E> WithNames(E& value, const std::array<std::string_view, N>& names) {
  return {value, names};
}

// As<NullIfNone>(role.ready)
template <class Form, class T>
struct FieldAs {
  T& value;
};
template <class Form, class T>
FieldAs<Form, T> As(T& value) {
  return {value};
}

struct MayBeMissing {};  // always written; texts that are older than the field lack it
struct UnlessNone {};    // written unless there is none of it (IsNone); may be missing
struct NullIfNone {};    // null if there is none of it

// Written, and then wanted, only where there is some of another field.
template <class T, class Other>
struct Accompanying {
  T& value;
  const Other& other;
};
template <class T, class Other>
Accompanying<T, Other> OnlyBeside(const Other& other, T& value) {
  return {value, other};
}

template <class T>
bool IsNone(const T& value) {
  return value == T{};
}

template <class A, class E>
void Fields(A& archive, NamedMember<E>& field) {
  InRange(archive, field.value, static_cast<E>(field.names.size() - 1));
}
template <class A, class Form, class T>
void Fields(A& archive, FieldAs<Form, T>& field) {
  archive(field.value);
}
template <class A, class T, class Other>
void Fields(A& archive, Accompanying<T, Other>& field) {
  archive(field.value);
}

}  // namespace muster
