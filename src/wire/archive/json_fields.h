// Described values (archive.h) as JSON: written as text, and read from parsed JSON by the names of their members, with
// errors that name the member. Fields without a name are in archives only.
//
// What is read is untrusted: bounds that a description states (AtMost) are checked before memory is taken. The text of
// a byte that is not UTF-8 has four characters in JSON, so a text may be four times as long as its bound.
#pragma once

#include <algorithm>
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
#include <variant>
#include <vector>

#include <tl/expected.hpp>

#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "muster/value.h"
#include "wire/archive/archive.h"

namespace muster {

// What a format adds to the writer and the reader: how it writes (Put) and reads (Get, which returns what was expected
// instead, or nothing) types and forms of its own, and what it calls its objects in messages: {} is the number of an
// element, the key of an entry, or the name of the containing object. Without a noun it is the path of the object.
struct NoForms {
  template <class T>
  static constexpr std::string_view kNoun = {};
};

// Of values that are only written, each as the object of Parts(v, value) in the namespace of its type, also if the
// journal or agents describe the type in another form.
template <class T>
struct InOrder {  // an object with these members, in this order
  std::vector<std::pair<std::string, T>> members;
};
struct PartForms : NoForms {
  template <class V, class T>
  requires requires(V& v, const T& part) { Parts(v, part); }
  static void Put(V& v, const T& part) {
    v.Open('{');
    Parts(v, part);
    v.Close('}');
  }
  template <class V, class T>
  requires requires(V& v, const T& part) { Parts(v, part); }
  static std::string Schema(V& v, const T& part) {
    return v.Object([&] { Parts(v, part); });
  }
  template <class T>
  static void Put(auto& v, const InOrder<T>& object) {
    v.Open('{');
    for (const auto& [name, value] : object.members) {
      v.Next();
      v.PutText(name);
      v.Colon();
      v.Put(value);
    }
    v.Close('}');
  }
  template <class T>
  static std::string Schema(auto& v, const InOrder<T>&) {
    return v.MapOf(T{});
  }
};

inline constexpr std::uint64_t kAnyNumber = std::numeric_limits<std::uint64_t>::max();

namespace json_detail {

template <class T>
bool IsWritten(const T&) {
  return true;
}
template <class T>
bool IsWritten(const FieldAs<UnlessNone, T>& field) {
  return !IsNone(field.value);
}
inline bool IsWritten(const FieldAs<UnlessTrue, bool>& field) { return !field.value; }
template <class Field>
bool IsWritten(const Conditional<Field>& conditional) {
  return conditional.is_there;
}
template <class Field>
bool IsWritten(const LaterField<Field>& later) {
  return IsWritten(later.field);
}

template <class T>
struct IsForm : std::false_type {};
template <class Form, class T>
struct IsForm<FieldAs<Form, T>> : std::true_type {};
template <class T, std::size_t N>
struct IsForm<Bounded<T, N>> : std::true_type {};
template <>
struct IsForm<Phrase> : std::true_type {};

template <class T>
struct IsNamed : std::false_type {};
template <class E>
struct IsNamed<NamedMember<E>> : std::true_type {};

template <class T>
struct IsAround : std::false_type {};
template <class Field>
struct IsAround<LaterField<Field>> : std::true_type {};
template <class Field>
struct IsAround<Conditional<Field>> : std::true_type {};

}  // namespace json_detail

// Text of JSON: brackets, separators and simple values.
class JsonOutput {
 public:
  static constexpr bool kReading = false;

  // Appends to the text. Larger unsigned numbers are written as `largest`. With an indent, each member and element is
  // in a line of its own.
  JsonOutput(std::string& text, std::uint64_t largest, int indent) : text_(text), largest_(largest), indent_(indent) {}

  void Open(char bracket) {
    text_ += bracket;
    ++depth_;
  }
  void Close(char bracket) {
    --depth_;
    if (indent_ >= 0 && !IsFirst()) NewLine();
    text_ += bracket;
  }
  // Before an element. A string ends with a quote, so a bracket at the end has just been opened.
  void Next() {
    if (!IsFirst()) text_ += ',';
    if (indent_ >= 0) NewLine();
  }
  // Before the value of a member, whose name needs no escape.
  void Name(std::string_view name) {
    Next();
    text_ += '"';
    text_ += name;
    text_ += '"';
    Colon();
  }
  void Colon() { text_ += indent_ >= 0 ? ": " : ":"; }

