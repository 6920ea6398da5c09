#include "settings/check/check_value.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "muster/plan.h"
#include "settings/check/check_table.h"
#include "settings/schema/schema.h"
#include "settings/schema/schema_text.h"

namespace muster {
namespace {

// Validates a JSON file that an attribute names against MindSpore's format. The content is passed in; opens nothing.

// Problems have places in the file; each has a note with the place where `path`, the attribute or sub-key, names the
// file. False after an error. Kinds: bad_json, and those of CheckValue for the content.
bool CheckFile(const Attribute& attribute, const ShippedFile& file, const std::string& path, const CheckedIn& where,
               Diagnostics& problems) {
  Diagnostics inside;
  const auto json = LocatedJsonFromText(file.content);
  const Attribute* record = where.schema == nullptr ? nullptr : where.schema->FindFile(attribute.file, where.release);
  const bool described = !file.described.file.empty();
  const Place whole = described ? file.described : Place{file.shown, 0};
  if (!json) {
    const Place place = described ? whole : Place{file.shown, json.error().line};
    inside.push_back(
        Error("bad_json", place, (described ? path + ": the file is not valid JSON: " : "") + json.error().message));
  } else if (record != nullptr) {
    static const std::map<std::string, std::uint32_t> kNoLines;
    CheckValue(*record, json->value, "", {where.release, whole, nullptr, nullptr, described ? &kNoLines : &json->lines},
               inside);
  }
  std::stable_sort(inside.begin(), inside.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.place.line < b.place.line; });
  const bool well = !HasErrors(inside);
  for (Diagnostic& problem : inside) {
    problem.notes.push_back({path + " names this file here", where.place});
    problems.push_back(std::move(problem));
  }
  return well;
}

constexpr double kGigabyte = 1073741824.0;  // MindSpore's GB
// A smaller number of bytes was probably meant in another unit.
constexpr double kMinBytes = 1048576.0;

std::optional<std::int64_t> WholeNumber(const Value& value) {
  if (const std::int64_t* integer = value.AsInt()) return *integer;
  if (const double* number = value.AsDouble()) {
    if (std::floor(*number) == *number && std::fabs(*number) < 9.2e18) return static_cast<std::int64_t>(*number);
  }
  return std::nullopt;
}

bool IsEmptyTable(const Value& value) {
  const Value::Map* map = value.AsMap();
  return map != nullptr && map->empty();
}

// A list; an empty Lua table is ambiguous and counts as an empty list too.
const Value::List* ListOf(const Value& value) {
  static const Value::List kEmpty;
  return IsEmptyTable(value) ? &kEmpty : value.AsList();
}

bool Fits(Kind kind, const Value& value) {
  switch (kind) {
    case Kind::kBool:
      return value.AsBool() != nullptr;
    case Kind::kInt:
      return WholeNumber(value).has_value();
    case Kind::kFloat:
      return value.IsNumber();
    case Kind::kString:
    case Kind::kEnum:
    case Kind::kPath:
    case Kind::kWords:
      return value.AsString() != nullptr;
    case Kind::kSize:
      return value.AsString() != nullptr || value.IsNumber();
    case Kind::kListInt: {
      const Value::List* list = ListOf(value);
      return list != nullptr &&
             std::all_of(list->begin(), list->end(), [](auto& v) { return WholeNumber(v).has_value(); });
    }
    case Kind::kTuple: {
      const Value::List* list = ListOf(value);
      return list != nullptr &&
             std::all_of(list->begin(), list->end(), [](auto& v) { return Fits(Kind::kListInt, v); });
    }
    case Kind::kDict:
      return value.AsMap() != nullptr || ListOf(value) != nullptr;
    case Kind::kListText: {
      const Value::List* list = ListOf(value);
      return list != nullptr &&
             std::all_of(list->begin(), list->end(), [](auto& v) { return v.AsString() != nullptr; });
    }
    case Kind::kListMap:
    case Kind::kTextMap:
      return value.AsMap() != nullptr;
    case Kind::kLayouts:
      return IsListOfLayouts(value);
    case Kind::kAxes:
      return IsListOfAxes(value);
    case Kind::kAny:
      return true;
  }
  return false;
}

bool Within(const Attribute& attribute, double number) {
  return !(attribute.min && number < *attribute.min) && !(attribute.max && number > *attribute.max) &&
         !(attribute.above && number <= *attribute.above) && !std::isnan(number);
}

class Check {
 public:
  Check(const Attribute& attribute, const Value& value, const std::string& path, const CheckedIn& where,
        Diagnostics& problems)
      : attribute_(attribute), value_(value), path_(path), where_(where), problems_(problems) {}

