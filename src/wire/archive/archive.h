// Archive: the encoding of values that cross a process border inside muster (evaluator answers, agent messages), or
// that the build makes for the program (the schema). One function per type, `template <class A> void Fields(A&
// archive, T& value)`, describes both directions, so that writing and reading cannot differ; the forms of its fields
// say what other visitors need, such as readers and writers of JSON.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <boost/container/flat_map.hpp>

namespace muster {

// Archive: the encoding of values that cross a process border inside muster (evaluator answers, agent messages), or
// that the build makes for the program (the schema). One function per type, `template <class A> void Fields(A& archive,
// T& value)`, describes both directions, so that writing and reading cannot differ.
//
// Independent of particular messages. Bytes are untrusted when read: every length is checked against the remaining
// bytes, and against the bound that Fields() states (AtMost), before memory is allocated. After an error the reader
// stays in the error state and returns zeros. Integers are LEB128 varints (signed ones zig-zag encoded), so the format
// does not depend on the machine.

// A text, list or map with its maximum size, one limit per level: bytes of a text; elements of a list, then the limits
// of one element; entries of a map, then the bytes of a key, then the limits of a mapped value. Elements with a
// Fields() function of their own state their bounds there and have no limit here.
template <class T, std::size_t N>
struct Bounded {
  T& value;
  std::array<std::size_t, N> most;
};
template <class T, class... Limits>
auto AtMost(T& value, Limits... most) {
  return Bounded<T, sizeof...(Limits)>{value, {static_cast<std::size_t>(most)...}};
}

// A text for users. The writer truncates it to `most` bytes, so that it never exceeds its own bound.
struct Phrase {
  std::string& value;
  std::size_t most;
};

class ArchiveWriter {
 public:
  static constexpr bool kReading = false;

  template <class... T>
  void operator()(T&&... values) {
    (One(values), ...);
  }
  // A field with its JSON name, which an archive ignores.
  template <std::size_t N, class T>
  void operator()(const char (&)[N], T&& value) {
    One(value);
  }

  std::string Take() { return std::move(bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void Varint(std::uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<char>(value));
  }

  template <class T>
  void One(T& value);

  std::string bytes_;
};

// With kAllBounded, reading a text, list or map whose Fields() states no bound does not compile.
template <bool kAllBounded>
class BasicArchiveReader {
 public:
  static constexpr bool kReading = true;
  // Maximum nesting of lists, maps and values. A level of a Value takes two of these levels, and JSON that a user
  // provides may be nested 64 levels deep.
  static constexpr int kMaxDepth = 160;
  static constexpr std::size_t kReservedBytes = std::size_t{16} << 10;

  explicit BasicArchiveReader(std::string_view bytes) : rest_(bytes) {}

  template <class... T>
  void operator()(T&&... values) {
    (One(values), ...);
  }
  // A field with its JSON name, which an archive ignores.
  template <std::size_t N, class T>
  void operator()(const char (&)[N], T&& value) {
    One(value);
  }

  void Fail() {
    ok_ = false;
    rest_ = {};
  }
  bool ok() const { return ok_; }
  // Whether the bytes were exactly one valid message: no error, and nothing left over.
  bool Complete() const { return ok_ && rest_.empty(); }

 private:
  std::uint64_t Varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      if (shift == 63 && byte > 1) break;
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    Fail();
    return 0;
  }

  // Reads the number of elements. Each takes at least one byte, so it cannot exceed the remaining bytes.
  std::size_t Count() {
    const std::uint64_t count = Varint();
    if (count > rest_.size()) {
      Fail();
      return 0;
    }
    return static_cast<std::size_t>(count);
  }

  template <class T>
  void One(T& value);
  template <class T>
  void Held(T& value, std::span<const std::size_t> most);

