// Field forms: what Fields() states about a field besides its name, for visitors that need more than the value's type,
// such as JSON readers and writers. An archive ignores the form and encodes the plain value.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "wire/archive/archive.h"

namespace muster {

// An enumerator with the names of all enumerators, in order.
template <class E>
struct NamedMember {
  E& value;
  std::span<const std::string_view> names;
};
template <class E, std::size_t N>
NamedMember<E> WithNames(E& value, const std::array<std::string_view, N>& names) {
  return {value, names};
}

// Usage: As<NullIfNone>(role.ready)
template <class Form, class T>
struct FieldAs {
  T& value;
};
template <class Form, class T>
FieldAs<Form, T> As(T& value) {
  return {value};
}

struct UnlessNone {};  // omitted if empty (IsNone)
struct NullIfNone {};  // null if empty (IsNone)

// A field that a stored format got after files of it existed: always written; a text without it leaves the value as a
// new object has it. Around any field, with its bound: MayBeMissing(AtMost(e.path, kWords)).
template <class Field>
struct LaterField {
  Field field;  // a reference, or a form
};
template <class Field>
LaterField<Field> MayBeMissing(Field&& field) {
  return {std::forward<Field>(field)};
}

// Written, and required when reading, only if the other field is not empty.
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
template <class A, class Field>
void Fields(A& archive, LaterField<Field>& later) {
  archive(later.field);
}
template <class A, class T, class Other>
void Fields(A& archive, Accompanying<T, Other>& field) {
  archive(field.value);
}

}  // namespace muster