  std::optional<Value> Run() {
    if (value_.IsNull()) {
      if (attribute_.null) return value_;
      return Refuse("type", Subject() + " can not be null: it must be " + AllowedText(attribute_, InFile()),
                    "leave it out instead");
    }
    if (std::find(attribute_.also.begin(), attribute_.also.end(), value_) != attribute_.also.end()) return value_;
    if (const std::string* text = value_.AsString()) {
      if (!attribute_.auto_port.empty()) {
        if (*text == "auto") return Value(std::string(kPlaceholderOpen) + "port:" + attribute_.auto_port + "}");
        if (IsPortPlaceholder(*text)) return value_;
      }
      if (const auto alias = attribute_.aliases.find(*text); alias != attribute_.aliases.end()) return alias->second;
    }
    const auto kind = std::find_if(attribute_.kinds.begin(), attribute_.kinds.end(),
                                   [&](Kind candidate) { return FitsBest(candidate); });
    if (kind == attribute_.kinds.end()) return WrongType();
    switch (*kind) {
      case Kind::kAny:
        return value_;
      case Kind::kBool:
        return Choice(value_);
      case Kind::kInt:
        return Number(Value(*WholeNumber(value_)));
      case Kind::kFloat:
        return Number(value_);
      case Kind::kEnum:
        return Choice(value_);
      case Kind::kString:
      case Kind::kPath:
        return Text(*kind);
      case Kind::kWords:
        return Words(*value_.AsString());
      case Kind::kSize:
        return Size();
      case Kind::kListInt:
        return IntList(*ListOf(value_));
      case Kind::kTuple:
        return Tuple(*ListOf(value_));
      case Kind::kDict:
        return CheckTable(attribute_, value_, path_, where_, problems_);
      case Kind::kTextMap:
        return TextMap(*value_.AsMap());
      case Kind::kListText:
        return TextList(*ListOf(value_));
      case Kind::kLayouts:
        return CheckLayouts(attribute_, value_, path_, where_, problems_);
      case Kind::kAxes:
        return IsEmptyTable(value_) ? Value(Value::List{}) : value_;
      case Kind::kListMap:
        return ListMap(*value_.AsMap());
    }
    return std::nullopt;
  }

 private:
  bool InFile() const { return where_.lines != nullptr; }
  std::string InRelease() const { return "MindSpore " + ReleaseText(where_.release); }
  std::string Subject() const { return path_.empty() ? "the file" : path_; }
  std::string Shown() const { return path_ + " = " + ShownValue(attribute_, value_); }

  static bool IsPortPlaceholder(std::string_view text) {
    constexpr std::string_view kPort = "port:";
    return text.starts_with(kPlaceholderOpen) && text.substr(kPlaceholderOpen.size()).starts_with(kPort) &&
           text.find('}') + 1 == text.size();
  }

  // A list is not treated as a table as long as another kind of the attribute accepts it; in JSON, which distinguishes
  // the two, never.
  bool FitsBest(Kind kind) const {
    if (kind == Kind::kDict && value_.AsList() != nullptr && InFile()) return false;
    if (kind == Kind::kDict && value_.AsList() != nullptr && !value_.AsList()->empty()) return false;
    return Fits(kind, value_);
  }

