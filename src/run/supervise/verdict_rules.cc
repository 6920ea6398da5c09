#include "run/supervise/verdict_rules.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "muster/value.h"
#include "run/journal/failure_class.h"

namespace muster {
namespace {

constexpr const char* kNoneIsNoRule =
    "\"none\" stands for no rule, where none applies: the verdict is \"restart\" then";
constexpr std::string_view kOthers = "...";  // all rules of muster that the file does not name
constexpr std::size_t kMaxRuleText = 500;    // bytes of a text
constexpr std::int64_t kMaxTimes = 100;

// A rule and a class of earlier versions, which never applied.
constexpr std::string_view kEndOfAllocation = "end of the allocation";
constexpr std::string_view kEngineClass = "engine";
constexpr const char* kNoFailure = "leave it out: an allocation that ends stops the run, which is no failure";

class RulesReader {
 public:
  RulesReader(const LocatedJson& json, const std::string& file) : json_(json), place_{file, 1} {}

  Result<std::vector<VerdictRule>> Read() {
    const Value::List* const list = json_.value.AsList();
    if (list == nullptr || list->empty() || list->size() > kMaxVerdictRules) {
      Wrong(fmt::format("the file must be a list of 1 to {} rules", kMaxVerdictRules),
            R"([{"name": "bad memory", "verdict": "exclude_host", "mentions": "ECC", "because": "…"}, "..."])");
      return Fail(std::move(problems_));
    }
    bool others = false;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Value& each = (*list)[i];
      number_ = i + 1;
      place_.line = json_.elements.at("")[i];
      if (each.AsString() != nullptr && *each.AsString() == kOthers) {
        if (others) Wrong(fmt::format("{} is there twice", Quoted(kOthers)));
        others = true;
        others_at_ = rules_.size();
      } else if (each.AsString() != nullptr) {
        Named(*each.AsString());
      } else {
        Rule(each);
      }
    }
    if (others) {
      std::vector<VerdictRule> rest;
      for (const VerdictRule& rule : DefaultVerdictRules()) {
        if (!Has(rule.name)) rest.push_back(rule);
      }
      rules_.insert(rules_.begin() + static_cast<std::ptrdiff_t>(others_at_), rest.begin(), rest.end());
    }
    if (problems_.empty()) return std::move(rules_);
    std::stable_sort(problems_.begin(), problems_.end(),
                     [](const Diagnostic& a, const Diagnostic& b) { return a.place.line < b.place.line; });
    return Fail(std::move(problems_));
  }

 private:
  void Wrong(std::string message, std::string hint = {}) {
    problems_.push_back(Error("rules", place_, std::move(message), std::move(hint)));
  }
  bool Has(const std::string& name) const {
    return std::any_of(rules_.begin(), rules_.end(), [&](const VerdictRule& rule) { return rule.name == name; });
  }
  void Add(VerdictRule rule) {
    if (Has(rule.name)) return Wrong(fmt::format("there are two rules {}", Quoted(rule.name)));
    rules_.push_back(std::move(rule));
  }

  // A rule of muster, at this place.
  void Named(const std::string& name) {
    std::vector<std::string> names;
    for (const VerdictRule& rule : DefaultVerdictRules()) {
      if (rule.name == name) return Add(rule);
      names.push_back(rule.name);
    }
    if (name == kNoVerdictRule) return Wrong(kNoneIsNoRule, "leave it out");
    Wrong(fmt::format("muster has no rule {}", Quoted(name)),
          name == kEndOfAllocation ? kNoFailure : DidYouMean(name, names));
  }

