#include "run/directory/error_file.h"

#include <charconv>
#include <cmath>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/system/clock.h"
#include "base/system/known_secrets.h"
#include "base/values/utf8.h"
#include "run/directory/private_files.h"
#include "settings/values/value_field.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

constexpr std::size_t kMaxFileBytes = 1U << 20;
constexpr std::size_t kMaxMessage = 2'000;
constexpr std::size_t kMaxText = 1'000;
constexpr std::size_t kMaxMembers = 20;

std::string Shortened(std::string_view text, std::size_t size) {
  const std::string_view kept = Utf8Prefix(text, size);
  return kept.size() == text.size() ? std::string(text) : std::string(kept) + "…";
}

std::string_view TextOf(const Value::Map& map, const char* key) {
  const Value* value = FieldOf(map, key);
  return value != nullptr && value->AsString() != nullptr ? std::string_view(*value->AsString()) : std::string_view();
}

// Seconds since 1970, as a number or in digits.
std::string TimeOf(const Value* value) {
  if (value == nullptr) return {};
  std::int64_t seconds = 0;
  if (const std::int64_t* number = value->AsInt()) {
    seconds = *number;
  } else if (const double* real = value->AsDouble()) {
    seconds = std::isfinite(*real) && std::abs(*real) < 1e12 ? static_cast<std::int64_t>(*real) : 0;
  } else if (const std::string* digits = value->AsString()) {
    std::from_chars(digits->data(), digits->data() + digits->size(), seconds);
  }
  constexpr std::int64_t kLatest = 9'999'999'999;
  return seconds > 0 && seconds <= kLatest ? UtcText(static_cast<std::uint64_t>(seconds) * 1'000'000'000) : "";
}

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (text.ends_with('\n')) text.remove_suffix(1);
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    lines.push_back(Shortened(text.substr(0, newline), kMaxText));
    text = newline == std::string_view::npos ? std::string_view() : text.substr(newline + 1);
  }
  if (lines.size() > kTracebackLines) lines.erase(lines.begin(), lines.end() - kTracebackLines);
  return lines;
}

void HideSecretsIn(Value& value) {
  if (const std::string* text = value.AsString()) {
    value = Value(WithoutSecrets(*text));
  } else if (const Value::List* list = value.AsList()) {
    Value::List shown = *list;
    for (Value& element : shown) HideSecretsIn(element);
    value = Value(std::move(shown));
  } else if (const Value::Map* map = value.AsMap()) {
    Value::Map shown;
    for (const auto& [key, member] : *map) HideSecretsIn(shown.emplace(WithoutSecrets(key), member).first->second);
    value = Value(std::move(shown));
  }
}

void AddMore(const Value::Map& map, std::initializer_list<std::string_view> known, ErrorNote& note) {
  for (const auto& [key, value] : map) {
    if (note.more.size() == kMaxMembers) return;
    bool reported = false;
    for (const std::string_view name : known) reported = reported || name == key;
    if (reported) continue;
    std::string text = ToText(value);
    note.more.emplace(Shortened(key, 100), text.size() <= kMaxText ? value : Value(Shortened(text, kMaxText)));
  }
}

}  // namespace

tl::expected<ErrorNote, std::string> ParseErrorNote(std::string_view json) {
  auto value = ValueFromJsonText(json);
  if (!value) return tl::unexpected<std::string>(value.error());
  HideSecretsIn(*value);
  const Value::Map* top = value->AsMap();
  if (top == nullptr) return tl::unexpected<std::string>("it is not a JSON object");
  ErrorNote note;
  const Value* message = FieldOf(*top, "message");
  const Value::Map* inner = message == nullptr ? nullptr : message->AsMap();
  if (inner == nullptr) {
    note.message = Shortened(TextOf(*top, "message"), kMaxMessage);
    note.traceback = LinesOf(TextOf(*top, "traceback"));
    note.at = TimeOf(FieldOf(*top, "timestamp"));
    AddMore(*top, {"message", "traceback", "timestamp"}, note);
  } else {
    note.message = Shortened(TextOf(*inner, "message"), kMaxMessage);
    const Value* extra = FieldOf(*inner, "extraInfo");
    if (extra != nullptr && extra->AsMap() != nullptr) {
      note.traceback = LinesOf(TextOf(*extra->AsMap(), "py_callstack"));
      note.at = TimeOf(FieldOf(*extra->AsMap(), "timestamp"));
      AddMore(*extra->AsMap(), {"py_callstack", "timestamp"}, note);
    }
    AddMore(*inner, {"message", "extraInfo"}, note);
    AddMore(*top, {"message"}, note);
  }
  if (note.message.empty()) return tl::unexpected<std::string>("it contains no message");
  return note;
}

std::string ErrorPath(const Plan& plan, ProcessId process, std::uint32_t attempt) {
  return fmt::format("errors/{}.{}.json", ProcessName(plan, plan.processes[process]), attempt);
}

std::optional<ErrorNote> ReadErrorNote(int run_dir, const Plan& plan, ProcessId process, std::uint32_t attempt) {
  const std::string path = ErrorPath(plan, process, attempt);
  const std::size_t slash = path.find('/');
  const Result<UniqueFd> folder = OpenFolder(run_dir, path.substr(0, slash));  // links are not followed
  if (!folder || !EntryExists(folder->get(), path.substr(slash + 1))) return std::nullopt;
  const auto unreadable = [](std::string why) {
    ErrorNote note;
    note.unreadable = std::move(why);
    return note;
  };
  const Result<std::string> text = ReadFileAt(folder->get(), path.substr(slash + 1), kMaxFileBytes, O_NOFOLLOW);
  if (!text) return unreadable(text.error().front().message);
  auto note = ParseErrorNote(*text);
  return note ? *std::move(note) : unreadable(std::move(note.error()));
}

}  // namespace muster
