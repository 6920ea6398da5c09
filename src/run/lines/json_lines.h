// Lines of JSON that muster wrote itself (wire/archive/json_fields.h), for journals and control sockets, parsed in one
// pass; and the records of a journal, each of one entry, identified by the name of its alternative in a variant, and a
// number. What is read is untrusted.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "muster/value.h"
#include "run/lines/journal_file.h"
#include "wire/archive/archive.h"
#include "wire/archive/json_fields.h"

namespace muster {

// The field without its bound or form; a NamedMember keeps its names. Lines of journals ignore bounds, which hold for
// the archive only, since texts get longer when bytes are written as \xNN.
template <class T>
T& Plain(T& field) {
  return field;
}
template <class T, std::size_t N>
T& Plain(Bounded<T, N>& field) {
  return field.value;
}
inline std::string& Plain(Phrase& field) { return field.value; }

// Parses JSON text that a JsonWriter wrote, in one pass and with the same field descriptions: members in their order,
// no others, no whitespace. The fast path of lines; JsonReader reads those of other programs. The bytes are untrusted:
// the caller must check AtEnd() at the end.
class LineReader {
 public:
  static constexpr bool kReading = true;

  // Larger numbers are read as `largest`, numbers below -`largest` as that.
  explicit LineReader(std::string_view text, std::uint64_t largest = std::numeric_limits<std::uint64_t>::max())
      : rest_(text), largest_(largest) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return ok_ && rest_.empty(); }
  void Fail() {
    ok_ = false;
    rest_ = {};
  }

  // Reads the object's opening brace; the closing one may be missing at the end of the text.
  void Begin() {
    if (!Take('{')) return Fail();
    first_ = true;
  }
  // Inlined, so that names are compared as constants: that saves a tenth of the cost of a line.
  template <class T>
  [[gnu::always_inline]] void operator()(std::string_view name, T&& field) {
    if (!Member(name)) return Fail();
    Get(Plain(field));
  }
  template <class T>
  [[gnu::always_inline]] void operator()(std::string_view name, FieldAs<UnlessNone, T> field) {
    field.value = T{};
    if (Member(name)) Get(field.value);
  }
  template <class Field>
  [[gnu::always_inline]] void operator()(std::string_view name, LaterField<Field> later) {
    if (Member(name)) Get(Plain(later.field));
  }
  void operator()(std::string_view name, FieldAs<UnlessTrue, bool> field) {
    field.value = true;
    if (Member(name)) Get(field.value);
  }

