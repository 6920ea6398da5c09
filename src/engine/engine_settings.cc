#include "engine/engine_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "engine/engine_calls.h"

namespace muster {
namespace {

constexpr std::int64_t kMaxCount = 1'000'000;
constexpr double kMaxSeconds = 1e9;
constexpr std::size_t kMaxSetting = 4'096;
constexpr std::int64_t kMaxRequeues = 1'000;
constexpr std::int64_t kDefaultRequeues = 10;
constexpr std::array<std::string_view, 4> kRequeueCauses = {"time_limit", "preempted", "node_fail", "failed"};

struct Problem {
  const char* kind;
  std::string message;
  std::string hint;
};

std::vector<std::string> OptionNames(const EnginePage& page) {
  std::vector<std::string> names;
  for (const EngineOption& option : page.options) names.push_back(option.name);
  return names;
}

bool IsOneLineText(const std::string& text) {
  return !text.empty() && text.size() <= kMaxSetting && IsUtf8(text) &&
         std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

// Texts become part of a directive line, which engines split at blanks unless the page quotes the value.
tl::expected<Value, Problem> CheckedText(const EngineOption& option, const std::string& text) {
  if (!IsOneLineText(text)) {
    return tl::unexpected(Problem{"format", option.name + " is one line of text, got " + Quoted(text), {}});
  }
  if (option.line.empty()) return Value(text);  // of a manifest, which quotes
  const bool quoted = option.line.find("\"{value}\"") != std::string::npos;
  const char* const special = quoted ? "\"\\" : " \t\"'\\#";
  if (const std::size_t at = text.find_first_of(special); at != std::string::npos) {
    return tl::unexpected(Problem{"format",
                                  option.name + " cannot contain " + Quoted(text.substr(at, 1)) + ": " + Quoted(text),
                                  "an option with blanks or quotes goes into extra"});
  }
  return Value(text);
}

tl::expected<Value, Problem> CheckedDuration(const EngineOption& option, const Value& value) {
  const std::string* text = value.AsString();
  const auto bare = [](const std::string& word) {
    return !word.empty() && word.find_first_not_of("0123456789.") == std::string::npos;
  };
  if (text == nullptr || bare(*text)) {
    const std::string number = text == nullptr ? ToText(value) : *text;
    return tl::unexpected(Problem{"format", option.name + " is a time with its unit, got " + number,
                                  "write " + option.name + " = \"" +
                                      (value.IsNumber() || text != nullptr ? number : "90") +
                                      "m\" for minutes, \"12h\" for hours"});
  }
  // The engine's own notation goes through: 1-12:00:00.
  const bool clock =
      option.form != EngineDuration::kSeconds && text->find(':') != std::string::npos &&
      text->find_first_not_of(option.form == EngineDuration::kDaysClock ? "0123456789:-" : "0123456789:") ==
          std::string::npos;
  if (clock) return value;
  const auto seconds = ParseDuration(*text);
  if (!seconds || *seconds <= 0 || *seconds > kMaxSeconds) {
    return tl::unexpected(Problem{"format", option.name + " is a time, got " + Quoted(*text), "12h, 90m or 1d12h"});
  }
  const auto whole = static_cast<std::uint64_t>(std::ceil(*seconds));
  const std::uint64_t hours = whole / 3600;
  const std::uint64_t minutes = whole / 60 % 60;
  switch (option.form) {
    case EngineDuration::kDaysClock:
      return Value(hours >= 24 ? fmt::format("{}-{:02}:{:02}:{:02}", hours / 24, hours % 24, minutes, whole % 60)
                               : fmt::format("{:02}:{:02}:{:02}", hours, minutes, whole % 60));
    case EngineDuration::kClock:
      return Value(fmt::format("{:02}:{:02}:{:02}", hours, minutes, whole % 60));
    case EngineDuration::kHoursMinutes: {
      const std::uint64_t all = (whole + 59) / 60;
      return Value(fmt::format("{}:{:02}", all / 60, all % 60));
    }
    case EngineDuration::kSeconds:
      break;
  }
  return Value(std::to_string(whole));
}

tl::expected<Value, Problem> CheckedList(const EngineOption& option, const Value& value) {
  Value::List texts;
  if (value.AsString() != nullptr) texts.push_back(value);
  if (value.AsList() != nullptr) texts = *value.AsList();
  for (const Value& text : texts) {
    if (text.AsString() == nullptr || !IsOneLineText(*text.AsString())) {
      return tl::unexpected(Problem{"type", option.name + " is a list of texts of one line, got " + ToText(value), {}});
    }
  }
  if (texts.empty()) {
    return tl::unexpected(Problem{"type", option.name + " is a list of texts, got " + ToText(value), {}});
  }
  return Value(std::move(texts));
}

// { on = { "time_limit" }, max = 3 }, or as a word "time_limit,preempted:3".
tl::expected<Value, Problem> CheckedRequeue(const EngineOption& option, const Value& value) {
  const auto wrong = [&](const std::string& what) {
    return tl::unexpected(Problem{"type", option.name + what + ", got " + ToText(value),
                                  "requeue = { on = { \"time_limit\", \"node_fail\" }, max = 3 }"});
  };
  Value::List on;
  Value max(kDefaultRequeues);
  if (const std::string* text = value.AsString()) {
    std::string_view rest(*text);
    if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
      std::int64_t number = 0;
      const char* const end = text->data() + text->size();
      const auto [stop, error] = std::from_chars(text->data() + colon + 1, end, number);
      if (error != std::errc() || stop != end) return wrong(" is CAUSE,…:MAX");
      max = Value(number);
      rest = rest.substr(0, colon);
    }
    while (true) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      on.emplace_back(std::string(rest.substr(0, comma)));
      if (comma == rest.size()) break;
      rest.remove_prefix(comma + 1);
    }
  } else if (const Value::Map* table = value.AsMap()) {
    for (const auto& [name, field] : *table) {
      if (name == "on" && field.AsList() != nullptr) {
        on = *field.AsList();
      } else if (name == "max") {
        max = field;
      } else {
        return wrong(" is a table of on and max");
      }
    }
  } else {
    return wrong(" is a table of on and max");
  }
  const std::string causes = fmt::format("{}", fmt::join(kRequeueCauses, ", "));
  for (const Value& cause : on) {
    const bool known = cause.AsString() != nullptr && std::find(kRequeueCauses.begin(), kRequeueCauses.end(),
                                                                *cause.AsString()) != kRequeueCauses.end();
    if (!known) return wrong(".on has only " + causes);
  }
  if (on.empty()) return wrong(".on says after which ends: " + causes);
  if (max.AsInt() == nullptr || *max.AsInt() < 1 || *max.AsInt() > kMaxRequeues) {
    return wrong(".max is a whole number from 1 to 1000");
  }
  return Value(Value::Map{{"on", Value(std::move(on))}, {"max", max}});
}

// The value as it is kept.
tl::expected<Value, Problem> Checked(const EngineOption& option, const Value& value) {
  switch (option.type) {
    case EngineOptionType::kText:
      if (value.AsString() != nullptr) return CheckedText(option, *value.AsString());
      if (value.AsInt() != nullptr) return Value(ToText(value));
      return tl::unexpected(Problem{"type", option.name + " is a text, got " + ToText(value), {}});
    case EngineOptionType::kCount:
      if (value.AsInt() != nullptr && *value.AsInt() >= 1 && *value.AsInt() <= kMaxCount) return value;
      return tl::unexpected(Problem{"range", option.name + " is a whole number from 1, got " + ToText(value), {}});
    case EngineOptionType::kDuration:
    case EngineOptionType::kNotice:
      return CheckedDuration(option, value);
    case EngineOptionType::kFlag:
    case EngineOptionType::kEachTrial:
      if (value.AsBool() != nullptr) return value;
      return tl::unexpected(Problem{"type", option.name + " is true or false, got " + ToText(value), {}});
    case EngineOptionType::kRequeue:
      return CheckedRequeue(option, value);
    case EngineOptionType::kTable:
      if (value.AsMap() != nullptr) return value;
      if (value.AsList() != nullptr && value.AsList()->empty()) return Value(Value::Map());  // an empty table of Lua
      return tl::unexpected(Problem{"type", option.name + " is a table with names, got " + ToText(value), {}});
    case EngineOptionType::kList:
      break;
  }
  return CheckedList(option, value);
}

// A text of the command line as a value of the option's type, where it is one.
Value ValueOfWord(const EngineOption& option, const std::string& text) {
  if (option.type == EngineOptionType::kCount) {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && rest == end) return Value(number);
  }
  if (option.type == EngineOptionType::kFlag || option.type == EngineOptionType::kEachTrial) {
    for (const char* yes : {"yes", "true", "1"}) {
      if (text == yes) return Value(true);
    }
    for (const char* no : {"no", "false", "0"}) {
      if (text == no) return Value(false);
    }
  }
  if (option.type == EngineOptionType::kTable) {
    if (auto table = ValueFromJsonText(text)) return *std::move(table);
  }
  return Value(text);
}

}  // namespace

