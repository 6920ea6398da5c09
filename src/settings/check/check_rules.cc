#include "settings/check/check_rules.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "settings/check/effective_value.h"
#include "settings/schema/rule_note.h"
#include "settings/schema/setting_key.h"

namespace muster {
namespace {

// "set_context.jit_config" of "set_context.jit_config.jit_level": the key of the setting in a context.
std::string_view KeyIn(std::string_view path) {
  const std::size_t dot = path.find('.');
  return dot == std::string_view::npos ? path : path.substr(0, path.find('.', dot + 1));
}

class OneRule {
 public:
  OneRule(const Rule& rule, const Context& context, const JobFacts& facts)
      : rule_(rule), context_(context), facts_(facts) {}

  std::optional<Diagnostic> Run() const {
    const EffectiveValue about = About();
    if (!about.set || IsUnsettled(rule_.when) || IsUnsettled(rule_.unless)) return std::nullopt;
    const auto holds = [&](const auto& asked) { return Holds(asked.second, Look(asked.first)); };
    if (!std::all_of(rule_.when.begin(), rule_.when.end(), holds)) return std::nullopt;
    if (std::any_of(rule_.unless.begin(), rule_.unless.end(), holds)) return std::nullopt;
    Diagnostic diagnostic = rule_.refused ? Error(rule_.kind, about.place, Filled(rule_.says), Filled(rule_.hint))
                                          : Warning(rule_.kind, about.place, Filled(rule_.says), Filled(rule_.hint));
    for (const auto& [path, condition] : rule_.when) {
      if (KeyIn(path) != KeyIn(rule_.about) && condition.set != false) Because(diagnostic, path);
      if (!condition.above_value_of.empty()) Because(diagnostic, condition.above_value_of);
    }
    diagnostic.notes.push_back(RuleNote(rule_.source));
    return diagnostic;
  }

 private:
  EffectiveValue Look(std::string_view path) const { return FindEffectiveValue(context_, facts_, path); }

  // Whether one of the values was set by a refused call.
  bool IsUnsettled(const std::map<std::string, Condition>& conditions) const {
    return std::any_of(conditions.begin(), conditions.end(), [&](const auto& asked) {
      const std::string& other = asked.second.above_value_of;
      return Look(asked.first).unsettled || (!other.empty() && Look(other).unsettled);
    });
  }

  // The setting that the rule reports; for a whole function, the first setting.
  EffectiveValue About() const {
    if (rule_.about.find('.') != std::string::npos) return Look(rule_.about);
    EffectiveValue first;
    for (const auto& [name, unused] : context_.schema().attributes(rule_.about)) {
      const Setting* setting = context_.Find(rule_.about, name);
      if (setting == nullptr) continue;
      const Place& place = setting->source.place;
      if (!first.set || std::tie(place.file, place.line) < std::tie(first.place.file, first.place.line)) {
        first.set = true;
        first.place = place;
      }
    }
    return first;
  }

  bool Holds(const Condition& asked, const EffectiveValue& found) const {
    if (asked.set && *asked.set != found.set) return false;
    const auto among = [&](const std::vector<Value>& values) {
      return std::find(values.begin(), values.end(), found.value) != values.end();
    };
    if (!asked.one_of.empty() && !among(asked.one_of)) return false;
    if (!asked.none_of.empty() && (found.value.IsNull() || among(asked.none_of))) return false;
    const auto above = [&](double number) { return found.value.IsNumber() && found.value.Number() > number; };
    if (asked.above && !above(*asked.above)) return false;
    if (asked.above_value_of.empty()) return true;
    const Value other = Look(asked.above_value_of).value;
    return other.IsNumber() && above(other.Number());
  }

  // Adds a note with the source of another value in the message.
  void Because(Diagnostic& diagnostic, const std::string& path) const {
    for (Note& note : Look(path).why) {
      auto& notes = diagnostic.notes;
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
    }
  }

  std::string Filled(const std::string& text) const {
    std::string filled;
    std::size_t from = 0;
    while (true) {
      const std::size_t open = text.find('{', from);
      const std::size_t close = text.find('}', open == std::string::npos ? from : open);
      if (open == std::string::npos || close == std::string::npos) return filled + text.substr(from);
      filled += text.substr(from, open - from) + Word(text.substr(open + 1, close - open - 1));
      from = close + 1;
    }
  }

  std::string Word(const std::string& name) const {
    static const std::string kTimes = " × ";
    if (name == "release") return "MindSpore " + ReleaseText(context_.release());
    const std::size_t times = name.find(kTimes);
    if (times == std::string::npos) return Look(name).shown;
    return NumberText(Look(name.substr(0, times)).value.Number() *
                      Look(name.substr(times + kTimes.size())).value.Number());
  }

  const Rule& rule_;
  const Context& context_;
  const JobFacts& facts_;
};

// The attributes that rules of this release read: "set_context.jit_config", and the functions they report.
std::set<std::string_view> KeysOf(const Schema& schema, const Release& release) {
  std::set<std::string_view> keys;
  for (const Rule& rule : schema.rules()) {
    if (!rule.HoldsIn(release)) continue;
    keys.insert(KeyIn(rule.about));
    for (const auto* conditions : {&rule.when, &rule.unless}) {
      for (const auto& [path, condition] : *conditions) {
        keys.insert(KeyIn(path));
        if (!condition.above_value_of.empty()) keys.insert(KeyIn(condition.above_value_of));
      }
    }
  }
  return keys;
}

}  // namespace

Diagnostics CheckRules(const Context& job, const JobFacts& facts) {
  const std::set<std::string_view> keys = KeysOf(job.schema(), job.release());
  // The job's own context, and those of processes with settings of their own.
  std::vector<const Context*> contexts;
  bool is_in_use = facts.processes.empty();
  for (const ProcessFacts& process : facts.processes) {
    const auto concerns = [&](const auto& entry) { return keys.contains(entry.first); };
    if (process.context != nullptr &&
        std::any_of(process.context->own().begin(), process.context->own().end(), concerns)) {
      contexts.push_back(process.context);
    } else {
      is_in_use = true;
    }
  }
  if (is_in_use) contexts.insert(contexts.begin(), &job);
  Diagnostics problems;
  for (const Rule& rule : job.schema().rules()) {
    if (!rule.HoldsIn(job.release())) continue;
    std::set<std::pair<std::string, std::uint32_t>> blamed;
    for (const Context* context : contexts) {
      auto problem = OneRule(rule, *context, facts).Run();
      if (problem && blamed.emplace(problem->place.file, problem->place.line).second) {
        problems.push_back(std::move(*problem));
      }
    }
  }
  // In the order of the recipe's lines.
  std::stable_sort(problems.begin(), problems.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.place.file, a.place.line) < std::tie(b.place.file, b.place.line);
  });
  return problems;
}

}  // namespace muster