  std::string_view rest_;
  bool ok_ = true;
  int depth_ = 0;
};

using ArchiveReader = BasicArchiveReader<false>;
using BoundedArchiveReader = BasicArchiveReader<true>;

namespace archive_detail {

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class K, class V, class Less>
struct IsMap<std::map<K, V, Less>> : std::true_type {};
template <class K, class V>
struct IsMap<boost::container::flat_map<K, V>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
struct IsBounded : std::false_type {};
template <class T, std::size_t N>
struct IsBounded<Bounded<T, N>> : std::true_type {};
template <class T>
inline constexpr bool kHolds = std::is_same_v<T, std::string> || IsVector<T>::value || IsMap<T>::value;

// The number of limits that a type requires.
template <class T>
constexpr std::size_t Levels() {
  if constexpr (std::is_same_v<T, std::string>) {
    return 1;
  } else if constexpr (IsVector<T>::value) {
    return 1 + Levels<typename T::value_type>();
  } else if constexpr (IsMap<T>::value) {
    return 1 + Levels<typename T::key_type>() + Levels<typename T::mapped_type>();
  } else {
    return 0;
  }
}

// The beginning of the text, at most `most` bytes, not cut inside a UTF-8 character.
inline std::string_view Beginning(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return text.substr(0, most);
}

template <class T>
struct IsVariant : std::false_type {};
template <class... T>
struct IsVariant<std::variant<T...>> : std::true_type {};

// Sets `variant` to a default value of its alternative number `index`; false if there is no such alternative.
template <class Variant, std::size_t I = 0>
bool Alternative(Variant& variant, std::uint64_t index) {
  if constexpr (I < std::variant_size_v<Variant>) {
    if (index != I) return Alternative<Variant, I + 1>(variant, index);
    variant.template emplace<I>();
    return true;
  } else {
    return false;
  }
}

constexpr std::uint64_t ZigZag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t UnZigZag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

}  // namespace archive_detail

template <class T>
void ArchiveWriter::One(T& value) {
  namespace d = archive_detail;
  using U = std::remove_const_t<T>;
  if constexpr (std::is_same_v<U, bool>) {
    bytes_.push_back(value ? 1 : 0);
  } else if constexpr (std::is_enum_v<U>) {
    Varint(static_cast<std::uint64_t>(value));
  } else if constexpr (std::unsigned_integral<U>) {
    Varint(value);
  } else if constexpr (std::signed_integral<U>) {
    Varint(d::ZigZag(value));
  } else if constexpr (std::is_same_v<U, double>) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(bits >> shift));
  } else if constexpr (std::is_same_v<U, std::string>) {
    Varint(value.size());
    bytes_ += value;
  } else if constexpr (d::IsBounded<U>::value) {
    One(value.value);
  } else if constexpr (std::is_same_v<U, Phrase>) {
    const std::string_view text = d::Beginning(value.value, value.most);
    Varint(text.size());
    bytes_ += text;
  } else if constexpr (d::IsVector<U>::value) {
    Varint(value.size());
    for (auto& element : value) One(element);
  } else if constexpr (d::IsMap<U>::value) {
    Varint(value.size());
    for (auto& [key, mapped] : value) {
      One(key);
      One(mapped);
    }
  } else if constexpr (d::IsOptional<U>::value) {
    bytes_.push_back(value ? 1 : 0);
    if (value) One(*value);
  } else if constexpr (d::IsVariant<U>::value) {
    Varint(value.index());
    std::visit([this](auto& held) { this->One(held); }, value);
  } else {
    Fields(*this, const_cast<U&>(value));  // with a writer, Fields only reads
  }
}

template <bool kAllBounded>
template <class T>
void BasicArchiveReader<kAllBounded>::One(T& value) {
  namespace d = archive_detail;
  if constexpr (std::is_same_v<T, bool>) {
    const std::uint64_t byte = Varint();
    if (byte > 1) Fail();
    value = byte == 1;
  } else if constexpr (std::is_enum_v<T>) {
    // Fields() of the type checks which numbers are valid (see InRange).
    const std::uint64_t number = Varint();
    if (number > 255) Fail();
    value = static_cast<T>(ok_ ? number : 0);
  } else if constexpr (std::unsigned_integral<T>) {
    const std::uint64_t number = Varint();
    value = static_cast<T>(number);
    if (value != number) Fail();
  } else if constexpr (std::signed_integral<T>) {
    const std::int64_t number = d::UnZigZag(Varint());
    value = static_cast<T>(number);
    if (value != number) Fail();
  } else if constexpr (std::is_same_v<T, double>) {
    if (rest_.size() < 8) return Fail();
    std::uint64_t bits = 0;
    for (int i = 7; i >= 0; --i) bits = (bits << 8) | static_cast<unsigned char>(rest_[static_cast<std::size_t>(i)]);
    rest_.remove_prefix(8);
    value = std::bit_cast<double>(bits);
  } else if constexpr (d::IsBounded<T>::value) {
    static_assert(
        d::Levels<std::remove_reference_t<decltype(value.value)>>() == std::tuple_size_v<decltype(value.most)>,
        "one limit for each level");
    Held(value.value, std::span<const std::size_t>(value.most));
  } else if constexpr (std::is_same_v<T, Phrase>) {
    Held(value.value, std::span<const std::size_t>(&value.most, 1));
  } else if constexpr (d::kHolds<T>) {
    static_assert(!kAllBounded, "what is read here states its bounds: AtMost() or Phrase in Fields()");
    Held(value, {});
  } else if constexpr (d::IsOptional<T>::value) {
    bool present = false;
    One(present);
    if (present && ok_) {
      One(value.emplace());
    } else {
      value.reset();
    }
  } else if constexpr (d::IsVariant<T>::value) {
    if (++depth_ > kMaxDepth) Fail();
    if (!d::Alternative(value, Varint())) Fail();
    if (ok_) std::visit([this](auto& held) { this->One(held); }, value);
    --depth_;
  } else {
    if (++depth_ > kMaxDepth) Fail();
    if (ok_) Fields(*this, value);
    --depth_;
  }
}

