// JSON Schemas (draft 2020-12) of described values (archive.h), made by walking the same descriptions that write and
// read their JSON (json_fields.h): members, types, bounds, names of enumerators, and which members may be missing.
//
// Schemas are open: readers ignore members that they do not know (docs/journal.md#evolution). Pure: text only.
#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "muster/value.h"
#include "wire/archive/archive.h"
#include "wire/archive/json_fields.h"

namespace muster {

// Parts of schemas, as text of JSON.
namespace schema {

struct Member {
  std::string name;
  std::string schema;
  bool required = true;
};

std::string String();  // "type": "string"
std::string Truth();   // … boolean
std::string Count();   // … a whole number from 0
std::string Number();  // … a number, or null, which stands for one that JSON cannot express
std::string Anything();
std::string Only(std::int64_t value);
std::string OneOf(std::span<const std::string_view> names);
std::string List(const std::string& element);
std::string Map(const std::string& mapped);
std::string Object(const std::vector<Member>& members);
// At least one of several.
std::string Either(const std::vector<std::string>& schemas);
std::string OrNull(std::string schema);

// The whole schema, in lines, with a title and a description.
std::string Document(const std::string& schema, std::string_view title, std::string_view description);

}  // namespace schema

enum class SchemaBounds : std::uint8_t {
  kChecked,  // readers refuse what exceeds the bounds of the description
  kIgnored   // … which are only those of the archive, as for the lines of journals
};

// What a format adds: Schema(writer, value) for types and forms of its own, as Put of JsonWriter. A list, a map or an
// optional value that is not empty shows its element; otherwise a new object stands for it.
template <class Forms = NoForms>
class SchemaWriter {
 public:
  static constexpr bool kReading = false;

  explicit SchemaWriter(SchemaBounds bounds = SchemaBounds::kChecked, std::string at = "#")
      : bounds_(bounds), path_(std::move(at)) {}

  template <std::size_t N, class T>
  void operator()(const char (&name)[N], T&& field) {
    const std::string outer = std::exchange(path_, path_ + "/properties/" + name);
    std::string of_member = Of(field);
    if constexpr (std::integral<std::remove_cvref_t<T>> && !std::same_as<std::remove_cvref_t<T>, bool>) {
      // The version of a format, which a description states as the value of its member.
      if (std::string_view(name) == "format" && field != 0) of_member = schema::Only(static_cast<std::int64_t>(field));
    }
    path_ = outer;
    const auto known =
        std::find_if(members_.begin(), members_.end(), [&](const schema::Member& each) { return each.name == name; });
    if (known == members_.end()) {
      members_.push_back({name, std::move(of_member), IsRequired(field)});
    } else {
      known->schema = schema::Either({known->schema, of_member});
    }
  }
  template <class... T>
  void operator()(T&&...) {}

  // The object whose members `describe` names.
  template <class Describe>
  std::string Object(const Describe& describe) {
    std::vector<schema::Member> outer = std::exchange(members_, {});
    describe();
    std::string text = schema::Object(members_);
    members_ = std::move(outer);
    return text;
  }

  template <class T>
  std::string Of(const T& value) {
    return Bound(value, {});
  }
  // An object whose values are like this one.
  template <class T>
  std::string MapOf(const T& value) {
    return schema::Map(Of(value));
  }

 private:
  struct Active {
    const void* type;
    std::string path;
  };
  template <class T>
  static constexpr char kType = 0;

  template <class T>
  static bool IsRequired(const T&) {
    return true;
  }
  template <class T>
  static bool IsRequired(const FieldAs<UnlessNone, T>&) {
    return false;
  }
  static bool IsRequired(const FieldAs<UnlessTrue, bool>&) { return false; }
  template <class Field>
  static bool IsRequired(const Conditional<Field>&) {
    return false;
  }
  template <class Field>
  static bool IsRequired(const LaterField<Field>&) {
    return false;
  }

  // Of a list, a map or an optional value.
  template <class T, class Held>
  std::string Inner(const Held* held, const char* step, std::span<const std::size_t> most = {}) {
    const std::string outer = std::exchange(path_, path_ + step);
    std::string text;
    if (held != nullptr) {
      text = Bound(*held, most);
    } else if constexpr (std::default_initializable<T>) {
      text = Bound(T{}, most);
    } else {
      assert(false && "a value without a default has an example");
    }
    path_ = outer;
    return text;
  }

  static std::string With(std::string text, std::string_view keyword, std::size_t number) {
    text.back() = ',';
    return text + '"' + std::string(keyword) + "\":" + std::to_string(number) + '}';
  }

  template <class T>
  std::string Whole() {
    std::string text = "{\"type\":\"integer\"";
    if (std::unsigned_integral<T>) text += ",\"minimum\":0";
    if (sizeof(T) < 8) {
      if (std::signed_integral<T>) text += ",\"minimum\":" + std::to_string(std::numeric_limits<T>::min());
      text += ",\"maximum\":" + std::to_string(std::numeric_limits<T>::max());
    }
    return text + "}";
  }

