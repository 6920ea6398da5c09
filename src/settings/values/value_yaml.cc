#include "settings/values/value_yaml.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include <yaml.h>

#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"

namespace muster {
namespace {

template <std::size_t N>
bool OneOf(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 5> kNulls = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 3> kTrue = {"true", "True", "TRUE"};
constexpr std::array<std::string_view, 3> kFalse = {"false", "False", "FALSE"};
constexpr std::array<std::string_view, 6> kOldTrue = {"yes", "Yes", "YES", "on", "On", "ON"};
constexpr std::array<std::string_view, 6> kOldFalse = {"no", "No", "NO", "off", "Off", "OFF"};

std::string_view WithoutSign(std::string_view text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  return text;
}

template <class IsOne>
bool All(std::string_view text, IsOne is_one) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_one);
}

bool IsDecimal(std::string_view plain) { return All(WithoutSign(plain), IsDigit); }

// [-+]? ( \.[0-9]+ | [0-9]+ ( \.[0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool IsFloat(std::string_view plain) {
  std::string_view rest = WithoutSign(plain);
  const auto digits = [&rest] {
    const auto* const end = std::find_if_not(rest.begin(), rest.end(), IsDigit);
    const auto count = static_cast<std::size_t>(end - rest.begin());
    rest.remove_prefix(count);
    return count;
  };
  std::size_t mantissa = digits();
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    mantissa += digits();
  }
  if (mantissa == 0) return false;
  if (!rest.empty() && (rest[0] == 'e' || rest[0] == 'E')) {
    rest = WithoutSign(rest.substr(1));
    if (digits() == 0) return false;
  }
  return rest.empty();
}

constexpr std::array<std::string_view, 3> kInfinity = {".inf", ".Inf", ".INF"};
constexpr std::array<std::string_view, 3> kNan = {".nan", ".NaN", ".NAN"};

tl::expected<Value, std::string> Integer(std::string_view digits, int base, bool negative, std::string_view plain) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (error != std::errc() || number > kExact) {
    return tl::unexpected(std::string(plain) +
                          " is beyond 2^53, where numbers have gaps; quote it to have it as a text");
  }
  return Value(negative ? -number : number);
}

// --- the types of YAML 1.1, as PyYAML's resolver has them --------------------------------------------------------

bool IsDigitOr_(char c) { return IsDigit(c) || c == '_'; }

// The number without '_'; empty if it has no digit.
std::string Digits(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  return digits;
}

// "30:45" behind the ':' of 1:30:45: parts of one or two digits below 60. Adds them to `total`.
bool Sexagesimal(std::string_view text, std::uint64_t& total) {
  constexpr std::size_t kMaxParts = 4;
  for (std::size_t parts = 1; parts <= kMaxParts; ++parts) {
    const std::string_view part = text.substr(0, text.find(':'));
    if (!All(part, IsDigit) || part.size() > 2 || (part.size() == 2 && part[0] > '5')) return false;
    std::uint64_t number = 0;
    std::from_chars(part.data(), part.data() + part.size(), number);
    total = total * 60 + number;
    if (part.size() == text.size()) return true;
    text.remove_prefix(part.size() + 1);
  }
  return false;
}