  void Get(std::string& text);
  void Get(bool& truth);
  void Get(double& number);  // NaN for null
  void Get(Value& value);
  template <std::integral T>
  void Get(T& number) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    const bool is_whole = end == rest_.data() + rest_.size() || (*end != '.' && *end != 'e' && *end != 'E');
    if (error != std::errc() || !is_whole) return Fail();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    if constexpr (std::same_as<T, std::uint64_t>) number = std::min(number, largest_);
    if constexpr (std::same_as<T, std::int64_t>) number = std::clamp(number, -Most(), Most());
  }
  template <class E>
  void Get(NamedMember<E>& member) {
    if (!Take('"')) return Fail();
    const std::string_view name = rest_.substr(0, rest_.find('"'));
    const auto found = std::find(member.names.begin(), member.names.end(), name);
    if (found == member.names.end() || name.size() == rest_.size()) return Fail();
    rest_.remove_prefix(name.size() + 1);
    member.value = static_cast<E>(found - member.names.begin());
  }
  template <class T>
  void Get(std::optional<T>& value) {
    value.reset();
    if (!Take("null")) Get(value.emplace());
  }
  void Get(std::pair<std::uint64_t, std::uint64_t>& range);
  void Get(std::map<double, double>& numbers);
  template <class T>
  void Get(std::map<std::string, T>& values) {
    values.clear();
    std::string name;
    Elements('{', '}', [&] {
      Get(name);
      if (!Take(':')) return Fail();
      const auto [at, fresh] = values.try_emplace(name);
      if (!fresh) return Fail();
      Get(at->second);
    });
  }
  template <class T>
  void Get(std::vector<T>& list) {
    list.clear();
    Elements('[', ']', [&] { Get(list.emplace_back()); });
  }
  template <class T>
  requires requires(LineReader& v, T& e) { Fields(v, e); }
  void Get(T& object) {
    Begin();
    Fields(*this, object);
    first_ = false;
    if (!Take('}')) return Fail();
  }

 private:
  static constexpr int kMaxDepth = 80;  // more than values from base/values/value_json.h have

  // Moves to the member's value, if the member is the next one.
  [[gnu::always_inline]] bool Member(std::string_view name) {
    const std::size_t comma = first_ ? 0 : 1;
    if (rest_.size() < comma + name.size() + 3 || (comma != 0 && rest_[0] != ',') || rest_[comma] != '"' ||
        rest_.compare(comma + 1, name.size(), name) != 0 || rest_[comma + 1 + name.size()] != '"' ||
        rest_[comma + 2 + name.size()] != ':') {
      return false;
    }
    rest_.remove_prefix(comma + name.size() + 3);
    first_ = false;
    return true;
  }
  std::int64_t Most() const {
    return static_cast<std::int64_t>(std::min(largest_, std::uint64_t{std::numeric_limits<std::int64_t>::max()}));
  }

  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool Take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  // Reads a list or an object; calls `one` for each element.
  template <class F>
  void Elements(char open, char close, const F& one) {
    if (++depth_ > kMaxDepth || !Take(open)) return Fail();
    if (!Take(close)) {
      do one();
      while (ok_ && Take(','));
      if (!Take(close)) Fail();
    }
    --depth_;
  }

  std::string_view rest_;
  bool ok_ = true;
  bool first_ = false;  // the next member is the first of its object
  int depth_ = 0;
  std::uint64_t largest_;
};

// Writes and reads records of a journal as lines: each has one entry, identified by the name of its alternative in a
// variant, and a number; numbers start at 1 without gaps.

// In the order of the variant's alternatives.
template <class Entry>
using EntryNames = std::array<std::string_view, std::variant_size_v<Entry>>;

template <class Entry>
void PutEntry(JsonWriter<>& writer, const EntryNames<Entry>& names, const Entry& entry) {
  writer("event", names[entry.index()]);
  std::visit([&](const auto& fields) { writer.Members(fields); }, entry);
}

// Returns false if no entry has the name; whether its fields are valid is the state of the reader.
template <std::size_t I = 0, class Reader, class Entry>
bool GetEntry(Reader& reader, const EntryNames<Entry>& names, std::string_view name, Entry& entry) {
  if constexpr (I == std::variant_size_v<Entry>) {
    return false;
  } else {
    if (name != names[I]) return GetEntry<I + 1>(reader, names, name, entry);
    Fields(reader, entry.template emplace<I>());
    return true;
  }
}

// Passes each record, with the position after it, to `take` until it returns false, as far as the lines of the open
// file are valid. `parse` turns a line into a record, or returns why it is none. Returns the position after the last
// accepted record; `stopped` is the reason if reading stopped before the end of the file, and empty otherwise or if
// `take` returned false.
template <class Parse, class Take>
JournalPosition ReadRecords(int file, JournalPosition from, const Parse& parse, const Take& take,
                            std::string& stopped) {
  stopped.clear();
  JournalLines lines(file, from.bytes);
  while (const std::optional<std::string_view> line = lines.Next()) {
    auto record = parse(*line);
    if (!record || record->seq != from.seq + 1) {
      stopped = record ? "a record is missing" : std::move(record.error());
      return from;
    }
    const JournalPosition next{from.bytes + line->size() + 1, record->seq};
    if (!take(std::move(*record), next)) return from;
    from = next;
  }
  stopped = lines.stopped();
  return from;
}

}  // namespace muster