  // `most`: the bounds of AtMost(), one for each level; empty: none.
  template <class T>
  std::string Bound(const T& value, std::span<const std::size_t> most) {
    namespace d = archive_detail;
    namespace j = json_detail;
    if constexpr (requires { Forms::Schema(*this, value); }) {
      return Forms::Schema(*this, value);
    } else if constexpr (std::is_same_v<T, bool>) {
      return schema::Truth();
    } else if constexpr (std::integral<T>) {
      return Whole<T>();
    } else if constexpr (std::is_same_v<T, double>) {
      return schema::Number();
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      // A byte that is not UTF-8 has four characters, \xNN.
      return most.empty() ? schema::String() : With(schema::String(), "maxLength", 4 * most.front());
    } else if constexpr (std::is_same_v<T, Value>) {
      return schema::Anything();
    } else if constexpr (j::IsNamed<T>::value) {
      return schema::OneOf(value.names);
    } else if constexpr (j::IsAround<T>::value) {
      return Of(value.field);
    } else if constexpr (d::IsBounded<T>::value) {
      return Bound(value.value,
                   bounds_ == SchemaBounds::kChecked ? std::span<const std::size_t>(value.most) : most.first(0));
    } else if constexpr (j::IsForm<T>::value) {
      return OfForm(value);
    } else if constexpr (d::IsOptional<T>::value) {
      return schema::OrNull(Inner<typename T::value_type>(value ? &*value : nullptr, "", most));
    } else if constexpr (d::IsVector<T>::value) {
      const auto* first = value.empty() ? nullptr : &value.front();
      std::string text =
          schema::List(Inner<typename T::value_type>(first, "/items", most.empty() ? most : most.subspan(1)));
      return most.empty() ? text : With(std::move(text), "maxItems", most.front());
    } else if constexpr (std::is_same_v<T, std::map<double, double>>) {
      return schema::List(schema::List(schema::Number()));
    } else if constexpr (d::IsMap<T>::value) {
      const auto* first = value.empty() ? nullptr : &value.begin()->second;
      std::string text = schema::Map(Inner<typename T::mapped_type>(
          first, "/additionalProperties", most.empty() ? most : most.subspan(1 + d::Levels<typename T::key_type>())));
      return most.empty() ? text : With(std::move(text), "maxProperties", most.front());
    } else {
      return OfObject(value);
    }
  }
  template <class A, class B>
  std::string Bound(const std::pair<A, B>&, std::span<const std::size_t>) {
    return schema::List(schema::Count());
  }

  template <class Form>
  std::string OfForm(const Form& form) {
    return Of(form.value);
  }
  template <class T>
  std::string OfForm(const FieldAs<NullIfNone, T>& form) {
    return schema::OrNull(Of(form.value));
  }
  template <class T>
  std::string OfForm(const FieldAs<UnlessNone, std::optional<T>>& form) {
    return Inner<T>(form.value ? &*form.value : nullptr, "");
  }

  // An object inside itself refers to the outer one.
  template <class T>
  std::string OfObject(const T& value) {
    const auto outer =
        std::find_if(active_.begin(), active_.end(), [](const Active& each) { return each.type == &kType<T>; });
    if (outer != active_.end()) return "{\"$ref\":\"" + outer->path + "\"}";
    active_.push_back({&kType<T>, path_});
    std::string text = Object([&] { Fields(*this, const_cast<T&>(value)); });
    active_.pop_back();
    return text;
  }

  SchemaBounds bounds_;
  std::string path_;
  std::vector<schema::Member> members_;
  std::vector<Active> active_;
};

template <class Forms = NoForms, class T>
std::string SchemaOf(const T& value, SchemaBounds bounds = SchemaBounds::kChecked) {
  return SchemaWriter<Forms>(bounds).Of(value);
}

// Of the lines of a journal, each with one of the entries of a variant, which `names` names: `head` describes what
// stands before the entry.
template <class Entry, class Head, std::size_t... I>
std::string SchemaOfEntries(std::span<const std::string_view> names, const Head& head, std::index_sequence<I...>) {
  std::vector<std::string> lines;
  const auto add = [&]<std::size_t Index>() {
    SchemaWriter<> writer(SchemaBounds::kIgnored, "#/anyOf/" + std::to_string(Index));
    lines.push_back(writer.Object([&] {
      head(writer);
      const std::array<std::string_view, 1> name = {names[Index]};
      std::uint8_t only = 0;
      writer("event", NamedMember<std::uint8_t>{only, name});
      std::variant_alternative_t<Index, Entry> entry{};
      Fields(writer, entry);
      std::string crc;
      writer("crc", crc);
    }));
  };
  (add.template operator()<I>(), ...);
  return schema::Either(lines);
}
template <class Entry, class Head>
std::string SchemaOfEntries(std::span<const std::string_view> names, const Head& head) {
  return SchemaOfEntries<Entry>(names, head, std::make_index_sequence<std::variant_size_v<Entry>>());
}

}  // namespace muster