  std::optional<Value> Refuse(const char* kind, std::string message, std::string hint = {}) {
    problems_.push_back(Error(kind, where_.At(path_), std::move(message), std::move(hint)));
    return std::nullopt;
  }

  void Warn(const char* kind, std::string message) {
    problems_.push_back(Warning(kind, where_.At(path_), std::move(message)));
  }

  std::optional<Value> WrongType() {
    std::string hint;
    const std::string* text = value_.AsString();
    if (text != nullptr && !attribute_.secret) {
      if (!attribute_.auto_port.empty()) {
        hint = "write a number, or \"auto\"";
      } else if (const auto named = attribute_.constants.find(*text); named != attribute_.constants.end()) {
        hint = "write context." + named->first + ", without quotes";
      } else if (attribute_.Is(Kind::kInt) && !text->empty() &&
                 text->find_first_not_of("0123456789") == std::string::npos) {
        hint = "write " + *text + " without quotes";
      } else if (attribute_.Is(Kind::kBool) && (*text == "true" || *text == "false")) {
        hint = "write " + *text + " without quotes";
      }
    } else if (value_.AsBool() != nullptr && (attribute_.Is(Kind::kInt) || attribute_.Is(Kind::kFloat))) {
      hint = "true is never 1 and false never 0 here";
    } else if (value_.IsNumber() && attribute_.Is(Kind::kBool)) {
      hint = "1 is never true and 0 never false here";
    }
    std::string got = "the " + std::string(value_.TypeName());
    if (value_.AsList() == nullptr && value_.AsMap() == nullptr) got += " " + ShownValue(attribute_, value_);
    return Refuse("type", Subject() + " must be " + AllowedText(attribute_, InFile()) + ", not " + got,
                  std::move(hint));
  }

  std::optional<Value> Choice(const Value& value) {
    const bool of_words =
        attribute_.Is(Kind::kWords) && value.AsBool() != nullptr;  // the choices are those of its texts
    if (attribute_.choices.empty() || of_words) return value;
    if (std::find(attribute_.choices.begin(), attribute_.choices.end(), value) != attribute_.choices.end())
      return value;
    std::string hint;
    if (const std::string* text = value.AsString()) {
      std::vector<std::string> words;
      for (const Value& choice : attribute_.choices) {
        if (choice.AsString() == nullptr) continue;
        words.push_back(*choice.AsString());
        const auto same_letter = [](char a, char b) {
          return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
        };
        if (std::equal(text->begin(), text->end(), words.back().begin(), words.back().end(), same_letter)) {
          hint = "write " + Quoted(words.back()) + ": case matters";
        }
      }
      if (hint.empty() && attribute_.rule.starts_with("documents write " + *text + ",")) hint = attribute_.rule;
      if (hint.empty() && Nearest(*text, words)) hint = DidYouMean(*text, words);
    }
    if (hint.empty() && !attribute_.successor.empty()) hint = "use " + attribute_.successor + " instead";
    if (attribute_.choices.size() == 1) {
      return Refuse("enum",
                    Shown() + " is not possible in " + InRelease() + ": it can only be " + ChoicesText(attribute_),
                    std::move(hint));
    }
    return Refuse("enum", Shown() + " is not one of " + ChoicesText(attribute_) + " in " + InRelease(),
                  std::move(hint));
  }

