#include "run/journal/journal.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/compile.h>
#include <fmt/format.h>

#include "base/values/shell_quote.h"
#include "muster/value.h"
#include "run/directory/json_text.h"
#include "run/journal/journal_fields.h"
#include "run/journal/journal_line.h"
#include "run/journal/journal_lines.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

// In the order of JournalEntry's alternatives.
constexpr std::array<std::string_view, std::variant_size_v<JournalEntry>> kEntryNames = {
    "run_began",      "agent_connected", "plan_bound",     "preparation_failed", "start_ordered",   "stop_ordered",
    "phase",          "first_failure",   "failure_traced", "ended_early",        "stray",           "finish_ordered",
    "run_ended",      "process_started", "spawn_failed",   "process_exited",     "signal_sent",     "agent_empty",
    "agent_lost",     "stop_requested",  "deadline",       "process_ready",      "output_seen",     "restart_planned",
    "limit_passed",   "first_output",    "end_evidence",   "port_taken",         "rebind_ordered",  "plan_rebound",
    "process_dumped", "host_dumped",     "dump_requested", "dump_ordered",       "dump_ended",      "pty_opened",
    "pty_closed",     "host_activated",  "clock_compared", "host_reached",       "replace_ordered", "host_replaced",
    "hosts_compared", "paths_compared",  "code_shipped",   "code_seen",          "checkpoint_seen", "host_stray",
    "devices_awaited"};

constexpr std::size_t kMaxJournalBytes = 1U << 30;
// Of all values of a line together: the binding of a million processes has three million. A value takes far more memory
// than its text.
constexpr std::ptrdiff_t kMostValues = 4'000'000;
// Larger numbers are read and written as this one, so that a few times and offsets can be added up. In nanoseconds it
// is 36 years of a machine that was not switched off.
constexpr std::int64_t kLargestNumber = std::int64_t{1} << 60;

std::int64_t Most(std::uint64_t number) {
  return static_cast<std::int64_t>(std::min(number, static_cast<std::uint64_t>(kLargestNumber)));
}

// --- writing ----------------------------------------------------------------------------------------

class FieldWriter {
 public:
  template <class T>
  void operator()(const char* name, T& value) {
    line_ += ",\"";
    line_ += name;
    line_ += "\":";
    line_ += JsonText(Of(value));
  }
  std::string Take() { return std::move(line_); }

 private:
  class ObjectWriter {
   public:
    template <class T>
    void operator()(const char* name, T& value) {
      map.emplace(name, Of(value));
    }
    Value::Map map;
  };

  template <class T>
  static Value Of(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      return Value(value);
    } else if constexpr (std::is_same_v<T, Phase>) {
      return Value(PhaseName(value));
    } else if constexpr (std::is_same_v<T, Cause>) {
      return Value(CauseName(value));
    } else if constexpr (std::is_same_v<T, std::string>) {
      return Value(Readable(value));
    } else if constexpr (std::unsigned_integral<T>) {
      return Value(Most(value));
    } else if constexpr (std::signed_integral<T>) {
      return Value(std::int64_t{value});
    } else if constexpr (requires { typename T::mapped_type; }) {
      Value::Map map;
      for (auto& [key, mapped] : value) map.emplace(Readable(key), Of(mapped));
      return Value(std::move(map));
    } else if constexpr (requires { value.push_back(value.front()); }) {
      Value::List list;
      for (auto& element : value) list.push_back(Of(element));
      return Value(std::move(list));
    } else {
      ObjectWriter object;
      JournalFields(object, value);
      return Value(std::move(object.map));
    }
  }

  std::string line_;
};

// --- reading ----------------------------------------------------------------------------------------

// Takes fields out of an object; a missing field or one of another type or range fails the record.
class FieldReader {
 public:
  explicit FieldReader(const Value::Map& object) : object_(object) {}

  template <class T>
  void operator()(const char* name, T& value) {
    const auto found = object_.find(name);
    if (found == object_.end() || !To(found->second, value)) ok_ = false;
  }
  bool ok() const { return ok_; }

 private:
  template <class E, class NameOf>
  static bool Named(const Value& json, E& value, int members, NameOf name_of) {
    for (int i = 0; i < members; ++i) {
      const auto member = static_cast<E>(i);
      if (json.AsString() == nullptr || *json.AsString() != name_of(member)) continue;
      value = member;
      return true;
    }
    return false;
  }

  template <class T>
  static bool To(const Value& json, T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      return json.AsBool() != nullptr && (value = *json.AsBool(), true);
    } else if constexpr (std::is_same_v<T, Phase>) {
      return Named(json, value, kPhases, PhaseName);
    } else if constexpr (std::is_same_v<T, Cause>) {
      return Named(json, value, kCauses, CauseName);
    } else if constexpr (std::is_same_v<T, std::string>) {
      return json.AsString() != nullptr && (value = *json.AsString(), true);
    } else if constexpr (std::integral<T>) {
      const std::int64_t* number = json.AsInt();
      if (number == nullptr || !std::in_range<T>(*number)) return false;
      value = static_cast<T>(std::clamp(*number, -kLargestNumber, kLargestNumber));
      return true;
    } else if constexpr (requires { typename T::mapped_type; }) {
      if (json.AsMap() == nullptr) return false;
      for (const auto& [key, mapped] : *json.AsMap()) {
        if (!To(mapped, value[key])) return false;
      }
      return true;
    } else if constexpr (requires { value.push_back(value.front()); }) {
      if (json.AsList() == nullptr) return false;
      for (const Value& element : *json.AsList()) {
        if (!To(element, value.emplace_back())) return false;
      }
      return true;
    } else {
      if (json.AsMap() == nullptr) return false;
      FieldReader object(*json.AsMap());
      JournalFields(object, value);
      return object.ok();
    }
  }

  const Value::Map& object_;
  bool ok_ = true;
};

