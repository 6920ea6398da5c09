#include "settings/values/parameter.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"

namespace muster {
namespace {

// What a user meant by a text that is no value of a parameter's type: "1,000", "50%", "64gb", "True", "2 hours".

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// Without brackets, quotes and blanks around it.
std::string_view Bare(std::string_view text) {
  constexpr std::string_view kAround = " \t[](){}\"'=";
  const std::size_t begin = std::min(text.find_first_not_of(kAround), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kAround) + 1);
}

std::optional<double> NumberOf(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

// "1,000,000", "1_000" or "1'000" without what stands between the digits; empty if it is no such number.
std::string Ungrouped(std::string_view text) {
  std::string digits;
  std::size_t since = 0;  // digits since the last sign
  bool grouped = false;
  for (const char c : text) {
    if (c == ',' || c == '_' || c == '\'') {
      if (since == 0 || (grouped && since != 3)) return {};
      grouped = true;
      since = 0;
    } else if (IsDigit(c)) {
      digits += c;
      ++since;
    } else {
      return {};
    }
  }
  return grouped && since == 3 ? digits : std::string();
}

std::string Shown(double number) {
  const double whole = std::floor(number);
  constexpr double kExact = 9007199254740992.0;
  return whole == number && std::abs(number) < kExact ? ToText(Value(static_cast<std::int64_t>(number)))
                                                      : ToText(Value(number));
}

std::string MeantNumber(std::string_view text, bool whole) {
  if (std::string digits = Ungrouped(text); !digits.empty()) return digits;
  if (text.ends_with('%') && !whole) {
    const auto percent = NumberOf(Bare(text.substr(0, text.size() - 1)));
    return percent ? Shown(*percent / 100) : std::string();
  }
  std::string number(text);
  if (number.ends_with('f') || number.ends_with('F') || number.ends_with('L')) number.pop_back();
  if (std::count(number.begin(), number.end(), ',') == 1) number[number.find(',')] = '.';
  const auto read = NumberOf(number);
  if (!read || (whole && std::floor(*read) != *read)) return {};
  return whole ? Shown(*read) : number;
}

std::string MeantBool(std::string_view text) {
  const std::string word = Lower(text);
  for (const std::string_view yes : {"1", "true", "yes", "on", "y", "t"}) {
    if (word == yes) return "true";
  }
  for (const std::string_view no : {"0", "false", "no", "off", "n", "f"}) {
    if (word == no) return "false";
  }
  return {};
}

// The number with which the text begins, and the small letters behind it.
struct Measure {
  std::string number;
  std::string unit;
};

std::optional<Measure> MeasureOf(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  if (end == 0 || !NumberOf(text.substr(0, end))) return std::nullopt;
  return Measure{std::string(text.substr(0, end)), Lower(Bare(text.substr(end)))};
}

std::string MeantBytes(std::string_view text) {
  const auto measure = MeasureOf(text);
  if (!measure || measure->unit.empty()) return {};
  std::string unit = measure->unit;
  constexpr std::string_view kScales = "kmgtp";
  const std::size_t scale = kScales.find(unit.front());
  if (scale == std::string_view::npos) return unit == "b" || unit == "bytes" ? measure->number : "";
  const std::string rest = unit.substr(1);
  const bool decimal = rest == "b" || rest == "bytes";
  if (!decimal && !rest.empty() && rest != "ib" && rest != "i") return {};
  return measure->number + "KMGTP"[scale] + (decimal ? "B" : "iB");
}

std::string MeantDuration(std::string_view text) {
  if (std::count(text.begin(), text.end(), ':') == 2) {  // a clock: hours, minutes, seconds
    std::string meant;
    constexpr std::string_view kUnits = "hms";
    for (const char unit : kUnits) {
      const std::size_t colon = std::min(text.find(':'), text.size());
      const std::string_view part = text.substr(0, colon);
      const auto number = NumberOf(part);
      if (!number) return {};
      if (*number > 0) meant += Shown(*number) + unit;
      text.remove_prefix(std::min(colon + 1, text.size()));
    }
    return meant;
  }
  const auto measure = MeasureOf(text);
  if (!measure) return {};
  struct Unit {
    std::string_view word;
    std::string_view unit;
  };
  constexpr std::array kUnits = {Unit{"sec", "s"},   Unit{"second", "s"}, Unit{"min", "m"}, Unit{"minute", "m"},
                                 Unit{"hr", "h"},    Unit{"hour", "h"},   Unit{"day", "d"}, Unit{"millisecond", "ms"},
                                 Unit{"msec", "ms"}, Unit{"s", "s"},      Unit{"m", "m"},   Unit{"h", "h"},
                                 Unit{"d", "d"}};
  std::string word = measure->unit;
  if (word.size() > 1 && word.ends_with('s')) word.pop_back();
  for (const Unit& each : kUnits) {
    if (word == each.word) return measure->number + std::string(each.unit);
  }
  return {};
}

// The text to write instead; empty if none is known.
std::string MeantValue(ParameterType type, std::string_view text) {
  const std::string_view bare = Bare(text);
  if (bare.empty()) return {};
  std::string meant;
  if (type == ParameterType::kInt || type == ParameterType::kFloat) {
    meant = MeantNumber(bare, type == ParameterType::kInt);
  } else if (type == ParameterType::kBool) {
    meant = MeantBool(bare);
  } else if (type == ParameterType::kBytes) {
    meant = MeantBytes(bare);
  } else if (type == ParameterType::kDuration) {
    meant = MeantDuration(bare);
    if (!ParseDuration(meant)) meant.clear();
  }
  return meant == text ? std::string() : meant;
}

constexpr std::array<std::string_view, 11> kTypeNames = {"int",  "float", "bool",  "string",   "enum",  "path",
                                                         "list", "map",   "bytes", "duration", "secret"};
constexpr std::array<std::string_view, 7> kOriginTexts = {"default",    "extension",    "environment", "profile",
                                                          "MUSTER_SET", "command line", "sweep point"};

bool IsNumeric(ParameterType type) {
  return type == ParameterType::kInt || type == ParameterType::kFloat || type == ParameterType::kBytes ||
         type == ParameterType::kDuration;
}

// "30GiB", "3.5GB", "1000B": bytes in the units of the command line.
std::string BytesText(double bytes) {
  if (bytes == 0) return "0";
  static constexpr std::array<std::string_view, 6> kBinary = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  double binary = bytes;
  for (; unit + 1 < kBinary.size() && std::fmod(binary, 1024) == 0; ++unit) binary /= 1024;
  return NumberText(binary) + std::string(kBinary[unit]);
}

std::string SecondsText(double seconds) {
  for (const auto& [unit, size] : {std::pair("d", 86400.0), std::pair("h", 3600.0), std::pair("m", 60.0)}) {
    if (seconds != 0 && std::fmod(seconds, size) == 0) return NumberText(seconds / size) + unit;
  }
  return NumberText(seconds) + "s";
}

std::string LimitText(const Parameter& parameter, double limit) {
  if (parameter.type == ParameterType::kBytes) return BytesText(limit);
  if (parameter.type == ParameterType::kDuration) return SecondsText(limit);
  const bool whole = limit == std::floor(limit) && std::abs(limit) < 1e15;
  return whole ? std::to_string(static_cast<std::int64_t>(limit)) : NumberText(limit);
}

// Describes a value of the type, after "must be".
std::string_view TypePhrase(ParameterType type) {
  static constexpr std::array<std::string_view, 11> kPhrases = {"an int",
                                                                "a float",
                                                                "true or false",
                                                                "a string",
                                                                "one of its words",
                                                                "a path",
                                                                "a list",
                                                                "a map",
                                                                "a size such as \"30GiB\" or \"3.5GB\"",
                                                                "a duration such as \"90s\", \"12h\" or \"1d12h\"",
                                                                "a secret"};
  return kPhrases[static_cast<std::size_t>(type)];
}

// Converts shorthand for a list or a map to JSON: "1,2" is [1,2], "a:1,b:x" is {"a":1,"b":"x"}. Empty for any other
// text.
std::string AsJson(ParameterType type, std::string_view text) {
  if (text.empty() || text.find_first_of("[]{}\"'") != std::string_view::npos) return {};
  const auto one = [](std::string_view part) {
    const bool plain = ValueFromJsonText(part).has_value() && part.find('"') == std::string_view::npos;
    return plain ? std::string(part) : Quoted(part);
  };
  std::string json;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    const std::size_t colon = part.find_first_of(":=");
    if (part.empty() || (type == ParameterType::kMap && colon == std::string_view::npos)) return {};
    if (!json.empty()) json += ',';
    json +=
        type == ParameterType::kList ? one(part) : Quoted(part.substr(0, colon)) + ":" + one(part.substr(colon + 1));
    if (comma == text.size()) break;
    text.remove_prefix(comma + 1);
  }
  return type == ParameterType::kList ? "[" + json + "]" : "{" + json + "}";
}

// The syntax of a list or a map on the command line.
std::string JsonHint(const Parameter& parameter, const Value& value) {
  const std::string text = value.AsString() != nullptr ? *value.AsString() : ToText(value);
  std::string json = AsJson(parameter.type, text);
  const bool as_given = !json.empty();
  if (!as_given) json = parameter.type == ParameterType::kList ? "[1,2,3]" : "{\"a\":1}";
  return (as_given ? "write " : "for example ") + ShellQuoted(parameter.name + ":=" + json);
}

// Repeats as little of the message as possible: limits, the nearest word, the parameter's documentation.
std::string ValueHint(const Parameter& parameter, const Value& value) {
  std::string hint;
  if (const std::string* text = value.AsString()) {
    const std::string meant = MeantValue(parameter.type, *text);
    if (!meant.empty()) hint = "write " + meant;
    if (text->empty() && parameter.one_of.empty()) hint = "a value stands behind the '='";
  }
  if (hint.empty() && parameter.type == ParameterType::kDuration) {
    const std::string text = value.AsString() != nullptr ? *value.AsString() : ToText(value);
    if (!ParseDuration(text)) hint = DurationHint(text, "");
  }
  if (!hint.empty()) {
    // what to write is known
  } else if (!parameter.one_of.empty()) {
    std::vector<std::string> words;
    for (const Value& choice : parameter.one_of)
      words.push_back(choice.AsString() != nullptr ? *choice.AsString() : ToText(choice));
    const auto nearest = Nearest(value.AsString() != nullptr ? *value.AsString() : ToText(value), words);
    if (nearest) hint = "did you mean \"" + *nearest + "\"?";
  } else if (parameter.min || parameter.max || parameter.above || parameter.below) {
    hint = parameter.name + " is " + ParameterRangeText(parameter);
  } else if ((parameter.type == ParameterType::kList && value.AsList() == nullptr) ||
             (parameter.type == ParameterType::kMap && value.AsMap() == nullptr)) {
    hint = JsonHint(parameter, value);
  }
  if (parameter.doc.empty()) return hint;
  return (hint.empty() ? parameter.name : hint) + ": " + parameter.doc;
}

Diagnostics BadValue(const Parameter& parameter, const Place& place, const Value& value, const std::string& what,
                     std::string_view origin) {
  std::string message = "parameter " + parameter.name + " " + what;
  if (!origin.empty()) message += " (from the " + std::string(origin) + ")";
  Diagnostic diagnostic = Error("parameter_value", place, std::move(message), ValueHint(parameter, value));
  if (place != parameter.place) diagnostic.notes.push_back({"declared here", parameter.place});
  return {diagnostic};
}

constexpr double kLimit = 9007199254740992.0;  // 2^53: beyond it a double does not hold every integer

// "+5" is 5 (from_chars accepts no plus), "+-5" is invalid.
std::string_view WithoutPlus(std::string_view text) {
  return text.size() > 1 && text[0] == '+' && text[1] != '-' ? text.substr(1) : text;
}

std::optional<std::int64_t> WholeNumber(double number) {
  if (number != std::floor(number) || std::abs(number) > kLimit) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

// Why a value, from any source, cannot be passed to a recipe unchanged; empty: it can.
std::string WhyUnfit(const Value& value, int depth = 0) {
  constexpr int kMaxDepth = 32;
  if (depth > kMaxDepth) return "is nested deeper than 32 levels";
  if (const std::string* text = value.AsString()) {
    if (!IsUtf8(*text) || text->find('\0') != std::string::npos) return "is not valid UTF-8, or holds a NUL byte";
  }
  if (const std::int64_t* integer = value.AsInt()) {
    constexpr std::int64_t kExact = std::int64_t{1} << 53;
    if (*integer > kExact || *integer < -kExact)
      return "= " + ToText(value) + " is beyond 2^53, where Lua's numbers have gaps";
  }
  if (const Value::List* list = value.AsList()) {
    for (const Value& element : *list) {
      if (std::string why = WhyUnfit(element, depth + 1); !why.empty()) return why;
    }
  }
  if (const Value::Map* map = value.AsMap()) {
    for (const auto& [key, mapped] : *map) {
      if (std::string why = WhyUnfit(Value(key), depth + 1); !why.empty()) return why;
      if (std::string why = WhyUnfit(mapped, depth + 1); !why.empty()) return why;
    }
  }
  return {};
}

// Whether the value is a duration as a number: it may have been meant in any unit. 0 is the same in all.
bool WithoutUnit(const Parameter& parameter, const Value& value) {
  return parameter.type == ParameterType::kDuration && value.IsNumber() && value.Number() != 0;
}

// The value in the type's normal form, or nothing if it has another type. Defined below.
std::optional<Value> Settled(const Parameter& parameter, const Value& value);

}  // namespace

std::string_view ParameterTypeName(ParameterType type) { return kTypeNames[static_cast<std::size_t>(type)]; }

std::optional<ParameterType> ParameterTypeOf(std::string_view name) {
  const auto* found = std::find(kTypeNames.begin(), kTypeNames.end(), name);
  if (found == kTypeNames.end()) return std::nullopt;
  return static_cast<ParameterType>(found - kTypeNames.begin());
}

std::string_view ParameterOriginText(ParameterOrigin origin) { return kOriginTexts[static_cast<std::size_t>(origin)]; }

Result<Parameter> ParameterFromValue(const std::string& name, const Value& declaration, const Place& place) {
  static const std::vector<std::string> kKeys = {"default", "min", "max", "above",   "below",
                                                 "one_of",  "doc", "was", "from_env"};
  Parameter parameter;
  parameter.name = name;
  parameter.place = place;
  const auto bad = [&](const std::string& message, std::string hint = {}) {
    return Fail(Error("parameter", place, "parameter " + name + ": " + message, std::move(hint)));
  };
  const Value::Map* fields = declaration.AsMap();
  if (fields == nullptr) return bad("expected a declaration such as muster.int { 4, min = 1 }");
  for (const auto& [key, field] : *fields) {
    if (key == "1" || key == "default") continue;  // checked below, like every value
    if (std::string why = WhyUnfit(Value(key)); !why.empty()) return bad("a key " + why);
    if (std::string why = WhyUnfit(field); !why.empty()) return bad(key + " " + why);
  }

  Value default_value;
  bool has_default = false;
  for (const auto& [key, field] : *fields) {
    if (key == "type") {
      const auto type = field.AsString() != nullptr ? ParameterTypeOf(*field.AsString()) : std::nullopt;
      if (!type) return bad("unknown type " + ToText(field));
      parameter.type = *type;
    } else if (key == "1" || key == "default") {
      if (has_default) return bad("has two defaults");
      default_value = field;
      has_default = true;
    } else if (key == "min" || key == "max" || key == "above" || key == "below") {
      continue;  // below: needs the type
    } else if (key == "one_of") {
      if (field.AsList() == nullptr || field.AsList()->empty()) return bad("one_of must be a list of values");
      parameter.one_of = *field.AsList();
    } else if (key == "doc" || key == "was" || key == "from_env") {
      if (field.AsString() == nullptr) return bad(key + " must be a string, got " + ToText(field));
      std::string& member = key == "doc" ? parameter.doc : key == "was" ? parameter.was : parameter.from_env;
      member = *field.AsString();
    } else {
      const bool position = key.find_first_not_of("0123456789") == std::string::npos;
      if (position) {
        return bad(
            "its declaration has several values without a name",
            "the first is the default; a list as default: { { 1, 2 } }; a choice: one_of = { … }; the digits of a "
            "number stand side by side: 1000");
      }
      return bad("unknown option \"" + key + "\"", DidYouMean(key, kKeys));
    }
  }
  const std::array<std::pair<const char*, std::optional<double>*>, 4> limits = {
      {{"min", &parameter.min}, {"max", &parameter.max}, {"above", &parameter.above}, {"below", &parameter.below}}};
  for (const auto& [key, member] : limits) {
    const auto field = fields->find(key);
    if (field == fields->end()) continue;
    if (!IsNumeric(parameter.type)) {
      return bad(std::string(key) + " needs a number type, not " + std::string(ParameterTypeName(parameter.type)));
    }
    Value limit = field->second;
    if (const std::string* text = limit.AsString()) {
      const auto bytes = parameter.type == ParameterType::kBytes ? ParseBytes(*text) : std::nullopt;
      const auto seconds = parameter.type == ParameterType::kDuration ? ParseDuration(*text) : std::nullopt;
      if (bytes) limit = Value(*bytes);
      if (seconds) limit = Value(*seconds);
    }
    if (WithoutUnit(parameter, field->second)) {
      return bad(std::string(key) + " has no unit: " + ToText(field->second), DurationHint(ToText(field->second), ""));
    }
    if (!limit.IsNumber()) return bad(std::string(key) + " must be a number, got " + ToText(field->second));
    *member = limit.Number();
  }
  // Choices are compared with normalised values: "1GiB" with 1073741824, 1 with 1.0.
  for (Value& choice : parameter.one_of) {
    const auto settled = WithoutUnit(parameter, choice) ? std::nullopt : Settled(parameter, choice);
    if (!settled) {
      return bad("one_of has " + ToText(choice) + ", which is no " + std::string(ParameterTypeName(parameter.type)));
    }
    choice = *settled;
  }
  const auto lowest = parameter.min ? parameter.min : parameter.above;
  const auto highest = parameter.max ? parameter.max : parameter.below;
  if (lowest && highest && (*lowest > *highest || (*lowest == *highest && (parameter.above || parameter.below)))) {
    return bad("no value is allowed: " + ParameterRangeText(parameter));
  }
  if (parameter.type == ParameterType::kEnum && parameter.one_of.empty()) return bad("an enum needs one_of = { … }");
  if (parameter.type == ParameterType::kSecret && has_default) {
    return bad("a secret has no default", "name the variable that holds it: muster.secret { from_env = \"NAME\" }");
  }
  if (has_default) {
    auto checked = CheckWrittenParameter(parameter, default_value, place, "default");
    if (!checked) return tl::unexpected(checked.error());
    parameter.default_value = *checked;
  }
  return parameter;
}

Result<Value> ReadParameterText(const Parameter& parameter, std::string_view text, std::string_view origin) {
  const auto bad = [&](const std::string& what) {
    return tl::unexpected(BadValue(parameter, {}, Value(text), what, origin));
  };
  constexpr std::size_t kMaxShown = 1'000;
  const std::string got = text.size() <= kMaxShown ? Quoted(text) : Quoted(Utf8Prefix(text, kMaxShown)) + "…";
  switch (parameter.type) {
    case ParameterType::kInt: {
      std::int64_t integer = 0;
      const std::string_view digits = WithoutPlus(text);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), integer);
      if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) {
        return bad("must be an int, got " + got);
      }
      return Value(integer);
    }
    case ParameterType::kFloat: {
      double number = 0;
      const std::string_view digits = WithoutPlus(text);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (error != std::errc() || end != digits.data() + digits.size() || digits.empty() || !std::isfinite(number)) {
        return bad("must be a float, got " + got);
      }
      return Value(number);
    }
    case ParameterType::kBool:
      if (text == "true") return Value(true);
      if (text == "false") return Value(false);
      return bad("must be true or false, got " + got);
    case ParameterType::kEnum:
      for (const Value& choice : parameter.one_of) {
        const std::string* word = choice.AsString();
        if (word != nullptr ? *word == text : ToText(choice) == text) return choice;
      }
      return bad("must be " + ParameterRangeText(parameter) + ", got " + got);
    case ParameterType::kList:
    case ParameterType::kMap: {
      auto value = ValueFromJsonText(text, kMaxParameterBytes);
      if (!value) {
        return bad("must be " + std::string(TypePhrase(parameter.type)) + " in JSON, got " + got + ": " +
                   value.error());
      }
      return *value;
    }
    case ParameterType::kSecret:
      return tl::unexpected(
          Diagnostics{Error("secret_literal", {}, "the secret " + parameter.name + " was given as text",
                            "a command line is readable by everybody on this machine: use " + parameter.name +
                                "@=FILE" + (parameter.from_env.empty() ? "" : " or set " + parameter.from_env))});
    case ParameterType::kString:
    case ParameterType::kPath:
    case ParameterType::kBytes:
    case ParameterType::kDuration:
      return Value(text);
  }
  return Value(text);
}