  // Words separated by commas; a blank belongs to the word beside it, as MindSpore takes it.
  std::optional<Value> Words(std::string_view text) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      const Value word(std::string(text.substr(begin, end - begin)));
      if (std::find(attribute_.choices.begin(), attribute_.choices.end(), word) == attribute_.choices.end()) {
        return Refuse("enum",
                      Shown() + " holds " + ToText(word) + ", which is not one of " + ChoicesText(attribute_) + " in " +
                          InRelease(),
                      "separate words by commas, without blanks");
      }
      begin = end + 1;
    }
    return value_;
  }

  std::optional<Value> Number(Value number) {
    if (!attribute_.choices.empty()) return Choice(number);
    if (Within(attribute_, number.Number())) {
      if (attribute_.documented_max && number.Number() > *attribute_.documented_max) {
        Warn("range", Shown() + " is more than the documents of " + InRelease() + " allow: at most " +
                          NumberText(*attribute_.documented_max));
      }
      if (attribute_.no_effect_up_to && number.Number() <= *attribute_.no_effect_up_to) {
        Warn("no_effect", Shown() + " is ignored by " + InRelease() + ": it takes effect above " +
                              NumberText(*attribute_.no_effect_up_to));
      }
      return number;
    }
    return Refuse("range", Shown() + " is out of range: " + RangeText(attribute_) + " in " + InRelease());
  }

  std::optional<Value> Text(Kind kind) {
    const std::string& text = *value_.AsString();
    const bool blank = text.find_first_not_of(" \t\r\n") == std::string::npos;
    if ((kind == Kind::kPath && blank) || (attribute_.not_empty && text.empty())) {
      return Refuse("empty", path_ + " must not be " + (text.empty() ? "empty" : "blank"));
    }
    if (attribute_.max && static_cast<double>(text.size()) > *attribute_.max) {
      return Refuse("range", path_ + " has " + std::to_string(text.size()) + " bytes: at most " +
                                 NumberText(*attribute_.max) + " in " + InRelease());
    }
    if (!HasForm(text)) return std::nullopt;
    if (!attribute_.flags.empty()) CheckFlags(attribute_, text, path_, where_, problems_);
    if (where_.files != nullptr && !attribute_.file.empty()) {
      const auto file = where_.files->find(text);
      if (file != where_.files->end() && !CheckFile(attribute_, file->second, path_, where_, problems_))
        return std::nullopt;
    }
    return Choice(value_);
  }

  bool HasForm(const std::string& text) {
    if (attribute_.absolute && !text.starts_with('/')) {
      Refuse("format", Shown() + " must be an absolute path in " + InRelease());
      Cite(problems_.back(), attribute_, "absolute");
      return false;
    }
    const auto is_allowed = [&](unsigned char c) {
      return (c < 0x80 && std::isalnum(c) != 0) ||
             attribute_.characters.find(static_cast<char>(c)) != std::string::npos;
    };
    if (!text.ends_with(attribute_.suffix)) {
      Refuse("format", Shown() + " must end with " + attribute_.suffix + " in " + InRelease());
      Cite(problems_.back(), attribute_, "suffix");
      return false;
    }
    if (!attribute_.characters.empty() && !std::all_of(text.begin(), text.end(), is_allowed)) {
      Refuse("format", Shown() + " holds other characters than letters, digits and " + attribute_.characters + " in " +
                           InRelease());
      return false;
    }
    for (std::size_t begin = 0; attribute_.name_max && begin < text.size();) {
      const std::size_t end = std::min(text.find('/', begin), text.size());
      if (static_cast<double>(end - begin) > *attribute_.name_max) {
        Refuse("range", path_ + " holds a name of " + std::to_string(end - begin) + " bytes: at most " +
                            NumberText(*attribute_.name_max) + " in " + InRelease());
        return false;
      }
      begin = end + 1;
    }
    return true;
  }

  std::optional<Value> Size() {
    std::string text;
    if (value_.IsNumber()) {
      const double gigabytes = value_.Number() / kGigabyte;
      std::array<char, 400> digits;
      const auto [end, error] =
          std::to_chars(digits.data(), digits.data() + digits.size(), gigabytes, std::chars_format::fixed);
      if (error != std::errc() || !(value_.Number() >= kMinBytes)) {
        return Refuse("range", Shown() + " is not a size: a number of bytes is at least 1048576 (1 MiB)",
                      "write text such as \"3.5GB\" for gigabytes");
      }
      text = std::string(digits.data(), end) + "GB";
    } else {
      text = *value_.AsString();
    }
    const auto gigabytes = Gigabytes(text);
    if (!gigabytes) {
      std::string hint = "write a number and GB without a blank, such as \"3.5GB\"";
      if (text.ends_with("iB") || text.ends_with("MB")) hint += "; MindSpore's GB is 2^30 bytes";
      return Refuse("format", Shown() + " is not a size that " + InRelease() + " takes", std::move(hint));
    }
    const std::string shown = value_.IsNumber() ? Shown() + " bytes (" + text + ")" : Shown();
    // What follows the pattern takes a whole number only, and "5." is none.
    if (attribute_.whole && (*gigabytes != std::floor(*gigabytes) || text.ends_with(".GB"))) {
      return Refuse("format", shown + " must be a whole number of GB in " + InRelease());
    }
    if (!Within(attribute_, *gigabytes) || *gigabytes <= 0) {
      const std::string allowed = RangeText(attribute_, " GB");
      return Refuse("range", shown + " is out of range: " + (allowed == " GB" ? "more than 0 GB" : allowed) + " in " +
                                 InRelease());
    }
    return Value(std::move(text));
  }

  std::optional<Value> IntList(const Value::List& list) {
    if (attribute_.not_empty && list.empty()) return Refuse("empty", path_ + " must hold at least one number");
    Value::List stored;
    for (const Value& element : list) {
      const std::int64_t number = *WholeNumber(element);
      if (!Within(attribute_, static_cast<double>(number))) {
        return Refuse("range", path_ + " holds " + std::to_string(number) + ", out of range: " + RangeText(attribute_) +
                                   " in " + InRelease());
      }
      if (attribute_.ascending && !stored.empty() && *stored.back().AsInt() >= number) {
        return Refuse("order", path_ + " must be strictly ascending: " + std::to_string(number) + " follows " +
                                   std::to_string(*stored.back().AsInt()));
      }
      stored.emplace_back(number);
    }
    return Value(std::move(stored));
  }

  std::optional<Value> TextList(const Value::List& list) {
    if (attribute_.not_empty && list.empty()) return Refuse("empty", path_ + " must hold at least one text");
    return Value(list);
  }

  std::optional<Value> Tuple(const Value::List& list) {
    if (attribute_.not_empty && list.empty()) return Refuse("empty", path_ + " must hold at least one list");
    Value::List stored;
    for (const Value& inner : list) {
      auto numbers = IntList(*ListOf(inner));
      if (!numbers) return std::nullopt;
      stored.push_back(std::move(*numbers));
    }
    return Value(std::move(stored));
  }

  std::optional<Value> TextMap(const Value::Map& table) {
    Attribute text;
    text.kinds = {Kind::kString};
    text.choices = attribute_.choices;
    bool well = true;
    for (const auto& [name, value] : table) {
      well = CheckValue(text, value, path_ + "." + name, where_, problems_).has_value() && well;
    }
    return well ? std::optional(value_) : std::nullopt;
  }

  std::optional<Value> ListMap(const Value::Map& table) {
    Attribute list;
    list.kinds = {attribute_.min ? Kind::kListInt : Kind::kListText};
    list.min = attribute_.min;
    bool accepted = true;
    for (const auto& [name, value] : table) {
      accepted = CheckValue(list, value, path_ + "." + name, where_, problems_).has_value() && accepted;
    }
    return accepted ? std::optional(value_) : std::nullopt;
  }

  const Attribute& attribute_;
  const Value& value_;
  const std::string& path_;
  const CheckedIn& where_;
  Diagnostics& problems_;
};

}  // namespace