Result<EngineSettings> SettingsOfTable(const EnginePage& page, const Value& table,
                                       const std::function<Place(const std::string&)>& place_of,
                                       const std::function<std::string(const std::string&)>& source_of) {
  EngineSettings settings;
  Diagnostics problems;
  if (table.AsList() != nullptr && table.AsList()->empty()) return settings;  // an empty table of Lua
  if (table.AsMap() == nullptr) {
    return Fail(Error("type", place_of(""), page.name + " is a table of options, got " + ToText(table),
                      page.name + " = { nodes = 4 }"));
  }
  for (const auto& [name, value] : *table.AsMap()) {
    const EngineOption* option = page.FindOption(name);
    if (option == nullptr) {
      problems.push_back(Error("unknown_key", place_of(name), page.name + " has no option " + name,
                               DidYouMean(name, OptionNames(page))));
      continue;
    }
    auto checked = Checked(*option, value);
    if (checked) {
      settings[name] = {*std::move(checked), place_of(name), source_of(name)};
    } else {
      problems.push_back(
          Error(checked.error().kind, place_of(name), page.name + "." + checked.error().message, checked.error().hint));
    }
  }
  if (!problems.empty()) return Fail(std::move(problems));
  return settings;
}

Result<EngineSettings> SettingsOfWords(const EnginePage& page, std::span<const std::string> words,
                                       const std::string& option) {
  Value::Map table;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return Fail(Error("usage", {}, option + " " + Quoted(word) + " is not NAME=VALUE", option + " time=12h"));
    }
    const std::string name = word.substr(0, equals);
    const EngineOption* known = page.FindOption(name);
    Value value = known == nullptr ? Value(word.substr(equals + 1)) : ValueOfWord(*known, word.substr(equals + 1));
    if (known != nullptr && known->type == EngineOptionType::kList) {
      Value::List texts;
      if (const auto before = table.find(name); before != table.end()) texts = *before->second.AsList();
      texts.push_back(std::move(value));
      value = Value(std::move(texts));
    }
    table[name] = std::move(value);
  }
  auto settings = SettingsOfTable(
      page, Value(std::move(table)), [](const std::string&) { return Place{}; },
      [&](const std::string&) { return option; });
  if (settings) return settings;
  Diagnostics problems = std::move(settings.error());
  for (Diagnostic& problem : problems) problem.message = option + ": " + problem.message;
  return Fail(std::move(problems));
}