// The value of an int of YAML 1.1, as a text: 010, 1_000, 0b11, -0x1F, 1:30. "a number" if it is too long to be
// computed.
std::optional<std::string> OldInt(std::string_view plain) {
  const std::string sign = plain.starts_with('-') ? "-" : "";
  const std::string_view rest = WithoutSign(plain);
  const auto of_base = [&](std::string_view text, int base) -> std::optional<std::string> {
    const std::string digits = Digits(text);
    if (digits.empty()) return std::nullopt;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    if (error != std::errc()) return "a number";
    return (number == 0 ? "" : sign) + std::to_string(number);
  };
  const auto in = [](std::string_view set) { return [set](char c) { return set.find(c) != std::string_view::npos; }; };
  if (rest.empty() || !IsDigit(rest[0])) return std::nullopt;
  if (rest.starts_with("0b")) return All(rest.substr(2), in("01_")) ? of_base(rest.substr(2), 2) : std::nullopt;
  if (rest.starts_with("0x")) {
    return All(rest.substr(2), in("0123456789abcdefABCDEF_")) ? of_base(rest.substr(2), 16) : std::nullopt;
  }
  if (rest[0] == '0') return All(rest, in("01234567_")) ? of_base(rest, 8) : std::nullopt;
  const std::string_view first = rest.substr(0, rest.find(':'));
  if (!All(first, IsDigitOr_)) return std::nullopt;
  if (first.size() == rest.size()) return of_base(rest, 10);
  std::uint64_t total = 0;
  const std::string digits = Digits(first);
  constexpr std::size_t kMaxDigits = 9;
  if (digits.size() > kMaxDigits) return "a number";
  std::from_chars(digits.data(), digits.data() + digits.size(), total);
  if (!Sexagesimal(rest.substr(first.size() + 1), total)) return std::nullopt;
  return sign + std::to_string(total);
}

// The same for a float: with a '.', and an exponent that has a sign: 1.0e+5, 1_0.5, 1:30.5. Its text has no '_'.
std::optional<std::string> OldFloat(std::string_view plain) {
  std::string_view rest = WithoutSign(plain);
  const bool has_sign = rest.size() != plain.size();
  const std::string sign = plain.starts_with('-') ? "-" : "";
  if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    const std::size_t point = rest.find('.');
    if (point == std::string_view::npos || point < colon) return std::nullopt;
    std::uint64_t total = 0;
    const std::string first = Digits(rest.substr(0, colon));
    constexpr std::size_t kMaxDigits = 9;
    if (!IsDigit(rest[0]) || !All(rest.substr(0, colon), IsDigitOr_) || first.size() > kMaxDigits) return std::nullopt;
    std::from_chars(first.data(), first.data() + first.size(), total);
    const std::string_view fraction = rest.substr(point + 1);
    if (!fraction.empty() && !All(fraction, IsDigitOr_)) return std::nullopt;
    if (!Sexagesimal(rest.substr(colon + 1, point - colon - 1), total)) return std::nullopt;
    return sign + std::to_string(total) + "." + (fraction.empty() ? "0" : Digits(fraction));
  }
  if (const std::size_t exponent = rest.find_first_of("eE"); exponent != std::string_view::npos) {
    const std::string_view power = rest.substr(exponent + 1);
    if (power.empty() || IsDigit(power[0]) || !IsDecimal(power)) return std::nullopt;
    rest = rest.substr(0, exponent);
  }
  const std::size_t point = rest.find('.');
  if (point == std::string_view::npos) return std::nullopt;
  const std::string_view whole = rest.substr(0, point);
  const std::string_view fraction = rest.substr(point + 1);
  if (whole.empty() ? has_sign || fraction.empty() || !IsDigit(fraction[0]) : !IsDigit(whole[0])) return std::nullopt;
  if (!std::all_of(whole.begin(), whole.end(), IsDigitOr_)) return std::nullopt;
  if (!std::all_of(fraction.begin(), fraction.end(), IsDigitOr_)) return std::nullopt;
  return Digits(plain);
}