namespace {

std::optional<Value> Settled(const Parameter& parameter, const Value& value) {
  switch (parameter.type) {
    case ParameterType::kInt:
      if (value.AsInt() != nullptr) return value;
      if (const double* number = value.AsDouble()) {
        if (const auto whole = WholeNumber(*number)) return Value(*whole);
      }
      return std::nullopt;
    case ParameterType::kFloat:
      if (!value.IsNumber() || !std::isfinite(value.Number())) return std::nullopt;
      return Value(value.Number());
    case ParameterType::kBool:
      return value.AsBool() != nullptr ? std::optional(value) : std::nullopt;
    case ParameterType::kString:
    case ParameterType::kPath:
      return value.AsString() != nullptr ? std::optional(value) : std::nullopt;
    case ParameterType::kEnum:
      return value;
    case ParameterType::kList:
      if (value.AsMap() != nullptr && value.AsMap()->empty()) return Value(Value::List{});
      return value.AsList() != nullptr ? std::optional(value) : std::nullopt;
    case ParameterType::kMap:
      if (value.AsList() != nullptr && value.AsList()->empty()) return Value(Value::Map{});
      return value.AsMap() != nullptr ? std::optional(value) : std::nullopt;
    case ParameterType::kBytes:
      if (const std::string* text = value.AsString()) {
        const auto bytes = ParseBytes(*text);
        return bytes ? std::optional(Value(*bytes)) : std::nullopt;
      }
      if (!value.IsNumber()) return std::nullopt;
      if (const auto whole = WholeNumber(value.Number()); whole && *whole >= 0) return Value(*whole);
      return std::nullopt;
    case ParameterType::kDuration:
      if (const std::string* text = value.AsString()) {
        const auto seconds = ParseDuration(*text);
        return seconds ? std::optional(Value(*seconds)) : std::nullopt;
      }
      if (!value.IsNumber() || !std::isfinite(value.Number()) || value.Number() < 0) return std::nullopt;
      return Value(value.Number());
    case ParameterType::kSecret:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Result<Value> CheckParameter(const Parameter& parameter, const Value& value, const Place& place,
                             std::string_view origin) {
  const auto bad = [&](const std::string& what) {
    return tl::unexpected(BadValue(parameter, place, value, what, origin == "default" ? std::string_view() : origin));
  };
  if (std::string why = WhyUnfit(value); !why.empty()) return bad(why);
  const auto settled = Settled(parameter, value);
  if (!settled) {
    return bad("must be " + std::string(TypePhrase(parameter.type)) + ", got " +
               (value.IsNull() ? "" : std::string(value.TypeName()) + " ") + ToText(value));
  }
  if (std::string why = WhyUnfit(*settled); !why.empty()) return bad(why);
  if (!parameter.one_of.empty() &&
      std::find(parameter.one_of.begin(), parameter.one_of.end(), *settled) == parameter.one_of.end()) {
    return bad("must be " + ParameterRangeText(parameter) + ", got " + ToText(value));
  }
  if (settled->IsNumber()) {
    const double number = settled->Number();
    const bool allowed = !(parameter.min && number < *parameter.min) && !(parameter.max && number > *parameter.max) &&
                         !(parameter.above && number <= *parameter.above) &&
                         !(parameter.below && number >= *parameter.below);
    if (!allowed) return bad("= " + ToText(value) + " is out of range");
  }
  return *settled;
}

Result<Value> CheckWrittenParameter(const Parameter& parameter, const Value& value, const Place& place,
                                    std::string_view origin) {
  if (!WithoutUnit(parameter, value)) return CheckParameter(parameter, value, place, origin);
  return tl::unexpected(BadValue(
      parameter, place, value,
      "must be " + std::string(TypePhrase(parameter.type)) + ", got the number " + ToText(value) + " without a unit",
      origin == "default" ? std::string_view() : origin));
}

std::string ParameterRangeText(const Parameter& parameter) {
  if (!parameter.one_of.empty()) {
    std::string text = "one of ";
    for (std::size_t i = 0; i < parameter.one_of.size(); ++i) {
      if (i > 0) text += ", ";
      text += ToText(parameter.one_of[i]);
    }
    return text;
  }
  std::string text(ParameterTypeName(parameter.type));
  if (parameter.min) text += " >= " + LimitText(parameter, *parameter.min);
  if (parameter.above) text += " > " + LimitText(parameter, *parameter.above);
  if (parameter.max)
    text += std::string(parameter.min || parameter.above ? "," : "") + " <= " + LimitText(parameter, *parameter.max);
  if (parameter.below)
    text += std::string(parameter.min || parameter.above ? "," : "") + " < " + LimitText(parameter, *parameter.below);
  return text;
}

std::string FormerName(const Parameter& parameter) {
  if (parameter.was.empty()) return "";
  const std::size_t dot = parameter.name.rfind('.');
  return (dot == std::string::npos ? "" : parameter.name.substr(0, dot + 1)) + parameter.was;
}

namespace {

constexpr double kMaxExact = 9007199254740992.0;  // largest number up to which doubles, Lua's numbers, are exact

std::vector<Value> IntNudges(const Parameter& parameter, std::int64_t value) {
  std::vector<Value> values;
  const auto add = [&](double number) {
    if (std::abs(number) <= kMaxExact && number == std::floor(number)) {
      values.emplace_back(static_cast<std::int64_t>(number));
    }
  };
  const auto number = static_cast<double>(value);
  // Layouts depend on divisors, so doubles and halves come first.
  for (const double other : {number * 2, number / 2, number + 1, number - 1, number * 4, number / 4, number * 3,
                             number / 3, number + 2, number - 2, 1.0, 2.0}) {
    add(other);
  }
  for (const auto& limit : {parameter.min, parameter.max}) {
    if (limit) add(*limit);
  }
  return values;
}

std::vector<Value> FloatNudges(const Parameter& parameter, double value) {
  std::vector<Value> values;
  for (const double other : {value * 2, value / 2, value + 1, value - 1, value * 1.001, 0.0, 1.0}) {
    if (std::isfinite(other)) values.emplace_back(other);
  }
  for (const auto& limit : {parameter.min, parameter.max}) {
    if (!limit) continue;
    values.emplace_back(*limit);
    values.emplace_back((*limit + value) / 2);
  }
  for (const auto& limit : {parameter.above, parameter.below}) {
    if (limit) values.emplace_back((*limit + value) / 2);
  }
  return values;
}

Value::List ListNudges(const Value::List& value) {
  Value::List nudges;
  if (!value.empty()) {
    Value::List longer = value;
    longer.push_back(value.back());
    Value::List shorter = value;
    shorter.pop_back();
    Value::List turned(value.rbegin(), value.rend());
    nudges.insert(nudges.end(), {Value(std::move(longer)), Value(std::move(shorter)), Value(std::move(turned))});
  } else {
    nudges.insert(nudges.end(), {Value(Value::List{Value(1)}), Value(Value::List{Value("nudged")})});
  }
  return nudges;
}

Value::List MapNudges(const Value::Map& value) {
  Value::List nudges;
  Value::Map more = value;
  more["nudged"] = value.empty() ? Value(1) : value.begin()->second;
  nudges.emplace_back(std::move(more));
  if (!value.empty()) {
    Value::Map less = value;
    less.erase(std::prev(less.end()));
    nudges.emplace_back(std::move(less));
  }
  return nudges;
}

std::vector<Value> Candidates(const Parameter& parameter, const Value& value) {
  if (!parameter.one_of.empty()) return parameter.one_of;
  switch (parameter.type) {
    case ParameterType::kInt:
    case ParameterType::kBytes:
      if (value.AsInt() != nullptr) return IntNudges(parameter, *value.AsInt());
      return {};
    case ParameterType::kFloat:
    case ParameterType::kDuration:
      if (value.IsNumber()) return FloatNudges(parameter, value.Number());
      return {};
    case ParameterType::kBool:
      return {Value(true), Value(false)};
    case ParameterType::kString:
    case ParameterType::kPath:
      if (value.AsString() != nullptr) return {Value(*value.AsString() + "2"), Value("nudged"), Value("")};
      return {};
    case ParameterType::kList:
      if (value.AsList() != nullptr) return ListNudges(*value.AsList());
      return {};
    case ParameterType::kMap:
      if (value.AsMap() != nullptr) return MapNudges(*value.AsMap());
      return {};
    case ParameterType::kEnum:
    case ParameterType::kSecret:
      return {};
  }
  return {};
}

bool Allows(const Parameter& parameter, const Value& value) {
  return CheckParameter(parameter, value, {}, "").has_value();
}

}  // namespace

std::vector<Value> Nudges(const Parameter& parameter, const Value& value) {
  std::vector<Value> nudges;
  for (Value& candidate : Candidates(parameter, value)) {
    // Normalised by the parameter's type: 2.0 and 2 are one value.
    auto settled = CheckParameter(parameter, candidate, {}, "");
    if (!settled || *settled == value || std::find(nudges.begin(), nudges.end(), *settled) != nudges.end()) continue;
    nudges.push_back(*std::move(settled));
  }
  return nudges;
}

WholeNumbers PossibleNumbers(const Parameter& parameter, std::int64_t value, std::span<const std::int64_t> related) {
  constexpr std::int64_t kMax = 128;
  constexpr std::int64_t kSmall = 32;
  const auto bound = [](const std::optional<double>& limit, double otherwise) {
    return static_cast<std::int64_t>(std::clamp(limit.value_or(otherwise), -kMaxExact, kMaxExact));
  };
  std::int64_t least = parameter.min ? bound(parameter.min, 0) : value < 1 ? value : 1;
  if (parameter.above) least = std::max(least, bound(parameter.above, 0) + 1);
  std::int64_t most = bound(parameter.max, kMaxExact);
  if (parameter.below) most = std::min(most, bound(parameter.below, 0) - 1);

  WholeNumbers possible;
  std::set<std::int64_t> numbers;
  const auto add = [&](std::int64_t number) {
    if (number >= least && number <= most && Allows(parameter, Value(number))) numbers.insert(number);
  };
  const auto range = [](std::int64_t from, std::int64_t to) {
    return from == to ? std::to_string(from) : std::to_string(from) + "-" + std::to_string(to);
  };
  if (!parameter.one_of.empty()) {
    for (const Value& one : parameter.one_of) {
      if (one.AsInt() != nullptr) add(*one.AsInt());
    }
    possible.numbers.assign(numbers.begin(), numbers.end());
    possible.description = "those it may be";
    return possible;
  }
  constexpr std::int64_t kAtLeast = 64;  // consecutive numbers to try
  if (value - least < kMax / 2) {
    const std::int64_t wanted = std::max(least + kAtLeast - 1, 2 * value);
    const std::int64_t last = std::min({most, wanted, least + kMax - 1});
    for (std::int64_t number = least; number <= last; ++number) add(number);
    possible.description = range(least, last);
  } else {
    add(value);
    for (const std::int64_t near : {value - 1, value + 1, value * 2, value / 2}) add(near);
    // Few of each kind, so that all kinds fit.
    const auto room = [&] { return static_cast<std::int64_t>(numbers.size()) < kMax; };
    for (std::int64_t power = 1; power <= 1 << 20 && room(); power *= 2) add(power);
    for (std::int64_t small = least; small < least + kSmall && room(); ++small) add(small);
    constexpr std::int64_t kMaxDivided = 1'000'000;
    for (std::int64_t number : related) {
      number = std::abs(number);
      for (std::int64_t divisor = 1; divisor <= number / divisor && divisor <= kMaxDivided && room(); ++divisor) {
        if (number % divisor != 0) continue;
        add(divisor);
        add(number / divisor);
      }
      for (std::int64_t times = 1; times <= 4 && room() && number <= kMaxDivided; ++times) add(number * times);
    }
    possible.description = std::to_string(numbers.size()) + " numbers, divisors and powers of 2 among them,";
  }
  possible.numbers.assign(numbers.begin(), numbers.end());
  return possible;
}

}  // namespace muster