std::optional<Value> CheckValue(const Attribute& attribute, const Value& value, const std::string& path,
                                const CheckedIn& where, Diagnostics& problems) {
  if (!attribute.only_warns) return Check(attribute, value, path, where, problems).Run();
  Diagnostics warnings;
  auto stored = Check(attribute, value, path, where, warnings).Run();
  for (Diagnostic& warning : warnings) {
    warning.severity = Severity::kWarning;
    problems.push_back(std::move(warning));
  }
  return stored;
}

Place CheckedIn::At(std::string path) const {
  if (lines == nullptr) return place;
  while (!path.empty()) {
    if (const auto line = lines->find(path); line != lines->end()) return {place.file, line->second};
    const std::size_t last = path.find_last_of(".[");
    path.resize(last == std::string::npos ? 0 : last);
  }
  return place;
}

std::string ShownValue(const Attribute& attribute, const Value& value) {
  if (attribute.secret) return "(a secret)";
  constexpr std::size_t kMax = 120;
  std::string text = ToText(value);
  if (text.size() > kMax) {
    std::size_t end = kMax;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    text = text.substr(0, end) + "…";
  }
  return text;
}

// As context.py of MindSpore parses it (_check_memory_size and the like): digits need not follow a point.
std::optional<double> Gigabytes(std::string_view size) {
  if (!size.ends_with("GB")) return std::nullopt;
  size.remove_suffix(2);
  if (size.empty() || size.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  if (std::count(size.begin(), size.end(), '.') > 1 || size.front() == '.') return std::nullopt;
  if (size.front() == '0' && (size.size() < 2 || size[1] != '.')) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), number);
  if (error != std::errc() || end != size.data() + size.size()) return std::nullopt;
  return number;
}