// 2024-01-31, or 2024-1-31 and a time of day.
bool IsOldDate(std::string_view plain) {
  const auto digits = [&plain](std::size_t least, std::size_t most) {
    std::size_t count = 0;
    while (count < most && count < plain.size() && IsDigit(plain[count])) ++count;
    plain.remove_prefix(count);
    return count >= least;
  };
  const auto take = [&plain](std::string_view any) {
    if (plain.empty() || any.find(plain[0]) == std::string_view::npos) return false;
    plain.remove_prefix(1);
    return true;
  };
  const auto skip_blanks = [&] {
    while (take(" \t")) {
    }
  };
  const std::string_view all = plain;
  if (!digits(4, 4) || !take("-") || !digits(1, 2) || !take("-") || !digits(1, 2)) return false;
  if (plain.empty()) return all.size() == std::string_view("2024-01-31").size();
  if (!take("Tt")) {
    if (!take(" \t")) return false;
    skip_blanks();
  }
  if (!digits(1, 2) || !take(":") || !digits(2, 2) || !take(":") || !digits(2, 2)) return false;
  if (take(".")) digits(0, plain.size());
  if (plain.empty()) return true;
  skip_blanks();
  if (take("Z")) return plain.empty();
  if (!take("+-") || !digits(1, 2)) return false;
  return plain.empty() || (take(":") && digits(2, 2) && plain.empty());
}

double NumberOf(const std::string& text) {
  double number = std::nan("");
  const char* const begin = text.data() + (text.starts_with('+') ? 1 : 0);
  std::from_chars(begin, text.data() + text.size(), number);
  return number;
}

}  // namespace

tl::expected<Value, std::string> YamlScalarValue(std::string_view plain) {
  if (OneOf(plain, kNulls)) return Value();
  if (OneOf(plain, kTrue)) return Value(true);
  if (OneOf(plain, kFalse)) return Value(false);
  if (IsDecimal(plain)) return Integer(WithoutSign(plain), 10, plain.starts_with('-'), plain);
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  const auto is_hexadecimal = [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
  if (plain.starts_with("0o") && All(plain.substr(2), is_octal)) return Integer(plain.substr(2), 8, false, plain);
  if (plain.starts_with("0x") && All(plain.substr(2), is_hexadecimal)) {
    return Integer(plain.substr(2), 16, false, plain);
  }
  if (IsFloat(plain)) {
    double number = 0;
    const std::string_view digits = plain.starts_with('+') ? plain.substr(1) : plain;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || !std::isfinite(number)) return tl::unexpected(std::string(plain) + " fits no number");
    return Value(number);
  }
  if (OneOf(WithoutSign(plain), kInfinity) || OneOf(plain, kNan)) {
    return tl::unexpected(std::string(plain) + " is not a finite number");
  }
  return Value(plain);
}

std::optional<std::string> YamlOldMeaning(std::string_view plain, bool as_key) {
  if (OneOf(plain, kOldTrue)) return "true";
  if (OneOf(plain, kOldFalse)) return "false";
  if (plain == "=" && !as_key) return "a special value that PyYAML refuses";
  if (plain == "<<" && !as_key) return "a merge key, which PyYAML refuses as a value";
  if (IsOldDate(plain)) return "a date";
  const auto now = YamlScalarValue(plain);
  auto old = OldInt(plain);
  const bool is_int = old.has_value();
  if (!old) old = OldFloat(plain);
  if (now && now->IsNumber()) {
    if (!old) return "the text " + Quoted(plain);
    const bool same = (now->AsInt() != nullptr) == is_int && *old != "a number" && NumberOf(*old) == now->Number();
    return same ? std::nullopt : old;
  }
  return old;
}

bool IsPlainYamlText(std::string_view text) {
  // Much stricter than YAML: quote in case of doubt.
  const auto is_letter = [](char c) { return IsLetter(c) || c == '_'; };
  const auto is_inner = [&](char c) {
    return is_letter(c) || IsDigit(c) || c == '.' || c == '/' || c == '-' || c == '+' || c == ' ';
  };
  if (text.empty() || !(is_letter(text[0]) || text[0] == '/') || text.back() == ' ') return false;
  if (!std::all_of(text.begin(), text.end(), is_inner)) return false;
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  static constexpr std::array<std::string_view, 9> kWords = {"null", "true", "false", "yes", "no",
                                                             "on",   "off",  "y",     "n"};
  return !OneOf(lower, kWords);
}

std::string YamlNumberText(double number) {
  std::string text = NumberText(number);
  const std::size_t exponent = text.find('e');
  if (text.find('.') == std::string::npos) text.insert(std::min(exponent, text.size()), ".0");
  return text;
}

