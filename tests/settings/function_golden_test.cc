// What muster says of every function with parameters: golden/functions.txt has the diagnostics of calls that are made
// from the schema's records (function_cases.h). A new function or parameter changes that file.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "settings/function_cases.h"
#include "settings/real_schema.h"
#include "support/golden.h"

namespace muster {
namespace {

std::string Shown(const NamedCall& call) {
  return call.function + (call.arguments.contains(std::string(kCalled)) && call.arguments.size() == 1
                              ? "()"
                              : " " + ToText(Value(call.arguments)));
}

std::string Shown(const FunctionCase& one) {
  std::string text;
  for (const NamedCall& before : one.before) text += Shown(before) + " ; ";
  return text + Shown(one.call);
}

// Without the releases in the texts, so that releases which say the same stand together.
std::string WithoutRelease(std::string text, const Release& release) {
  const std::string name = ReleaseText(release);
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at))
    text.replace(at, name.size(), "X");
  return text;
}

std::string Shown(const Diagnostics& diagnostics, const Release& release) {
  if (diagnostics.empty()) return "  ok\n";
  std::string text;
  for (const Diagnostic& each : diagnostics) {
    text += std::string("  ") + (each.severity == Severity::kError ? "error " : "warning ") + each.kind + ": " +
            each.message + "\n";
    if (!each.hint.empty()) text += "    hint: " + each.hint + "\n";
    for (const Note& note : each.notes) text += "    note: " + note.message + "\n";
  }
  return WithoutRelease(std::move(text), release);
}

Diagnostics Outcome(const FunctionCase& one, const Release& release) {
  Context context(RealSchema(), release);
  std::uint32_t line = 0;
  for (const NamedCall& before : one.before) {
    const Diagnostics found = context.Apply(before.function, before.arguments, At(++line));
    EXPECT_FALSE(HasErrors(found)) << Shown(before) << " in " << ReleaseText(release) << ": " << found.front().message;
  }
  return context.Apply(one.call.function, one.call.arguments, At(9));
}

std::vector<Release> Releases() {
  std::vector<Release> releases;
  for (const ReleaseFacts& facts : RealSchema().releases()) {
    if (*ParseRelease("2.4.0") <= facts.release) releases.push_back(facts.release);
  }
  return releases;
}

std::string Spans(const std::vector<Release>& releases) {
  std::string text;
  for (const Release& release : releases) text += (text.empty() ? "" : ", ") + ReleaseText(release);
  return text;
}

// All cases of one function: each with its outcomes, and the releases of each outcome.
std::string PageOf(const Function& function) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::pair<std::string, std::vector<Release>>>> outcomes;
  for (const Release& release : Releases()) {
    // A release without the function: one call says so.
    const bool there = function.since <= release;
    const auto cases = CasesOf(RealSchema(), function, there ? release : function.since);
    for (const FunctionCase& one : there ? cases : std::vector{cases.front()}) {
      const std::string shown = Shown(one);
      const std::string outcome = Shown(Outcome(one, release), release);
      auto& known = outcomes[shown];
      if (known.empty()) order.push_back(shown);
      const auto same =
          std::find_if(known.begin(), known.end(), [&](const auto& entry) { return entry.first == outcome; });
      if (same == known.end()) {
        known.push_back({outcome, {release}});
      } else {
        same->second.push_back(release);
      }
    }
  }
  std::string text = "[" + function.name + "]\n";
  for (const std::string& shown : order) {
    text += shown + "\n";
    for (const auto& [outcome, releases] : outcomes[shown]) text += " " + Spans(releases) + "\n" + outcome;
  }
  return text + "\n";
}

TEST(FunctionGoldens, HaveEveryFunctionWithEveryMistake) {
  std::string text = "X is the release of the line before.\n\n";
  for (const auto& [name, function] : RealSchema().calls()) text += PageOf(function);
  testing::ExpectGolden(text, "tests/settings/golden/functions.txt");
}

// The cases themselves: whatever a record says is tried.
TEST(FunctionGoldens, TryEveryParameterWithGoodAndBadValues) {
  for (const Release& release : Releases()) {
    for (const auto& [name, function] : RealSchema().calls()) {
      if (release < function.since) continue;
      std::set<std::string> kinds;
      std::set<std::string> taken;
      std::set<std::string> refused;
      for (const FunctionCase& one : CasesOf(RealSchema(), function, release)) {
        const Diagnostics found = Outcome(one, release);
        for (const Diagnostic& each : found) kinds.insert(each.kind);
        for (const auto& [parameter, unused] : one.call.arguments) {
          if (one.call.function == name) (HasErrors(found) ? refused : taken).insert(parameter);
        }
      }
      EXPECT_TRUE(kinds.contains("unknown_key") || kinds.contains("unknown_subkey")) << name;
      // With a single value nothing can be repeated with another one.
      if (function.repeats != Function::Repeats::kSame) {
        EXPECT_EQ(kinds.contains("repeated"), function.repeats == Function::Repeats::kOnce) << name;
      }
      EXPECT_EQ(kinds.contains("wrong_device"), !function.devices.empty()) << name;
      for (const std::string& parameter : function.parameters) {
        const Attribute* record = RealSchema().Find(name, parameter, release);
        if (record == nullptr) continue;
        EXPECT_TRUE(taken.contains(parameter)) << name << " " << parameter << " in " << ReleaseText(release);
        EXPECT_TRUE(refused.contains(parameter)) << name << " " << parameter << " in " << ReleaseText(release);
        EXPECT_TRUE(!record->required || kinds.contains("missing_argument")) << name << " " << parameter;
        EXPECT_TRUE(record->replaces.empty() || kinds.contains("conflict")) << name << " " << parameter;
      }
    }
  }
}

}  // namespace
}  // namespace muster