// `most`: one limit per level, or empty.
template <bool kAllBounded>
template <class T>
void BasicArchiveReader<kAllBounded>::Held(T& value, std::span<const std::size_t> most) {
  namespace d = archive_detail;
  if constexpr (!d::kHolds<T>) {
    One(value);
  } else {
    const std::size_t count = Count();
    if (!most.empty() && count > most.front()) Fail();
    if constexpr (std::is_same_v<T, std::string>) {
      if (!ok_) return value.clear();
      value.assign(rest_.substr(0, count));
      rest_.remove_prefix(count);
    } else {
      if (++depth_ > kMaxDepth) Fail();
      const std::span<const std::size_t> within = most.empty() ? most : most.subspan(1);
      value.clear();
      // The number is not trusted, so only a little memory is taken for it.
      if constexpr (d::IsVector<T>::value) {
        if (ok_) value.reserve(std::min(count, 1 + kReservedBytes / sizeof(value[0])));
      }
      for (std::size_t i = 0; i < count && ok_; ++i) {
        if constexpr (d::IsVector<T>::value) {
          Held(value.emplace_back(), within);
        } else {
          typename T::key_type key{};
          typename T::mapped_type mapped{};
          Held(key, within.empty() ? within : within.first(d::Levels<typename T::key_type>()));
          Held(mapped, within.empty() ? within : within.subspan(d::Levels<typename T::key_type>()));
          // The writer's order is required: inserting unsorted keys into a flat map takes quadratic time.
          if (!value.empty() && !(std::prev(value.end())->first < key)) return Fail();
          value.emplace_hint(value.end(), std::move(key), std::move(mapped));
        }
      }
      --depth_;
    }
  }
}

// For an enum inside Fields(): rejects numbers greater than `last` when reading.
template <class A, class E>
void InRange(A& archive, E& value, E last) {
  archive(value);
  if constexpr (A::kReading) {
    if (static_cast<unsigned>(value) > static_cast<unsigned>(last)) {
      archive.Fail();
      value = E{};
    }
  }
}

template <class T>
std::string Archived(const T& value) {
  ArchiveWriter writer;
  writer(value);
  return writer.Take();
}

// The value, or nothing if the bytes are not exactly one value of the type.
template <class T>
std::optional<T> Unarchived(std::string_view bytes) {
  ArchiveReader reader(bytes);
  T value{};
  reader(value);
  if (!reader.Complete()) return std::nullopt;
  return value;
}

// Field forms: what Fields() states about a field besides its name, for visitors that need more than the value's type,
// such as JSON readers and writers. An archive ignores the form and encodes the plain value.

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
struct UnlessTrue {};  // omitted if it is true
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

// Written, and required when reading, only if `is_there`, which may depend on the fields before it.
template <class Field>
struct Conditional {
  Field field;  // as of LaterField
  bool is_there;
};
template <class Field>
Conditional<Field> OnlyIf(bool is_there, Field&& field) {
  return {std::forward<Field>(field), is_there};
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
template <class A, class Field>
void Fields(A& archive, Conditional<Field>& conditional) {
  archive(conditional.field);
}

}  // namespace muster