namespace {

constexpr int kMaxYamlDepth = 30;
constexpr std::size_t kMaxValues = 100'000;
constexpr std::size_t kMaxTraps = 100;
constexpr std::size_t kMaxText = std::size_t{16} << 20;

std::string_view TextOf(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text));
}

// One event of the parser, freed by the destructor.
class Event {
 public:
  explicit Event(yaml_parser_t& parser) : ok_(yaml_parser_parse(&parser, &event_) == 1) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    if (ok_) yaml_event_delete(&event_);
  }
  bool ok() const { return ok_; }
  yaml_event_type_t type() const { return event_.type; }
  const yaml_event_t& operator*() const { return event_; }
  std::uint32_t line() const { return static_cast<std::uint32_t>(event_.start_mark.line + 1); }
  std::string_view scalar() const {
    return {reinterpret_cast<const char*>(event_.data.scalar.value), event_.data.scalar.length};
  }

 private:
  yaml_event_t event_{};
  bool ok_;
};

// A value, and its size once its aliases are expanded.
struct Measured {
  Value value;
  std::size_t values = 1;
  std::size_t text = 0;
};

class YamlReader {
 public:
  explicit YamlReader(std::string_view text) : text_read_(text) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;
  ~YamlReader() { yaml_parser_delete(&parser_); }

  tl::expected<YamlText, YamlProblem> Read() {
    YamlText read;
    bool has_document = false;
    for (bool done = false; !done && !problem_;) {
      const Event event(parser_);
      if (!Sound(event)) break;
      switch (event.type()) {
        case YAML_STREAM_END_EVENT:
          done = true;
          break;
        case YAML_DOCUMENT_START_EVENT:
          if (std::exchange(has_document, true)) {
            Refuse(event.line(), "there is a second document");
            break;
          }
          if (auto root = Next(0)) read.value = std::move(root->value);
          break;
        default:
          break;
      }
    }
    if (problem_) return tl::unexpected(*std::move(problem_));
    NoteTabs();
    std::stable_sort(traps_.begin(), traps_.end(),
                     [](const YamlText::Trap& a, const YamlText::Trap& b) { return a.line < b.line; });
    read.traps = std::move(traps_);
    return read;
  }

 private:
  std::nullopt_t Refuse(std::uint32_t line, std::string message) {
    if (!problem_) problem_ = YamlProblem{std::move(message), line};
    return std::nullopt;
  }

  bool Sound(const Event& event) {
    if (event.ok()) return true;
    const std::string_view what = parser_.problem == nullptr ? "it is not valid YAML" : parser_.problem;
    const std::string_view context = parser_.context == nullptr ? "" : parser_.context;
    Refuse(static_cast<std::uint32_t>(parser_.problem_mark.line + 1),
           std::string(what) + (context.empty() ? "" : " " + std::string(context)));
    return false;
  }