EngineSettings MergedSettings(std::span<const EngineSettings> nearest_first) {
  EngineSettings merged;
  for (const EngineSettings& settings : nearest_first) merged.insert(settings.begin(), settings.end());
  return merged;
}

std::optional<std::uint32_t> NodesOf(const EngineSettings& settings) {
  const auto nodes = settings.find("nodes");
  if (nodes == settings.end()) return std::nullopt;
  return static_cast<std::uint32_t>(*nodes->second.value.AsInt());
}

std::optional<std::uint32_t> DevicesOf(const EnginePage& page, const EngineSettings& settings) {
  for (const EngineOption& option : page.options) {
    const auto setting = option.devices ? settings.find(option.name) : settings.end();
    if (setting == settings.end()) continue;
    if (const std::int64_t* count = setting->second.value.AsInt()) return static_cast<std::uint32_t>(*count);
    const std::string* text = setting->second.value.AsString();
    if (text == nullptr) continue;
    // "gpu:a100:8": the last part; without a number it is one.
    const std::string last = text->substr(text->rfind(':') + 1);
    std::uint32_t count = 0;
    const char* const end = last.data() + last.size();
    const auto [rest, error] = std::from_chars(last.data(), end, count);
    return error == std::errc() && rest == end ? count : 1;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> TasksOf(const EnginePage& page, const EngineSettings& settings) {
  const auto option =
      std::find_if(page.options.begin(), page.options.end(), [](const EngineOption& one) { return one.tasks; });
  if (option == page.options.end()) return std::nullopt;
  std::optional<std::uint32_t> tasks;
  if (const auto setting = settings.find(option->name); setting != settings.end())
    tasks = static_cast<std::uint32_t>(*setting->second.value.AsInt());
  // Directives of the user's come last in the script, and replace it.
  const std::string begin = option->line.substr(0, option->line.find("{value}"));
  for (const auto& [name, setting] : settings) {
    const Value::List* words = option->into.empty() ? setting.value.AsList() : nullptr;
    for (std::size_t i = 0; words != nullptr && i < words->size(); ++i) {
      const std::string* word = (*words)[i].AsString();
      if (word == nullptr || !word->starts_with(begin)) continue;
      if (const auto number = ParseNumber<std::uint32_t>(std::string_view(*word).substr(begin.size()))) tasks = number;
    }
  }
  if (tasks && *tasks <= 1) tasks.reset();
  return tasks;
}

const EngineSetting* EachTrialOf(const EnginePage& page, const EngineSettings& settings) {
  for (const EngineOption& option : page.options) {
    const auto setting = option.type == EngineOptionType::kEachTrial ? settings.find(option.name) : settings.end();
    if (setting != settings.end() && *setting->second.value.AsBool()) return &setting->second;
  }
  return nullptr;
}

RequeueRule RequeueOf(const EnginePage& page, const EngineSettings& settings) {
  RequeueRule rule;
  for (const EngineOption& option : page.options) {
    const auto setting = option.type == EngineOptionType::kRequeue ? settings.find(option.name) : settings.end();
    if (setting == settings.end()) continue;
    const Value::Map& table = *setting->second.value.AsMap();
    for (const Value& cause : *table.at("on").AsList()) rule.on.insert(*cause.AsString());
    rule.max = static_cast<std::uint32_t>(*table.at("max").AsInt());
  }
  return rule;
}

namespace {

constexpr std::uint32_t kNoticeMargin = 30;     // for what follows the stop: the report, and another attempt
constexpr std::uint32_t kMaxNotice = 65'535;    // of sbatch; about 18 hours
constexpr std::string_view kScriptOnly = "B:";  // the signal is for the batch script, as the head needs it

// The limit of the job, as CheckedDuration() writes it; nothing without one.
std::optional<std::uint64_t> TimeLimitOf(const EnginePage& page, const EngineSettings& settings) {
  const EngineOption* const option = page.FindOption("time");
  const auto setting = settings.find("time");
  if (option == nullptr || setting == settings.end() || setting->second.value.AsString() == nullptr)
    return std::nullopt;
  const std::string& text = *setting->second.value.AsString();
  if (option->form == EngineDuration::kSeconds) return ParseNumber<std::uint64_t>(text);
  const auto seconds = SecondsInClock(text);
  // "1:30" is hours and minutes there.
  return seconds && option->form == EngineDuration::kHoursMinutes ? std::optional(*seconds * 60) : seconds;
}

// "--signal=B:USR1@600": the seconds, if the signal is the one that the head expects.
std::optional<std::uint32_t> GivenSeconds(const EngineNotice& notice, std::string_view directive) {
  std::string_view rest = directive.substr(notice.given.size());
  rest.remove_prefix(std::min(rest.find_first_not_of("= "), rest.size()));
  if (!rest.starts_with(kScriptOnly)) return std::nullopt;
  rest.remove_prefix(kScriptOnly.size());
  const std::size_t at = rest.find('@');
  std::string_view signal = rest.substr(0, at);
  if (signal.starts_with("SIG")) signal.remove_prefix(3);
  if (signal != notice.signal) return std::nullopt;
  return at == std::string_view::npos ? std::optional(60U) : ParseNumber<std::uint32_t>(rest.substr(at + 1));
}

}  // namespace

Result<std::optional<NoticeChoice>> NoticeOf(const EnginePage& page, const EngineSettings& settings,
                                             std::uint32_t stop_seconds) {
  if (!page.notice) return std::optional<NoticeChoice>();
  NoticeChoice choice;
  const EngineSetting* given = nullptr;
  for (const EngineOption& option : page.options) {
    const auto setting = settings.find(option.name);
    if (setting == settings.end()) continue;
    if (option.type == EngineOptionType::kNotice) {
      given = &setting->second;
      choice.seconds = ParseNumber<std::uint32_t>(*given->value.AsString()).value_or(kMaxNotice);
    }
    const Value::List* const texts = option.type == EngineOptionType::kList && !page.notice->given.empty()
                                         ? setting->second.value.AsList()
                                         : nullptr;
    if (texts == nullptr) continue;
    for (const Value& text : *texts) {
      const std::string& directive = *text.AsString();
      const std::string_view next =
          std::string_view(directive).substr(std::min(page.notice->given.size(), directive.size()));
      if (!directive.starts_with(page.notice->given) || (!next.empty() && next.front() != '=' && next.front() != ' ')) {
        continue;
      }
      const auto seconds = GivenSeconds(*page.notice, directive);
      if (!seconds) {
        return Fail(Error("conflict", setting->second.place,
                          fmt::format("{}.{} has {}: the end of the allocation is announced to muster by {}{}, and it "
                                      "would not see this signal",
                                      page.name, option.name, Quoted(directive), kScriptOnly, page.notice->signal),
                          fmt::format("notice = \"10m\" says how long before the end; a signal to the processes is "
                                      "checkpoint.signal of the recipe")));
      }
      choice.directive = directive;
      if (given == nullptr) choice.seconds = *seconds;
    }
  }
  if (given == nullptr && choice.directive.empty()) {
    choice.seconds = stop_seconds == 0 ? page.notice->seconds : stop_seconds + kNoticeMargin;
    if (const auto limit = TimeLimitOf(page, settings)) {
      choice.seconds = static_cast<std::uint32_t>(std::min<std::uint64_t>(choice.seconds, *limit / 4 * 3));
    }
  }
  choice.seconds = std::clamp(choice.seconds, 1U, kMaxNotice);
  return std::optional(std::move(choice));
}

}  // namespace muster
