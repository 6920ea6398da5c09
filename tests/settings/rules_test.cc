// Tests every rule between settings, in every release: violations, valid cases, and releases without the rule. The
// cases are in cases/rules.txt.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "settings/case_file.h"
#include "settings/real_schema.h"

namespace muster {
namespace {

// "gradients_mean/modes_documented 1.0.1..2.4.0 workers=4: set_context { … } ; set_ps_context { … } => OUTCOME"
struct RuleCase {
  std::string where;
  std::string rule;
  std::string releases;
  std::map<std::string, std::uint32_t> facts;
  std::vector<std::pair<std::string, Value>> calls;
  std::string outcome;

  bool Fires() const { return outcome.starts_with("error ") || outcome.starts_with("warning "); }
  // The wanted "error KIND: part", of this rule or of another.
  std::string Wanted() const { return outcome.starts_with("other ") ? outcome.substr(6) : outcome; }
};

std::string_view Trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

RuleCase CaseOf(const std::string& line) {
  RuleCase test;
  test.where = line;
  const std::size_t colon = line.find(": ");
  const std::size_t arrow = line.rfind(" => ");
  if (colon == std::string::npos || arrow == std::string::npos || arrow < colon) {
    ADD_FAILURE() << "no case: " << line;
    return test;
  }
  std::istringstream head(line.substr(0, colon));
  head >> test.rule >> test.releases;
  for (std::string fact; head >> fact;) {
    const std::size_t equals = fact.find('=');
    test.facts[fact.substr(0, equals)] = static_cast<std::uint32_t>(std::stoul(fact.substr(equals + 1)));
  }
  std::string_view calls = std::string_view(line).substr(colon + 2, arrow - colon - 2);
  while (!calls.empty()) {
    const std::size_t end = calls.find(" ; ");
    const std::string_view call = Trimmed(calls.substr(0, end));
    calls.remove_prefix(end == std::string_view::npos ? calls.size() : end + 3);
    const std::size_t blank = call.find(' ');
    test.calls.emplace_back(call.substr(0, blank), LuaValue(std::string(call.substr(blank + 1))));
  }
  test.outcome = line.substr(arrow + 4);
  return test;
}

const std::vector<RuleCase>& Cases() {
  static const std::vector<RuleCase> cases = [] {
    std::vector<RuleCase> read;
    for (const std::string& line : ReadLines("rules.txt")) read.push_back(CaseOf(line));
    return read;
  }();
  return cases;
}

// Everything that the calls and the job as a whole give rise to.
Diagnostics Said(const RuleCase& test, const Release& release) {
  static const Value::Map kNothing;
  Context context(RealSchema(), release);
  Diagnostics said;
  std::uint32_t line = 0;
  for (const auto& [function, arguments] : test.calls) {
    const Diagnostics more = context.Apply(function, arguments.AsMap() ? *arguments.AsMap() : kNothing, At(++line));
    said.insert(said.end(), more.begin(), more.end());
  }
  if (HasErrors(said)) return said;
  const auto fact = [&](const char* name, std::uint32_t otherwise) {
    const auto found = test.facts.find(name);
    return found == test.facts.end() ? otherwise : found->second;
  };
  JobFacts facts;
  facts.workers = fact("workers", 1);
  facts.workers_notes = {{"the number of workers", {}}};
  facts.processes_on_a_host = fact("on_a_host", 1);
  facts.processes_notes = {{"the number of processes", {}}};
  for (std::uint32_t rank = 0; rank < facts.workers; ++rank) {
    ProcessFacts process{"worker." + std::to_string(rank), nullptr, rank, rank, {}};
    if (test.facts.contains("visible")) process.visible_devices = test.facts.at("visible");
    if (test.facts.contains("own_device")) process.device = rank;
    if (test.facts.contains("host_devices")) process.host_devices = test.facts.at("host_devices");
    facts.processes.push_back(process);
  }
  const Diagnostics more = CheckTogether(context, facts);
  said.insert(said.end(), more.begin(), more.end());
  return said;
}

void Check(const RuleCase& test, const Release& release) {
  SCOPED_TRACE(test.where + " (" + ReleaseText(release) + ")");
  const Diagnostics said = Said(test, release);
  if (test.outcome.starts_with("not there: ")) {
    const bool refused = std::any_of(said.begin(), said.end(), [&](const Diagnostic& each) {
      return each.severity == Severity::kError && each.kind == test.outcome.substr(11);
    });
    EXPECT_TRUE(refused) << Shown(said);
    return;
  }
  Diagnostics cited;
  for (const Diagnostic& each : said) {
    const bool cites = !each.notes.empty() && each.notes.back().message.starts_with("rule: ");
    if (cites) cited.push_back(each);
    EXPECT_TRUE(cites || each.severity == Severity::kWarning) << Shown(said);
  }
  if (test.outcome == "silent") {
    EXPECT_TRUE(cited.empty()) << Shown(said);
    return;
  }
  ASSERT_EQ(cited.size(), 1U) << Shown(said);
  const Diagnostic& diagnostic = cited.front();
  const std::string severity = diagnostic.severity == Severity::kError ? "error " : "warning ";
  const std::string wanted = test.Wanted();
  const std::size_t colon = wanted.find(": ");
  ASSERT_NE(colon, std::string::npos);
  EXPECT_EQ(severity + diagnostic.kind, wanted.substr(0, colon)) << Shown(said);
  EXPECT_NE(diagnostic.message.find(wanted.substr(colon + 2)), std::string::npos) << Shown(said);
  EXPECT_FALSE(diagnostic.place.file.empty());
}

std::vector<Release> Described() {
  std::vector<Release> releases;
  for (const ReleaseFacts& facts : RealSchema().releases()) {
    if (facts.described) releases.push_back(facts.release);
  }
  return releases;
}

bool Within(const std::string& range, const Release& release) {
  const std::size_t dots = range.find("..");
  const auto first = ParseRelease(range.substr(0, dots));
  const auto last = dots == std::string::npos ? first : ParseRelease(range.substr(dots + 2));
  return first && last && *first <= release && release <= *last;
}

TEST(Rules, FireWhereTheyHoldAndNowhereElse) {
  EXPECT_GE(Cases().size(), 250U);
  for (const RuleCase& test : Cases()) {
    std::size_t releases = 0;
    for (const Release& release : Described()) {
      if (!Within(test.releases, release)) continue;
      ++releases;
      Check(test, release);
    }
    EXPECT_GT(releases, 0U) << test.where;
  }
}

// --- all rules there are ---------------------------------------------------------------------------

// A rule with its sources, by release.
struct Known {
  std::map<Release, RuleSource> sources;
  bool refuses = false;
};

bool HasField(const Attribute& attribute, const std::string& field) {
  const std::map<std::string, bool> present = {
      {"modes", !attribute.modes.empty()},
      {"modes_documented", !attribute.modes_documented.empty()},
      {"divides", !attribute.divides.empty()},
      {"below", !attribute.below.empty()},
      {"pynative", !attribute.pynative.empty()},
      {"carried_modes", !attribute.carried_modes.empty()},
      {"needs_pynative", attribute.needs_pynative},
      {"shares", !attribute.shares.empty()},
      {"flags", !attribute.flags.empty()},
      {"needs", !attribute.needs.empty()},
      {"fits", !attribute.fits.empty()},
      {"reset_first", attribute.reset_first},
  };
  const auto found = present.find(field);
  return found != present.end() && found->second;
}

const std::vector<std::string> kFields = {"modes",         "modes_documented", "divides", "below",          "pynative",
                                          "carried_modes", "shares",           "flags",   "needs_pynative", "needs",
                                          "fits",          "reset_first"};
// Rules that are code, by the name of their source.
const std::vector<std::string> kCounted = {"workers", "rank", "visible", "host",  "device",
                                           "shards",  "cuts", "layouts", "target"};

void AddCounted(const std::string& name, const Attribute& attribute, const Release& release,
                std::map<std::string, Known>& rules) {
  for (const std::string& field : kCounted) {
    const auto source = attribute.sources.find(field);
    if (source != attribute.sources.end()) rules[name + "/" + field].sources[release] = source->second;
  }
}

void AddFields(const std::string& name, const Attribute& attribute, const Release& release,
               std::map<std::string, Known>& rules) {
  for (const std::string& field : kFields) {
    if (!HasField(attribute, field)) continue;
    const auto source = attribute.sources.find(field);
    EXPECT_NE(source, attribute.sources.end()) << name << "/" << field << " names no source " << ReleaseText(release);
    if (source != attribute.sources.end()) rules[name + "/" + field].sources[release] = source->second;
  }
  AddCounted(name, attribute, release, rules);
  for (const auto& [field, unused] : attribute.sources) {
    const bool counted = std::find(kCounted.begin(), kCounted.end(), field) != kCounted.end();
    EXPECT_TRUE(counted || HasField(attribute, field)) << name << " has a source for " << field << ", but no such rule";
  }
}

std::map<std::string, Known> AllRules() {
  std::map<std::string, Known> rules;
  for (const Release& release : Described()) {
    for (const Rule& rule : RealSchema().rules()) {
      if (!rule.HoldsIn(release)) continue;
      rules[rule.name].sources[release] = rule.source;
      rules[rule.name].refuses = rule.refused;
    }
    for (const std::string& function : RealSchema().Functions()) {
      for (const std::string& name : RealSchema().Names(function, release)) {
        const Attribute& attribute = *RealSchema().Find(function, name, release);
        AddFields(name, attribute, release, rules);
        for (const Attribute& key : attribute.keys) {
          if (key.ExistsIn(release)) AddFields(name + "." + key.name, key, release, rules);
        }
      }
    }
    // Of functions with parameters those that count; their other rules have tests of their own.
    for (const auto& [function, unused] : RealSchema().calls()) {
      for (const std::string& name : RealSchema().Names(function, release)) {
        const Attribute& parameter = *RealSchema().Find(function, name, release);
        AddCounted(name, parameter, release, rules);
        for (const Attribute& key : parameter.keys) {
          if (key.ExistsIn(release)) AddCounted(name + "." + key.name, key, release, rules);
        }
      }
    }
  }
  return rules;
}

// The documents that describe releases.
constexpr const char* kTitles[] = {"API page of 0.3",
                                   "programming guide of 1.0",
                                   "API page of 1.6",
                                   "descriptions of 1.9",
                                   "page of set_context of 2.3.0-rc2",
                                   "page of set_context of 2.3.1",
                                   "descriptions of 2.3",
                                   "description of AutoParallel of 2.6",
                                   "documentation of 2.3.1",
                                   "description of Layout of 2.6"};

TEST(Rules, NameTheDocumentOrTheBehaviourTheyComeFrom) {
  const std::map<std::string, Known> rules = AllRules();
  EXPECT_GE(rules.size(), 80U);
  for (const auto& [name, known] : rules) {
    for (const auto& [release, source] : known.sources) {
      EXPECT_FALSE(source.document.empty() && source.behaviour.empty()) << name;
      const auto begins = [&](const char* title) { return source.document.starts_with(title); };
      EXPECT_TRUE(source.document.empty() || std::any_of(std::begin(kTitles), std::end(kTitles), begins))
          << name << ": " << source.document;
      if (known.refuses || name.ends_with("/modes")) {
        EXPECT_FALSE(source.behaviour.empty()) << name << " refuses, " << ReleaseText(release);
      }
      if (name.ends_with("/modes_documented")) {
        EXPECT_FALSE(source.document.empty()) << name;
        EXPECT_TRUE(source.behaviour.empty()) << name;
      }
    }
  }
}

TEST(Rules, SpeakOnlyOfWhatTheyLookAt) {
  for (const Rule& rule : RealSchema().rules()) {
    for (const std::string& text : {rule.says, rule.hint}) {
      for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open + 1)) {
        std::string word = text.substr(open + 1, text.find('}', open) - open - 1);
        for (std::size_t times; (times = word.find(" × ")) != std::string::npos; word.erase(0, times + 4)) {
          EXPECT_TRUE(rule.when.contains(word.substr(0, times))) << rule.name << ": " << word;
        }
        const auto compared = [&](const auto& asked) { return asked.second.above_value_of == word; };
        EXPECT_TRUE(word == "release" || word == rule.about || rule.when.contains(word) ||
                    std::any_of(rule.when.begin(), rule.when.end(), compared))
            << rule.name << ": " << word;
      }
    }
  }
}

