#include "reference/rule_facts.h"

#include <algorithm>

#include "settings/schema/rule_note.h"
#include "settings/schema/setting_key.h"
#include "settings/schema/word_list.h"

namespace muster {
namespace {

constexpr std::string_view kRelease = "release";  // the placeholder for the release

std::string InCode(const std::string& text) { return "`" + text + "`"; }

std::string AnyOfCodes(const std::vector<Value>& values) {
  std::vector<std::string> codes;
  for (const Value& value : values) codes.push_back(InCode(ToText(value)));
  return WordList(codes, " or ");
}

// How a rule's texts name its paths: without the function, and without the table if all are in the one that it reports.
class Names {
 public:
  explicit Names(const Rule& rule) : rule_(rule) {
    const std::vector<std::string> paths = PathsOf(rule);
    if (std::all_of(paths.begin() + 1, paths.end(), [&](const auto& path) { return IsBelow(path, rule.about); }))
      taken_off_ = rule.about.size() + 1;
  }

  std::string Phrase(const std::string& path, const Condition& asked) const {
    const bool is_fact = IsBelow(path, std::string(kJobFacts));
    if (is_fact && asked.above) return "more than " + NumberText(*asked.above);
    const std::string name = NameOf(path);
    if (asked.one_of.size() == 1) return InCode(name + " = " + ToText(asked.one_of.front()));
    if (!asked.one_of.empty()) return InCode(name) + " = " + AnyOfCodes(asked.one_of);
    if (!asked.none_of.empty()) return InCode(name) + " other than " + AnyOfCodes(asked.none_of);
    if (asked.above) return InCode(name) + " above " + NumberText(*asked.above);
    return InCode(name);
  }

  // The replacement of a placeholder.
  std::string Word(const std::string& placeholder) const {
    if (placeholder == kRelease) return "MindSpore";
    static const std::string kTimes = " × ";
    if (const std::size_t times = placeholder.find(kTimes); times != std::string::npos)
      return InCode(NameOf(placeholder.substr(0, times)) + kTimes + NameOf(placeholder.substr(times + kTimes.size())));
    const auto asked = rule_.when.find(placeholder);
    return asked == rule_.when.end() ? InCode(NameOf(placeholder)) : Phrase(placeholder, asked->second);
  }

 private:
  std::string NameOf(const std::string& path) const {
    return path.substr(taken_off_ < path.size() ? taken_off_ : path.find('.') + 1);
  }

  const Rule& rule_;
  std::size_t taken_off_ = std::string::npos;
};

// A text with its placeholders filled, in three parts: up to its last value, that value, and the rest.
struct Filled {
  std::string before;
  std::string last;
  std::string after;
};

Filled Fill(const Rule& rule, std::string text) {
  // The release is stated elsewhere.
  static const std::string kInRelease = " in {" + std::string(kRelease) + "}";
  for (std::size_t at = text.find(kInRelease); at != std::string::npos; at = text.find(kInRelease))
    text.erase(at, kInRelease.size());
  const Names names(rule);
  Filled filled;
  std::size_t from = 0;
  for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{', from)) {
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) break;
    const std::string placeholder = text.substr(open + 1, close - open - 1);
    filled.after += text.substr(from, open - from);
    from = close + 1;
    if (placeholder == kRelease) {
      filled.after += names.Word(placeholder);
      continue;
    }
    filled.before += filled.last + filled.after;
    filled.last = names.Word(placeholder);
    filled.after.clear();
  }
  filled.after += text.substr(from);
  return filled;
}

std::string Whole(const Filled& filled) { return filled.before + filled.last + filled.after; }

std::string SeverityWord(const Rule& rule) { return rule.refused ? "error" : "warning"; }

// "error in 1.6.2 and later: "
std::string Head(const Rule& rule, const std::vector<Release>& releases) {
  const std::vector<Release> held = HeldIn(rule, releases);
  if (held.empty() || held.size() == releases.size()) return SeverityWord(rule) + ": ";
  return SeverityWord(rule) + " in " + SpanText(releases, held.front(), held.back()) + ": ";
}

// " (not with `enable_ps = true`; API page of 1.6)"
std::string Tail(const Rule& rule) {
  const Names names(rule);
  std::vector<std::string> exceptions;
  for (const auto& [path, asked] : rule.unless) exceptions.push_back(names.Phrase(path, asked));
  return " (" + (exceptions.empty() ? "" : "not with " + WordList(exceptions, " or ") + "; ") +
         SourceText(rule.source) + ")";
}

Value TextIfAny(const std::string& text) { return text.empty() ? Value() : Value(text); }

Value ConditionsData(const std::map<std::string, Condition>& conditions) {
  Value::Map data;
  for (const auto& [path, asked] : conditions) {
    Value::Map fields;
    if (!asked.one_of.empty()) fields["one_of"] = Value(Value::List(asked.one_of));
    if (!asked.none_of.empty()) fields["none_of"] = Value(Value::List(asked.none_of));
    if (asked.above) fields["above"] = Value(*asked.above);
    if (!asked.above_value_of.empty()) fields["above_value_of"] = Value(asked.above_value_of);
    if (asked.set) fields["set"] = Value(*asked.set);
    data[path] = Value(std::move(fields));
  }
  return Value(std::move(data));
}

}  // namespace

std::vector<std::string> RuleLines(const Rules& rules, const std::vector<Release>& releases) {
  struct Line {
    std::string head;
    Filled says;
    std::string tail;
    std::vector<std::string> last;
  };
  std::vector<Line> lines;
  for (const Rule* rule : rules) {
    Line line{Head(*rule, releases), Fill(*rule, rule->says), Tail(*rule), {}};
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const Line& known) {
      return known.head == line.head && known.says.before == line.says.before && known.says.after == line.says.after &&
             known.tail == line.tail;
    });
    const std::string last = line.says.last;
    (same == lines.end() ? lines.emplace_back(std::move(line)) : *same).last.push_back(last);
  }
  std::vector<std::string> texts;
  for (const Line& line : lines)
    texts.push_back(line.head + line.says.before + WordList(line.last, " or ") + line.says.after + line.tail);
  return texts;
}

Value RuleData(const Rule& rule, const std::vector<Release>& releases) {
  Value::List held;
  for (const Release& release : HeldIn(rule, releases)) held.emplace_back(ReleaseText(release));
  return Value(Value::Map{
      {"name", Value(rule.name)},
      {"kind", Value(rule.kind)},
      {"severity", Value(SeverityWord(rule))},
      {"about", Value(rule.about)},
      {"says", Value(Whole(Fill(rule, rule.says)))},
      {"hint", TextIfAny(Whole(Fill(rule, rule.hint)))},
      {"when", ConditionsData(rule.when)},
      {"unless", ConditionsData(rule.unless)},
      {"releases", Value(std::move(held))},
      {"document", TextIfAny(rule.source.document)},
      {"behaviour", TextIfAny(rule.source.behaviour)},
  });
}

}  // namespace muster