  // The next value; nothing at the end of a collection (then `problem_` is not set), or after an error.
  std::optional<Measured> Next(int depth, bool as_key = false) {
    const Event event(parser_);
    if (!Sound(event)) return std::nullopt;
    const std::uint32_t line = event.line();
    std::optional<Measured> made;
    std::string_view anchor;
    switch (event.type()) {
      case YAML_SCALAR_EVENT:
        made = Scalar(event, as_key);
        anchor = TextOf((*event).data.scalar.anchor);
        break;
      case YAML_SEQUENCE_START_EVENT:
        if (!Tagged(TextOf((*event).data.sequence_start.tag), YAML_SEQ_TAG, line)) return std::nullopt;
        if (as_key) return Refuse(line, "a key is a text, not a list");
        if (depth >= kMaxYamlDepth) return Refuse(line, TooDeep());
        made = Sequence(depth);
        anchor = TextOf((*event).data.sequence_start.anchor);
        break;
      case YAML_MAPPING_START_EVENT:
        if (!Tagged(TextOf((*event).data.mapping_start.tag), YAML_MAP_TAG, line)) return std::nullopt;
        if (as_key) return Refuse(line, "a key is a text, not a map");
        if (depth >= kMaxYamlDepth) return Refuse(line, TooDeep());
        made = Mapping(depth);
        anchor = TextOf((*event).data.mapping_start.anchor);
        break;
      case YAML_ALIAS_EVENT: {
        const auto found = anchors_.find(TextOf((*event).data.alias.anchor));
        const std::string name = "*" + std::string(TextOf((*event).data.alias.anchor));
        if (found == anchors_.end()) return Refuse(line, name + " is used before it is complete, or is nowhere");
        if (as_key && found->second.value.AsString() == nullptr)
          return Refuse(line, "the key " + name + " is not text");
        made = found->second;
        break;
      }
      default:
        return std::nullopt;
    }
    if (!made || problem_) return std::nullopt;
    if (!Counted(*made, event.type() == YAML_ALIAS_EVENT, line)) return std::nullopt;
    // The value of an anchor is stored a second time; nested anchors each store everything inside.
    if (!anchor.empty() && !Counted(*made, true, line)) return std::nullopt;
    if (!anchor.empty()) anchors_.insert_or_assign(std::string(anchor), *made);
    return made;
  }

  static std::string TooDeep() { return "it is nested deeper than " + std::to_string(kMaxYamlDepth) + " levels"; }

  // Whether the total size is still within limits; the content of a collection was counted when it was read, unless
  // this is a copy.
  bool Counted(const Measured& made, bool copy, std::uint32_t line) {
    const bool scalar = made.value.AsList() == nullptr && made.value.AsMap() == nullptr;
    values_ += copy ? made.values : 1;
    if (copy || scalar) text_ += made.text;
    if (values_ <= kMaxValues && text_ <= kMaxText) return true;
    Refuse(line, values_ > kMaxValues
                     ? "it holds more than " + std::to_string(kMaxValues) + " values once its aliases are followed"
                     : "it holds more than 16 MiB of text once its aliases are followed");
    return false;
  }

  bool Tagged(std::string_view tag, std::string_view own, std::uint32_t line) {
    if (tag.empty() || tag == own || tag == "!") return true;
    Refuse(line, "the tag " + Quoted(tag) + " has no counterpart in a recipe");
    return false;
  }

  // libyaml takes a tab between two tokens for a blank; PyYAML's own scanner refuses it there. Only quoted texts, block
  // texts and comments can hold one. Marks count characters from 0.
  void NoteTabs() {
    std::uint32_t line = 0;
    std::size_t column = 0;
    bool comment = false, noted = false;
    char before = '\n';
    std::size_t next = 0;  // of `may_hold_tabs_`
    if (text_read_.find('\t') == std::string_view::npos) return;
    for (const char c : text_read_) {
      if ((static_cast<unsigned char>(c) & 0xC0U) == 0x80U) continue;  // within a character
      const auto is_before = [&](const yaml_mark_t& mark) {
        return line < mark.line || (line == mark.line && column < mark.column);
      };
      while (next < may_hold_tabs_.size() && !is_before(may_hold_tabs_[next].second)) ++next;
      const bool inside = next < may_hold_tabs_.size() && !is_before(may_hold_tabs_[next].first);
      if (!inside && c == '#' && (before == ' ' || before == '\t' || before == '\n')) comment = true;
      if (c == '\t' && !inside && !comment && !std::exchange(noted, true) && traps_.size() < kMaxTraps) {
        traps_.push_back({line + 1, "a tab", "a blank", "an error", "a space"});
      }
      before = c;
      ++column;
      if (c == '\n') {
        ++line;
        column = 0;
        comment = noted = false;
      }
    }
  }