// In every release that a rule holds in there is a case that breaks it and one that does not, and in the nearest
// releases before and behind there is one that shows that it does not hold there.
TEST(Rules, HaveCasesOnBothSidesOfEveryBorder) {
  const std::map<std::string, Known> rules = AllRules();
  std::map<std::string, std::map<Release, std::set<bool>>> fires;
  for (const RuleCase& test : Cases()) {
    EXPECT_TRUE(rules.contains(test.rule)) << "no such rule: " << test.where;
    for (const Release& release : Described()) {
      if (Within(test.releases, release)) fires[test.rule][release].insert(test.Fires());
    }
  }
  const std::vector<Release> releases = Described();
  for (const auto& [name, known] : rules) {
    for (std::size_t i = 0; i < releases.size(); ++i) {
      const std::set<bool>& seen = fires[name][releases[i]];
      if (known.sources.contains(releases[i])) {
        EXPECT_TRUE(seen.contains(true)) << name << " is broken by no case in " << ReleaseText(releases[i]);
        EXPECT_TRUE(seen.contains(false)) << name << " is kept by no case in " << ReleaseText(releases[i]);
        continue;
      }
      EXPECT_FALSE(seen.contains(true)) << name << " does not hold in " << ReleaseText(releases[i]);
      const bool borders = (i > 0 && known.sources.contains(releases[i - 1])) ||
                           (i + 1 < releases.size() && known.sources.contains(releases[i + 1]));
      EXPECT_FALSE(borders && seen.empty()) << name << " has no case beyond its border, " << ReleaseText(releases[i]);
    }
  }
}

}  // namespace
}  // namespace muster