  // Bytes that are not UTF-8 are written as \xNN.
  void PutText(std::string_view text);
  void PutNumber(double number);  // null if JSON cannot express it
  void PutSigned(std::int64_t number);
  void PutUnsigned(std::uint64_t number);
  void PutWord(std::string_view word) { text_ += word; }  // null, true, false

 private:
  bool IsFirst() const { return text_.ends_with('{') || text_.ends_with('['); }
  void NewLine() {
    text_ += '\n';
    text_.append(static_cast<std::size_t>(depth_ * indent_), ' ');
  }

  std::string& text_;
  std::uint64_t largest_;
  int indent_;
  int depth_ = 0;
};

// Writes members in the order of the description.
template <class Forms = NoForms>
class JsonWriter : public JsonOutput {
 public:
  explicit JsonWriter(std::string& text, std::uint64_t largest = kAnyNumber, int indent = -1)
      : JsonOutput(text, largest, indent) {}
  JsonWriter(std::string& text, Forms forms, int indent = -1)
      : JsonOutput(text, kAnyNumber, indent), forms_(std::move(forms)) {}

  // A member of the object that is open.
  template <std::size_t N, class T>
  void operator()(const char (&name)[N], T&& field) {
    if (!json_detail::IsWritten(field)) return;
    Name({name, N - 1});
    Put(field);
  }
  template <class... T>
  void operator()(T&&...) {}

  // The members of an object whose brace is already written.
  template <class T>
  void Members(const T& object) {
    Fields(*this, const_cast<T&>(object));  // a writer only reads
  }

  template <class T>
  void Put(const T& value) {
    namespace d = archive_detail;
    namespace j = json_detail;
    if constexpr (requires { forms_.Put(*this, value); }) {
      forms_.Put(*this, value);
    } else if constexpr (std::is_same_v<T, bool>) {
      PutWord(value ? "true" : "false");
    } else if constexpr (std::unsigned_integral<T>) {
      PutUnsigned(value);
    } else if constexpr (std::signed_integral<T>) {
      PutSigned(value);
    } else if constexpr (std::is_same_v<T, double>) {
      PutNumber(value);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      PutText(value);
    } else if constexpr (std::is_same_v<T, Null>) {
      PutWord("null");
    } else if constexpr (std::is_same_v<T, Value>) {
      std::visit([this](const auto& held) { Put(held); }, value.data());
    } else if constexpr (j::IsNamed<T>::value) {
      PutText(value.names[static_cast<std::size_t>(value.value)]);
    } else if constexpr (j::IsAround<T>::value) {
      Put(value.field);
    } else if constexpr (j::IsForm<T>::value) {
      Put(value.value);
    } else if constexpr (d::IsOptional<T>::value) {
      if (value) return Put(*value);
      PutWord("null");
    } else if constexpr (d::IsVector<T>::value || std::is_same_v<T, std::map<double, double>>) {
      Open('[');  // keys of JSON objects cannot be numbers: such a map is a list of pairs
      for (const auto& element : value) {
        Next();
        Put(element);
      }
      Close(']');
    } else if constexpr (d::IsMap<T>::value) {
      PutMap(value);
    } else {
      Open('{');
      Members(value);
      Close('}');
    }
  }
  template <class T>
  void Put(const FieldAs<NullIfNone, T>& field) {
    if (!IsNone(field.value)) return Put(field.value);
    PutWord("null");
  }
  // [first,last]
  template <class A, class B>
  void Put(const std::pair<A, B>& pair) {
    Open('[');
    Next();
    Put(pair.first);
    Next();
    Put(pair.second);
    Close(']');
  }

 private:
  template <class Map>
  void PutMap(const Map& values) {
    if (!std::all_of(values.begin(), values.end(), [](const auto& entry) { return IsUtf8(entry.first); })) {
      std::map<std::string, typename Map::mapped_type> readable;
      for (const auto& [name, value] : values) readable.emplace(Readable(name), value);
      return PutMap(readable);
    }
    Open('{');
    for (const auto& [name, value] : values) {
      Next();
      PutText(name);
      Colon();
      Put(value);
    }
    Close('}');
  }