namespace {

struct Flag {
  std::string name;  // empty: the word is no option
  std::string value;
  std::string word;
};

// "--name" or "--name=value" with one "="; words are separated by blanks.
std::vector<Flag> FlagsOf(std::string_view text) {
  std::vector<Flag> flags;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return flags;
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    Flag& flag = flags.emplace_back();
    flag.word = word;
    if (!word.starts_with("--") || word.size() == 2) continue;
    const std::size_t equals = word.find('=', 3);
    if (equals == std::string_view::npos) {
      flag.name = word.substr(2);
    } else if (equals + 1 < word.size() && word.find('=', equals + 1) == std::string_view::npos) {
      flag.name = word.substr(2, equals - 2);
      flag.value = word.substr(equals + 1);
    }
  }
}

}  // namespace

std::optional<std::string> FlagValue(std::string_view flags, std::string_view name) {
  for (Flag& flag : FlagsOf(flags)) {
    if (flag.name == name) return std::move(flag.value);
  }
  return std::nullopt;
}

void CheckFlags(const Attribute& attribute, std::string_view flags, const std::string& path, const CheckedIn& where,
                Diagnostics& problems) {
  const std::string version = "MindSpore " + ReleaseText(where.release);
  const auto warn = [&](std::string message, std::string hint) {
    Diagnostic& problem =
        problems.emplace_back(Warning("format", where.place, path + ": " + std::move(message), std::move(hint)));
    Cite(problem, attribute, "flags");
  };
  std::vector<std::string> known;
  for (const auto& [name, unused] : attribute.flags) known.push_back(name);
  std::vector<std::string> seen;
  for (const Flag& flag : FlagsOf(flags)) {
    if (flag.name.empty()) {
      warn(Quoted(flag.word) + " is not an option, so " + version + " ignores it", "write --name or --name=value");
      continue;
    }
    if (Contains(seen, flag.name)) {
      warn("--" + flag.name + " is given twice, and " + version + " takes the first", "give it once");
      continue;
    }
    seen.push_back(flag.name);
    const auto documented = attribute.flags.find(flag.name);
    if (documented == attribute.flags.end()) {
      if (const auto near = Nearest(flag.name, known)) {
        warn("--" + flag.name + " is no documented option of " + version, "did you mean --" + *near + "?");
      }
      continue;
    }
    const Value::List* values = documented->second.AsList();
    if (values == nullptr || std::find(values->begin(), values->end(), Value(flag.value)) != values->end()) continue;
    std::vector<std::string> allowed;
    for (const Value& value : *values) {
      allowed.push_back(value == Value("") ? "--" + flag.name : "--" + flag.name + "=" + ValueKey(value));
    }
    warn(flag.word + " is not among the values that the documents of " + version + " give",
         "write " + WordList(allowed, " or "));
  }
}

}  // namespace muster