template <std::size_t I = 0>
std::optional<JournalEntry> ReadEntry(std::string_view name, FieldReader& fields) {
  if constexpr (I == kEntryNames.size()) {
    return std::nullopt;
  } else {
    if (name != kEntryNames[I]) return ReadEntry<I + 1>(name, fields);
    std::variant_alternative_t<I, JournalEntry> entry;
    JournalFields(fields, entry);
    return entry;
  }
}

// The record of one line (without its newline), or why it is none. Without a number any is expected.
tl::expected<JournalRecord, std::string> ReadLine(std::string_view line, std::optional<std::uint64_t> expected_seq) {
  if (const auto body = OpenLine(line); !body) return tl::unexpected(body.error());
  if (std::count(line.begin(), line.end(), ',') > kMostValues) {
    return tl::unexpected<std::string>("a line has too many values");
  }
  const tl::expected<Value, std::string> json = ValueFromJsonText(line);
  if (!json || json->AsMap() == nullptr) return tl::unexpected<std::string>("a line is not a JSON object");
  JournalRecord record;
  std::string name;
  FieldReader fields(*json->AsMap());
  fields("seq", record.seq);
  fields("wall", record.wall);
  fields("at", record.at);
  fields("event", name);
  if (fields.ok() && record.seq != expected_seq.value_or(record.seq))
    return tl::unexpected<std::string>("a record is missing");
  std::optional<JournalEntry> entry = ReadEntry(name, fields);
  if (!entry) return tl::unexpected<std::string>(fmt::format("the event {} is not known", Quoted(name)));
  if (!fields.ok()) return tl::unexpected<std::string>(fmt::format("the event {} lacks a field", Quoted(name)));
  record.entry = std::move(*entry);
  return record;
}

// `take` is told how long the line of the record was.
std::string ReadRecords(const std::string& path,
                        const std::function<bool(JournalRecord record, std::size_t bytes)>& take) {
  const UniqueFd file = OpenJournal(AT_FDCWD, path);
  if (!file) return SystemError("file", fmt::format("cannot read {}", Quoted(path)), errno).message;
  JournalLines lines(file.get(), 0);
  for (std::uint64_t seq = 1; const std::optional<std::string_view> line = lines.Next(); ++seq) {
    tl::expected<JournalRecord, std::string> record = ReadLine(*line, seq);
    if (!record) return record.error();
    if (!take(std::move(*record), line->size() + 1)) return {};
  }
  return lines.stopped();
}

}  // namespace

std::string_view EntryName(const JournalEntry& entry) { return kEntryNames[entry.index()]; }

std::string JournalLine(const JournalRecord& record) {
  FieldWriter fields;
  std::visit([&](auto entry) { JournalFields(fields, entry); }, record.entry);
  std::string line =
      fmt::format(FMT_COMPILE("{{\"seq\":{},\"wall\":{},\"at\":{},\"event\":\"{}\"{}"), record.seq,
                  JsonText(Value(Readable(record.wall))), Most(record.at), EntryName(record.entry), fields.Take());
  SealLine(line);
  return line;
}

std::optional<JournalRecord> ParseJournalLine(std::string_view line) {
  tl::expected<JournalRecord, std::string> record = ReadLine(line, std::nullopt);
  if (!record) return std::nullopt;
  return std::move(*record);
}

JournalContents ParseJournal(std::string_view bytes) {
  JournalContents contents;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
      contents.stopped = "the last line is cut";
      break;
    }
    tl::expected<JournalRecord, std::string> record = ReadLine(bytes.substr(0, end), contents.records.size() + 1);
    if (!record) {
      contents.stopped = record.error();
      break;
    }
    contents.records.push_back(std::move(*record));
    contents.valid_bytes += end + 1;
    bytes.remove_prefix(end + 1);
  }
  return contents;
}

std::string ReadJournal(const std::string& path, const std::function<bool(JournalRecord record)>& take) {
  return ReadRecords(path, [&](JournalRecord record, std::size_t) { return take(std::move(record)); });
}

JournalContents ReadJournal(const std::string& path) {
  JournalContents contents;
  bool too_long = false;
  contents.stopped = ReadRecords(path, [&](JournalRecord record, std::size_t bytes) {
    too_long = contents.valid_bytes + bytes > kMaxJournalBytes;
    if (too_long) return false;
    contents.valid_bytes += bytes;
    contents.records.push_back(std::move(record));
    return true;
  });
  if (too_long) contents.stopped = fmt::format("it is longer than {} bytes", kMaxJournalBytes);
  return contents;
}

}  // namespace muster