  [[no_unique_address]] Forms forms_;
};

// One line without newline or, with an indent, lines.
template <class Forms = NoForms, class T>
std::string JsonOf(const T& value, int indent = -1) {
  std::string text;
  JsonWriter<Forms>(text, kAnyNumber, indent).Put(value);
  return text;
}

// An object that is being read, for messages.
struct JsonObject {
  const JsonObject* outer = nullptr;
  const Value::Map* members = nullptr;
  std::string_view noun;             // NoForms
  std::string_view member;           // of `outer`, which it is or is in
  std::optional<std::size_t> index;  // … as an element of a list
  std::string_view entry;            // … as an entry of a map
};
std::string NameOf(const JsonObject& object);  // empty for the outermost one without a noun

namespace json_detail {

std::string WrongMember(const JsonObject& object, std::string_view member, std::string_view wanted);
std::string MissingMember(const JsonObject& object, std::string_view member);
std::string OtherMember(const JsonObject& object, std::span<const std::string_view> known);  // empty: none
std::string OneOf(std::span<const std::string_view> names);

}  // namespace json_detail

enum class JsonReading : std::uint8_t {
  kOpen,    // other members are ignored
  kClosed,  // other members are refused
  kLenient  // … ignored, and so are members that are missing or not valid, and such elements of lists
};

// The first error is kept and ends reading.
template <class Forms = NoForms>
class JsonReader {
 public:
  static constexpr bool kReading = true;

  // Larger numbers are read as `largest`, numbers below -`largest` as that.
  explicit JsonReader(JsonReading how = JsonReading::kOpen, std::uint64_t largest = kAnyNumber)
      : how_(how), largest_(largest) {}
  explicit JsonReader(Forms forms) : forms_(std::move(forms)) {}

  bool ok() const { return problem_.empty(); }
  bool AtEnd() const { return ok(); }  // as of a LineReader (run/lines/json_lines.h)
  const std::string& problem() const { return problem_; }
  void Fail(std::string problem = "it is not valid") {
    if (ok()) problem_ = std::move(problem);
  }
  // "rank" of process 3 must be `wanted`.
  void Wrong(std::string_view member, std::string_view wanted) {
    if (ok()) Fail(json_detail::WrongMember(object_, member, wanted));
  }

  template <class T>
  void Get(const Value& json, T& object) {
    Take(json, object);
  }
  // Members of this object follow, which must outlive the reader.
  void Begin(const Value& json) {
    object_.members = json.AsMap();
    if (object_.members == nullptr) Fail("it must be an object");
  }
  template <std::size_t N, class T>
  void operator()(const char (&name)[N], T&& field) {
    if (!ok()) return;
    if (how_ == JsonReading::kClosed) known_.emplace_back(name, N - 1);
    Member({name, N - 1}, field);
  }
  template <class... T>
  void operator()(T&&...) {}

  // The member's value; null if there is none.
  const Value* Find(std::string_view name) const {
    return object_.members == nullptr ? nullptr : FieldOf(*object_.members, std::string(name));
  }

