#include "reference/rule_facts.h"

#include <algorithm>
#include <set>

#include "settings/schema/rule_note.h"
#include "settings/schema/setting_key.h"
#include "settings/schema/word_list.h"

namespace muster {
namespace {

constexpr std::string_view kRelease = "release";  // the placeholder for the release

bool IsBelow(std::string_view path, const std::string& key) { return path.starts_with(key + "."); }

std::vector<std::string> PathsOf(const Rule& rule) {
  std::vector<std::string> paths = {rule.about};
  for (const auto* conditions : {&rule.when, &rule.unless}) {
    for (const auto& [path, condition] : *conditions) {
      paths.push_back(path);
      if (!condition.above_value_of.empty()) paths.push_back(condition.above_value_of);
    }
  }
  return paths;
}

// The longest key that is the path or contains it; empty for facts about the job.
std::string KeyNamed(const std::set<std::string>& keys, std::string path) {
  while (!keys.contains(path)) {
    const std::size_t dot = path.rfind('.');
    if (dot == std::string::npos) return "";
    path.resize(dot);
  }
  return path;
}

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

std::vector<Release> HeldIn(const Rule& rule, const std::vector<Release>& releases) {
  std::vector<Release> held;
  std::copy_if(releases.begin(), releases.end(), std::back_inserter(held),
               [&](const Release& release) { return rule.HoldsIn(release); });
  return held;
}

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

RuleIndex::RuleIndex(const Schema& schema, const std::vector<AttributeHistory>& histories,
                     const std::vector<Release>& releases) {
  std::set<std::string> keys;
  for (const std::string& function : schema.Functions()) keys.insert(function);
  for (const AttributeHistory& history : histories) keys.insert(KeyOf(history.function, history.path));
  for (const Rule& rule : schema.rules()) {
    if (HeldIn(rule, releases).empty()) continue;
    all_.push_back(&rule);
    const std::vector<std::string> paths = PathsOf(rule);
    std::set<std::string> named;
    for (const std::string& path : paths) {
      // A rule that reports a table and names its sub-keys belongs to the sub-keys.
      const bool is_closer =
          std::any_of(paths.begin(), paths.end(), [&](const std::string& other) { return IsBelow(other, path); });
      if (!is_closer) named.insert(KeyNamed(keys, path));
    }
    for (const std::string& key : named) by_key_[key].push_back(&rule);
  }
  by_key_.erase("");
}

Rules RuleIndex::Naming(const std::string& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? Rules() : found->second;
}

std::vector<std::string> RuleIndex::NamedBelow(const std::string& key) const {
  std::vector<std::string> below;
  for (const auto& [other, unused] : by_key_) {
    if (IsBelow(other, key)) below.push_back(other);
  }
  return below;
}

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