  void NoteTrap(std::string_view plain, std::uint32_t line, bool as_key) {
    auto old = traps_.size() < kMaxTraps ? YamlOldMeaning(plain, as_key) : std::nullopt;
    if (!old) return;
    const auto value = as_key ? Value(plain) : YamlScalarValue(plain).value_or(Value(plain));
    const bool is_number = value.IsNumber() && old->starts_with("the text");
    const std::string instead = !is_number                 ? ""
                                : value.AsInt() != nullptr ? ToText(value)
                                                           : YamlNumberText(value.Number());
    traps_.push_back({line, std::string(plain), ToText(value), *std::move(old), instead});
  }

  std::optional<Measured> Scalar(const Event& event, bool as_key) {
    const std::string_view text = event.scalar();
    std::string_view tag = TextOf((*event).data.scalar.tag);
    const std::uint32_t line = event.line();
    if ((*event).data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
      may_hold_tabs_.emplace_back((*event).start_mark, (*event).end_mark);
    const bool plain = (*event).data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (text.find('\0') != std::string_view::npos) return Refuse(line, "a text holds a NUL");
    const Measured as_text{Value(text), 1, text.size()};
    merge_key_ = as_key && plain && text == "<<";
    if (as_key && plain && tag.empty()) NoteTrap(text, line, true);
    if (as_key) return tag.empty() || Tagged(tag, YAML_STR_TAG, line) ? std::optional(as_text) : std::nullopt;
    if (tag == "!" || tag == YAML_STR_TAG || (tag.empty() && !plain)) return as_text;
    auto value = YamlScalarValue(text);
    if (!value) return Refuse(line, value.error());
    if (!tag.empty()) {
      static const std::map<std::string_view, std::string_view> kTypes = {
          {YAML_NULL_TAG, "nil"}, {YAML_BOOL_TAG, "bool"}, {YAML_INT_TAG, "int"}, {YAML_FLOAT_TAG, "float"}};
      const auto type = kTypes.find(tag);
      if (type == kTypes.end()) return Tagged(tag, YAML_STR_TAG, line), std::nullopt;
      const bool fits = value->TypeName() == type->second || (type->second == "float" && value->IsNumber());
      if (!fits) return Refuse(line, Quoted(text) + " does not match its tag");
      if (type->second == "float") value = Value(value->Number());
    } else {
      NoteTrap(text, line, false);
    }
    const std::size_t size = value->AsString() == nullptr ? 0 : text.size();
    return Measured{*std::move(value), 1, size};
  }

  std::optional<Measured> Sequence(int depth) {
    Measured made;
    Value::List list;
    while (auto element = Next(depth + 1)) {
      made.values += element->values;
      made.text += element->text;
      list.push_back(std::move(element->value));
    }
    if (problem_) return std::nullopt;
    made.value = Value(std::move(list));
    return made;
  }

  std::optional<Measured> Mapping(int depth) {
    Measured made;
    Value::Map map;
    std::vector<Value> merged;
    while (auto key = Next(depth + 1, true)) {
      const auto line = static_cast<std::uint32_t>(parser_.mark.line + 1);
      const bool merges = std::exchange(merge_key_, false);
      auto mapped = Next(depth + 1);
      if (!mapped) return std::nullopt;
      made.values += mapped->values;
      made.text += mapped->text + key->text;
      const std::string& name = *key->value.AsString();
      if (merges) {
        merged.push_back(std::move(mapped->value));
      } else if (!map.emplace(name, std::move(mapped->value)).second) {
        return Refuse(line, "the key " + Quoted(name) + " appears twice");
      }
    }
    if (problem_) return std::nullopt;
    // Keys beside << win, then the first of the merged maps.
    for (const Value& from : merged) {
      const Value::List one = {from};
      for (const Value& source : from.AsList() != nullptr ? *from.AsList() : one) {
        if (source.AsMap() == nullptr) {
          return Refuse(static_cast<std::uint32_t>(parser_.mark.line + 1), "<< merges maps only");
        }
        map.insert(source.AsMap()->begin(), source.AsMap()->end());
      }
    }
    made.value = Value(std::move(map));
    return made;
  }

  yaml_parser_t parser_{};
  std::optional<YamlProblem> problem_;
  std::string_view text_read_;
  std::vector<std::pair<yaml_mark_t, yaml_mark_t>> may_hold_tabs_;  // extents of scalars that are not plain, in order
  std::vector<YamlText::Trap> traps_;
  std::map<std::string, Measured, std::less<>> anchors_;
  std::size_t values_ = 0;
  std::size_t text_ = 0;
  bool merge_key_ = false;  // the last key was an unquoted <<
};

class Writer {
 public:
  explicit Writer(std::string& out) {
    yaml_emitter_initialize(&emitter_);
    yaml_emitter_set_encoding(&emitter_, YAML_UTF8_ENCODING);
    yaml_emitter_set_unicode(&emitter_, 1);
    yaml_emitter_set_width(&emitter_, -1);
    yaml_emitter_set_output(
        &emitter_,
        [](void* data, unsigned char* bytes, std::size_t size) {
          static_cast<std::string*>(data)->append(reinterpret_cast<const char*>(bytes), size);
          return 1;
        },
        &out);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { yaml_emitter_delete(&emitter_); }

  void Write(const Value& value) {
    yaml_event_t event;
    yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    Emit(event);
    yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1);
    Emit(event);
    WriteValue(value);
    yaml_document_end_event_initialize(&event, 1);
    Emit(event);
    yaml_stream_end_event_initialize(&event);
    Emit(event);
  }