  // Reads without the format's own form for the type. Returns what was expected instead; nothing if it was read.
  template <class T>
  std::string TakePlain(const Value& json, T& out, std::span<const std::size_t> most = {}) {
    namespace d = archive_detail;
    namespace j = json_detail;
    if constexpr (std::is_same_v<T, bool>) {
      if (json.AsBool() == nullptr) return "true or false";
      out = *json.AsBool();
    } else if constexpr (std::integral<T>) {
      return TakeWhole(json, out);
    } else if constexpr (std::is_same_v<T, double>) {
      if (!json.IsNumber() && !json.IsNull()) return "a number";
      out = json.IsNull() ? std::numeric_limits<double>::quiet_NaN() : json.Number();
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (json.AsString() == nullptr) return "text";
      if (!most.empty() && json.AsString()->size() / kEscapedByte > most.front())
        return "a text of at most " + std::to_string(most.front()) + " bytes";
      out = *json.AsString();
    } else if constexpr (std::is_same_v<T, Value>) {
      out = json;
    } else if constexpr (j::IsNamed<T>::value) {
      const auto found = json.AsString() == nullptr ? out.names.end()
                                                    : std::find(out.names.begin(), out.names.end(), *json.AsString());
      if (found == out.names.end()) return j::OneOf(out.names);
      out.value = static_cast<std::remove_reference_t<decltype(out.value)>>(found - out.names.begin());
    } else if constexpr (std::is_same_v<T, Phrase>) {
      if (json.AsString() == nullptr) return "text";
      out.value = d::Beginning(*json.AsString(), out.most);
    } else if constexpr (d::IsBounded<T>::value) {
      return TakePlain(json, out.value, out.most);
    } else if constexpr (j::IsForm<T>::value) {
      return Take(json, out.value);
    } else if constexpr (d::IsOptional<T>::value) {
      out.reset();
      if (json.IsNull()) return {};
      std::string wanted = Take(json, out.emplace());
      if (wanted.empty()) return {};
      out.reset();
      return wanted + " or null";
    } else if constexpr (d::IsVector<T>::value) {
      return TakeList(json, out, most);
    } else if constexpr (std::is_same_v<T, std::map<double, double>>) {
      return TakePairs(json, out);
    } else if constexpr (d::IsMap<T>::value) {
      return TakeMap(json, out, most);
    } else if constexpr (std::is_same_v<T, std::pair<std::uint64_t, std::uint64_t>>) {
      const Value::List* range = json.AsList();
      if (range == nullptr || range->size() != 2 || !TakeWhole(range->front(), out.first).empty() ||
          !TakeWhole(range->back(), out.second).empty() || out.second < out.first) {
        return "a range of two numbers";
      }
    } else {
      return TakeObject(json, out);
    }
    return {};
  }

 private:
  static constexpr std::size_t kEscapedByte = 4;  // characters of \xNN

  template <class T>
  std::string Take(const Value& json, T& out, std::span<const std::size_t> most = {}) {
    if constexpr (requires { forms_.Get(*this, json, out); }) {
      return forms_.Get(*this, json, out);
    } else {
      return TakePlain(json, out, most);
    }
  }

  template <class T>
  void Member(std::string_view name, T& field) {
    if (const Value* json = Find(name)) return Found(name, *json, field);
    if (how_ != JsonReading::kLenient) Fail(json_detail::MissingMember(object_, name));
  }
  template <class T>
  void Member(std::string_view name, FieldAs<UnlessNone, T>& field) {
    if (const Value* json = Find(name)) return Found(name, *json, field.value);
    field.value = T{};
  }
  void Member(std::string_view name, FieldAs<UnlessTrue, bool>& field) {
    field.value = true;
    if (const Value* json = Find(name)) Found(name, *json, field.value);
  }
  template <class T>
  void Member(std::string_view name, FieldAs<NullIfNone, T>& field) {
    const Value* json = Find(name);
    if (json == nullptr || !json->IsNull()) Member(name, field.value);
    if (json != nullptr && IsNone(field.value)) field.value = T{};
  }
  template <class Field>
  void Member(std::string_view name, Conditional<Field>& conditional) {
    if (conditional.is_there) Member(name, conditional.field);
  }
  template <class Field>
  void Member(std::string_view name, LaterField<Field>& later) {
    if (const Value* json = Find(name)) Found(name, *json, later.field);
  }
  template <class T>
  void Found(std::string_view name, const Value& json, T& field) {
    at_ = {};
    at_.member = name;
    const std::string wanted = Take(json, field);
    if (!wanted.empty() && how_ != JsonReading::kLenient) Wrong(name, wanted);
  }