  void Rule(const Value& value) {
    const Value::Map* const map = value.AsMap();
    if (map == nullptr)
      return Wrong(fmt::format("{} is no rule", JsonText(value)), "an object, or the name of a rule of muster");
    VerdictRule rule;
    rule.verdict = RestartVerdict::kRestart;
    bool has_verdict = false;
    const Place begin = place_;
    for (const auto& [name, field] : *map) {
      of_ = fmt::format("{} of rule {}", Quoted(name), number_);
      place_.line = json_.lines.at(fmt::format("[{}].{}", number_, name));
      if (name == "name") {
        rule.name = TextIn(field);
      } else if (name == "verdict") {
        has_verdict = true;
        const std::string word = TextIn(field);
        const auto found = std::find(kRestartVerdictNames.begin(), kRestartVerdictNames.end(), word);
        if (found == kRestartVerdictNames.end()) {
          Wrong(fmt::format("{} must be \"restart\", \"stop\" or \"exclude_host\", got {}", of_, Quoted(word)));
        } else {
          rule.verdict = static_cast<RestartVerdict>(found - kRestartVerdictNames.begin());
        }
      } else if (name == "classes") {
        Classes(field, rule);
      } else if (name == "same") {
        Same(TextsIn(field), rule);
      } else if (name == "was_ready") {
        rule.was_ready = TruthIn(field);
      } else if (name == "progress") {
        rule.progress = TruthIn(field);
      } else if (name == "since_progress") {
        rule.since_progress = TruthIn(field);
      } else if (name == "in_a_row") {
        rule.in_a_row = TruthIn(field);
      } else if (name == "elsewhere") {
        rule.elsewhere = TruthIn(field);
      } else if (name == "times") {
        const std::int64_t* const times = field.AsInt();
        if (times == nullptr || *times < 1 || *times > kMaxTimes) {
          Wrong(fmt::format("{} must be a whole number from 1 to {}, got {}", of_, kMaxTimes, JsonText(field)));
        } else {
          rule.times = static_cast<std::uint32_t>(*times);
        }
      } else if (name == "mentions") {
        rule.mentions = TextIn(field);
      } else if (name == "because") {
        rule.because = TextIn(field);
        Placeholders(rule.because);
      } else {
        static const std::vector<std::string> kNames = {"name",      "verdict",  "classes",        "same",
                                                        "was_ready", "progress", "since_progress", "in_a_row",
                                                        "elsewhere", "times",    "mentions",       "because"};
        Wrong(fmt::format("{} is not known", of_), DidYouMean(name, kNames));
      }
    }
    place_ = begin;
    if (rule.name == kNoVerdictRule || rule.name == kOthers)
      return Wrong(fmt::format("rule {} cannot have the name {}", number_, Quoted(rule.name)), "give it another one");
    if (rule.name.empty() || !has_verdict || rule.because.empty()) {
      return Wrong(
          fmt::format("rule {} needs name, verdict and because", number_),
          "because is the evidence, in which " + Joined(kEvidencePlaceholders, ", ", " and ") + " are replaced");
    }
    Add(std::move(rule));
  }

  void Classes(const Value& value, VerdictRule& rule) {
    rule.classes = TextsIn(value);
    if (rule.classes.empty()) Wrong(fmt::format("{} has no class: leave it out for all", of_));
    const std::vector<std::string> known(kFailureClassNames.begin(), kFailureClassNames.end());
    for (const std::string& name : rule.classes) {
      if (name.empty() || std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string hint = name == kEngineClass ? kNoFailure : DidYouMean(name, known);
      Wrong(fmt::format("{}: there is no class {}", of_, Quoted(name)),
            hint.empty() ? Joined(known, ", ", " and ") + " are classes of failures" : hint);
    }
  }

  void Placeholders(std::string_view text) {
    for (std::size_t begin = text.find('{'); begin != std::string_view::npos; begin = text.find('{', begin + 1)) {
      const std::size_t end = text.find('}', begin);
      if (end == std::string_view::npos) return;
      const std::string_view name = text.substr(begin, end + 1 - begin);
      if (std::find(kEvidencePlaceholders.begin(), kEvidencePlaceholders.end(), name) == kEvidencePlaceholders.end())
        Wrong(fmt::format("{} has {}, which nothing replaces", of_, Quoted(name)),
              Joined(kEvidencePlaceholders, ", ", " and ") + " are replaced");
    }
  }

  void Same(const std::vector<std::string>& words, VerdictRule& rule) {
    for (const std::string& word : words) {
      if (word == "fingerprint") {
        rule.same_fingerprint = true;
      } else if (word == "step") {
        rule.same_step = true;
      } else if (word == "host") {
        rule.same_host = true;
      } else if (word == "shape") {
        rule.same_shape = true;
      } else {
        Wrong(fmt::format("{} has \"fingerprint\", \"step\", \"host\" and \"shape\", got {}", of_, Quoted(word)));
      }
    }
  }

  std::string TextIn(const Value& value) {
    const std::string* const text = value.AsString();
    if (text != nullptr && !text->empty() && text->size() <= kMaxRuleText && Printable(*text) == *text) return *text;
    Wrong(
        fmt::format("{} must be a text of one line and at most {} bytes, got {}", of_, kMaxRuleText, JsonText(value)));
    return {};
  }
  std::vector<std::string> TextsIn(const Value& value) {
    std::vector<std::string> texts;
    if (value.AsList() == nullptr || value.AsList()->size() > kMaxVerdictRules) {
      Wrong(fmt::format("{} must be a list of texts, got {}", of_, JsonText(value)));
      return texts;
    }
    for (const Value& each : *value.AsList()) texts.push_back(TextIn(each));
    return texts;
  }
  bool TruthIn(const Value& value) {
    if (value.AsBool() != nullptr) return *value.AsBool();
    Wrong(fmt::format("{} must be true or false, got {}", of_, JsonText(value)));
    return false;
  }

  const LocatedJson& json_;
  Place place_;             // of the rule, or of its member that is read
  std::size_t number_ = 0;  // of the rule in the list, from 1
  Diagnostics problems_;
  std::vector<VerdictRule> rules_;
  std::size_t others_at_ = 0;
  std::string of_;
};

}  // namespace

Result<std::vector<VerdictRule>> VerdictRulesFromJson(std::string_view text, const std::string& file) {
  const auto json = LocatedJsonFromText(text);
  if (!json) return Fail(Error("rules", {file, json.error().line}, json.error().message));
  return RulesReader(*json, file).Read();
}

}  // namespace muster