 private:
  void Emit(yaml_event_t& event) { yaml_emitter_emit(&emitter_, &event); }

  void WriteScalar(std::string_view text, yaml_scalar_style_t style) {
    yaml_event_t event;
    yaml_scalar_event_initialize(&event, nullptr, nullptr, reinterpret_cast<const yaml_char_t*>(text.data()),
                                 static_cast<int>(text.size()), 1, 1, style);
    Emit(event);
  }

  void WriteText(const std::string& text) {
    constexpr std::string_view kPort = "${muster:port:";
    const bool port = text.starts_with(kPort) && text.find('}') == text.size() - 1;
    WriteScalar(text, port || IsPlainYamlText(text) ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
  }

  void WriteValue(const Value& value) {
    yaml_event_t event;
    if (const Value::List* list = value.AsList()) {
      yaml_sequence_start_event_initialize(&event, nullptr, nullptr, 1,
                                           list->empty() ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE);
      Emit(event);
      for (const Value& element : *list) WriteValue(element);
      yaml_sequence_end_event_initialize(&event);
      Emit(event);
    } else if (const Value::Map* map = value.AsMap()) {
      yaml_mapping_start_event_initialize(&event, nullptr, nullptr, 1,
                                          map->empty() ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE);
      Emit(event);
      for (const auto& [key, mapped] : *map) {
        WriteText(key);
        WriteValue(mapped);
      }
      yaml_mapping_end_event_initialize(&event);
      Emit(event);
    } else if (const std::string* text = value.AsString()) {
      WriteText(*text);
    } else if (value.IsNull()) {
      WriteScalar("null", YAML_PLAIN_SCALAR_STYLE);
    } else if (const double* number = value.AsDouble()) {
      WriteScalar(YamlNumberText(*number), YAML_PLAIN_SCALAR_STYLE);
    } else {
      WriteScalar(ToText(value), YAML_PLAIN_SCALAR_STYLE);
    }
  }

  yaml_emitter_t emitter_{};
};

}  // namespace

tl::expected<YamlText, YamlProblem> ValueFromYamlText(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (!IsUtf8(text) || text.find('\0') != std::string_view::npos) {
    return tl::unexpected(YamlProblem{"it is not valid UTF-8 without NUL", 1});
  }
  return YamlReader(text).Read();
}

std::string YamlTextOf(const Value& value) {
  std::string out;
  Writer(out).Write(value);
  return out;
}

}  // namespace muster