  template <class T>
  std::string TakeWhole(const Value& json, T& out) {
    const std::int64_t* number = json.AsInt();
    if (number == nullptr) return "a whole number in range";
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    const auto most = static_cast<std::int64_t>(std::min(largest_, kMax));
    const std::int64_t limited = std::clamp(*number, -most, most);
    if (!std::in_range<T>(limited)) return "a whole number in range";
    out = static_cast<T>(limited);
    return {};
  }
  template <class T>
  std::string TakeList(const Value& json, std::vector<T>& out, std::span<const std::size_t> most) {
    const Value::List* list = json.AsList();
    if (list == nullptr) return "a list";
    if (!most.empty() && list->size() > most.front())
      return "a list of at most " + std::to_string(most.front()) + " elements";
    out.clear();
    out.reserve(std::min(list->size(), 1 + BasicArchiveReader<true>::kReservedBytes / sizeof(T)));
    const std::string_view member = at_.member;
    for (std::size_t i = 0; i < list->size(); ++i) {
      at_ = {};
      at_.member = member;
      at_.index = i;
      const std::string wanted = Take((*list)[i], out.emplace_back(), most.empty() ? most : most.subspan(1));
      if (wanted.empty() && ok()) continue;
      if (how_ != JsonReading::kLenient) return "a list of one kind of element";
      out.pop_back();
    }
    return {};
  }
  template <class Map>
  std::string TakeMap(const Value& json, Map& out, std::span<const std::size_t> most) {
    const Value::Map* map = json.AsMap();
    if (map == nullptr) return "an object";
    if (!most.empty() && map->size() > most.front())
      return "an object of at most " + std::to_string(most.front()) + " entries";
    out.clear();
    const std::string_view member = at_.member;
    for (const auto& [key, value] : *map) {
      at_ = {};
      at_.member = member;
      at_.entry = key;
      typename Map::mapped_type mapped{};
      const bool long_key = !most.empty() && key.size() / kEscapedByte > most[1];
      const std::string wanted = Take(value, mapped, most.empty() ? most : most.subspan(2));
      if (!long_key && wanted.empty() && ok()) {
        out.emplace_hint(out.end(), key, std::move(mapped));
      } else if (how_ != JsonReading::kLenient) {
        return wanted == "text" ? "an object of texts" : "an object of one kind of value";
      }
    }
    return {};
  }
  std::string TakePairs(const Value& json, std::map<double, double>& out) {
    const Value::List* list = json.AsList();
    if (list == nullptr) return "a list of pairs of numbers";
    out.clear();
    for (const Value& each : *list) {
      const Value::List* pair = each.AsList();
      double number = 0;
      if (pair == nullptr || pair->size() != 2 || !pair->front().IsNumber() ||
          !TakePlain(pair->back(), number).empty()) {
        return "a list of pairs of numbers";
      }
      out.insert_or_assign(pair->front().Number(), number);
    }
    return {};
  }
  template <class T>
  std::string TakeObject(const Value& json, T& out) {
    const JsonObject outer = std::exchange(object_, at_);
    object_.outer = outer.members == nullptr ? nullptr : &outer;
    object_.members = json.AsMap();
    object_.noun = Forms::template kNoun<T>;
    std::vector<std::string_view> known;
    known.swap(known_);
    if (object_.members == nullptr) {
      const std::string name = NameOf(object_);
      if (how_ != JsonReading::kLenient) Fail((name.empty() ? "it" : name) + " must be an object");
    } else {
      Fields(*this, out);
      if constexpr (requires { forms_.Finish(*this, out); }) forms_.Finish(*this, out);
      if (how_ == JsonReading::kClosed && ok()) Fail(json_detail::OtherMember(object_, known_));
    }
    const bool is_object = object_.members != nullptr;
    known_.swap(known);
    object_ = outer;
    return is_object ? std::string() : "an object";
  }

  [[no_unique_address]] Forms forms_;
  JsonReading how_ = JsonReading::kOpen;
  std::uint64_t largest_ = kAnyNumber;
  std::string problem_;
  JsonObject object_;
  JsonObject at_;                        // what is read next, if it is an object
  std::vector<std::string_view> known_;  // kClosed: members of the object
};

// The value of the text, or why it is none.
template <class T>
tl::expected<T, std::string> FromJson(std::string_view text, JsonReading how = JsonReading::kOpen) {
  const auto json = ValueFromJsonText(text);
  if (!json) return tl::unexpected(json.error());
  T value{};
  JsonReader<> reader(how);
  reader.Get(*json, value);
  if (!reader.ok()) return tl::unexpected(reader.problem());
  return value;
}

}  // namespace muster
