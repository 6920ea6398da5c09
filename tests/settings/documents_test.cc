// Tests the content of the documents, row by row: example lines, and tables of names, defaults, platforms, groups and
// reset values.
#include <algorithm>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "settings/case_file.h"
#include "settings/real_schema.h"

namespace muster {
namespace {

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string KindsText(const Diagnostics& diagnostics) {
  std::vector<std::string> kinds;
  for (const Diagnostic& each : diagnostics) kinds.push_back(each.kind);
  std::sort(kinds.begin(), kinds.end());
  std::string text;
  for (const std::string& kind : kinds) text += (text.empty() ? "" : " ") + kind;
  return text.empty() ? "ok" : text;
}

// --- examples -------------------------------------------------------------------------------------

// "57: set_context { mode = context.GRAPH_MODE } => ok" in a fresh context.
void RunExample(const std::string& line, const Release& release) {
  const std::size_t colon = line.find(": ");
  const std::size_t arrow = line.rfind(" => ");
  ASSERT_TRUE(colon != std::string::npos && arrow != std::string::npos) << line;
  const std::string call = line.substr(colon + 2, arrow - colon - 2);
  const std::string function = call.substr(0, call.find(' '));
  const Value argument = LuaValue(call.substr(call.find(' ') + 1));
  Context context(RealSchema(), release);
  if (function.starts_with("get_")) {
    ASSERT_NE(argument.AsString(), nullptr) << line;
    const auto reading = context.Get("s" + function.substr(1), *argument.AsString(), At(1));
    ASSERT_TRUE(reading) << line << ": " << reading.error().front().message;
    EXPECT_EQ(KindsText(reading->warnings), line.substr(arrow + 4)) << line;
    return;
  }
  ASSERT_NE(argument.AsMap(), nullptr) << line;
  const Diagnostics diagnostics = context.Apply(function, *argument.AsMap(), At(1));
  EXPECT_FALSE(HasErrors(diagnostics)) << line << ": " << diagnostics.front().message;
  EXPECT_EQ(KindsText(diagnostics), line.substr(arrow + 4)) << line;
}

// The examples of the document with that title; the number of them.
std::size_t RunExamplesOf(const std::string& title) {
  std::size_t count = 0;
  std::optional<Release> release;
  for (const std::string& line : ReadLines("examples.txt")) {
    if (line.front() == '[') {
      release = line.starts_with("[" + title + "]") ? ParseRelease(line.substr(line.find(']') + 2)) : std::nullopt;
    } else if (release) {
      SCOPED_TRACE(title + ", line " + line.substr(0, line.find(':')));
      RunExample(line, *release);
      ++count;
    }
  }
  return count;
}

TEST(DocumentExamples, OfThePageOf03AreTaken) { EXPECT_EQ(RunExamplesOf("API page of 0.3"), 20U); }
TEST(DocumentExamples, OfTheGuideOf10AreTaken) { EXPECT_EQ(RunExamplesOf("programming guide of 1.0"), 10U); }
TEST(DocumentExamples, OfThePageOf16AreTaken) { EXPECT_EQ(RunExamplesOf("API page of 1.6"), 45U); }
TEST(DocumentExamples, OfThePageOf230rc2AreTaken) { EXPECT_EQ(RunExamplesOf("page of set_context of 2.3.0-rc2"), 2U); }
TEST(DocumentExamples, OfThePageOf231AreTaken) { EXPECT_EQ(RunExamplesOf("page of set_context of 2.3.1"), 2U); }

// --- names ----------------------------------------------------------------------------------------

TEST(DocumentNames, AreTheAttributesOfEachRelease) {
  std::set<std::string> seen;
  for (const std::string& line : ReadLines("names.txt")) {
    const std::size_t colon = line.find(": ");
    const std::vector<std::string> head = Words(line.substr(0, colon));
    ASSERT_EQ(head.size(), 3U) << line;
    const Release release = *ParseRelease(head[0]);
    const bool undocumented = head[2] == "undocumented";
    std::vector<std::string> names;
    for (const std::string& name : RealSchema().Names(head[1], release)) {
      const Attribute& attribute = *RealSchema().Find(head[1], name, release);
      if (attribute.tells_if_set.empty() && attribute.undocumented == undocumented) names.push_back(name);
    }
    EXPECT_EQ(names, Words(line.substr(colon + 2))) << head[0] << " " << head[1] << " " << head[2];
    seen.insert(head[0] + " " + head[1]);
  }
  // Ten releases of three functions, and 0.3 has no set_ps_context.
  EXPECT_EQ(seen.size(), 29U);
  EXPECT_FALSE(RealSchema().Knows(kPs, {0, 3, 1}));
}

// Sub-keys that native code also knows by their own names are found under their tables.
TEST(DocumentRecords, OfReleasesFrom25HaveTheirStatusAndSuccessor) {
  std::set<std::string> seen;
  for (const Case& test : ReadCases("records_from_25.txt")) {
    const std::vector<std::string> words = Words(test.value);  // documented|undocumented status successor
    ASSERT_EQ(words.size(), 3U) << test.where;
    const std::string& status = words[1];
    seen.insert(ReleaseText(test.release) + test.api + test.attribute);
    const Attribute* attribute = RealSchema().Find(test.api, test.attribute, test.release);
    const auto own_name = RealSchema().FindOwnName(test.api, test.attribute, test.release);
    ASSERT_EQ(attribute == nullptr && !own_name, status == "removed") << test.where;
    if (attribute == nullptr) {
      // Under its own name neither is taken; the hint names the table, or what replaces it.
      Context context(RealSchema(), test.release);
      const Diagnostic error = Only(context.Apply(test.api, {{test.attribute, Value(true)}}, At(1)));
      EXPECT_EQ(error.kind, status == "sub_key" ? "use_nested_dict" : "release") << test.where;
      EXPECT_NE(error.hint.find(words[2]), std::string::npos) << test.where << ": " << error.hint;
      EXPECT_EQ(own_name ? own_name->table->name : "", status == "sub_key" ? words[2] : "") << test.where;
      continue;
    }
    EXPECT_EQ(attribute->undocumented && attribute->tells_if_set.empty(),
              words[0] == "undocumented" && status != "read_only")
        << test.where;
    EXPECT_EQ(attribute->deprecated, status == "deprecated") << test.where;
    EXPECT_TRUE(status != "withdrawn" || attribute->withdrawn || attribute->choices.size() == 1) << test.where;
    EXPECT_EQ(!attribute->tells_if_set.empty(), status == "read_only") << test.where;
    const std::size_t named = words[2] == "-" ? 0 : attribute->successor.find(words[2]);
    EXPECT_NE(named, std::string::npos) << test.where;
  }
  EXPECT_EQ(seen.size(), 390U);
}

// --- defaults -------------------------------------------------------------------------------------

TEST(DocumentDefaults, AreWhatFreshContextsRead) {
  std::set<std::string> seen;
  for (const Case& test : ReadCases("defaults.txt")) {
    Context context = Prepared(test);
    const auto reading = context.Get(test.api, test.attribute, At(1));
    seen.insert(ReleaseText(test.release) + test.api + test.attribute);
    if (test.outcome == "unreadable") {
      ASSERT_FALSE(reading) << test.where;
      EXPECT_EQ(reading.error().front().kind, "not_readable") << test.where;
      continue;
    }
    ASSERT_TRUE(reading) << test.where << ": " << reading.error().front().message;
    if (test.outcome.starts_with("text: ")) {
      EXPECT_TRUE(reading->value.IsNull()) << test.where << ": " << ToText(reading->value);
      EXPECT_NE(SourceText(reading->source).find(test.outcome.substr(6)), std::string::npos)
          << test.where << ": " << SourceText(reading->source);
    } else {
      const Value wanted = LuaValue(test.outcome);
      const bool both_empty = wanted == Value(Value::Map{}) && reading->value == Value(Value::List{});
      EXPECT_TRUE(reading->value == wanted || both_empty) << test.where << ": " << ToText(reading->value);
    }
  }
  for (const ReleaseFacts& facts : RealSchema().releases()) {
    for (const std::string& api : RealSchema().Functions()) {
      for (const std::string& name : RealSchema().Names(api, facts.release)) {
        EXPECT_TRUE(seen.contains(ReleaseText(facts.release) + api + name)) << name << " has no line";
      }
    }
  }
}

// --- what is read back ----------------------------------------------------------------------------

TEST(DocumentReadings, AreWhatTheReleaseReadsBack) {
  for (const Case& test : ReadCases("reads.txt")) {
    Context context = Prepared(test);
    const Diagnostics said = context.Apply(test.api, {{test.attribute, LuaValue(test.value)}}, At(1));
    ASSERT_FALSE(HasErrors(said)) << test.where << ": " << said.front().message;
    const std::size_t as = test.outcome.rfind(" as ");
    const std::string name = as == std::string::npos ? test.attribute : test.outcome.substr(as + 4);
    const auto reading = context.Get(test.api, name, At(2));
    if (test.outcome == "unreadable") {
      ASSERT_FALSE(reading) << test.where;
      EXPECT_EQ(reading.error().front().kind, "not_readable") << test.where;
      continue;
    }
    ASSERT_TRUE(reading) << test.where << ": " << reading.error().front().message;
    EXPECT_EQ(reading->value, LuaValue(test.outcome.substr(0, as))) << test.where << ": " << ToText(reading->value);
  }
}

// --- platforms and groups -------------------------------------------------------------------------

TEST(DocumentPlatforms, AreThoseOfTheTables) {
  std::map<std::string, std::size_t> rows;
  for (const std::string& line : ReadLines("platforms.txt")) {
    const std::vector<std::string> words = Words(line);
    ASSERT_EQ(words.size(), 4U) << line;
    ++rows[words[0]];
    const Attribute* attribute = RealSchema().Find("set_context", words[2], *ParseRelease(words[0]));
    ASSERT_NE(attribute, nullptr) << line;
    EXPECT_EQ(attribute->group, words[1]) << line;
    std::set<std::string> wanted;
    std::istringstream stream(words[3]);
    for (std::string device; std::getline(stream, device, '/');) wanted.insert(device);
    std::set<std::string> devices(attribute->devices.begin(), attribute->devices.end());
    if (devices.empty()) devices = {"Ascend", "CPU", "GPU"};
    EXPECT_EQ(devices, wanted) << line;
  }
  EXPECT_EQ(rows, (std::map<std::string, std::size_t>{
                      {"1.6.2", 27}, {"2.3.0-rc2", 37}, {"2.3.1", 38}, {"2.5.0", 35}, {"2.6.0", 35}, {"2.7.0", 35}}));
}

TEST(DocumentGroups, AreThoseOfTheTables) {
  for (const std::string& line : ReadLines("groups.txt")) {
    const std::size_t colon = line.find(": ");
    const std::vector<std::string> head = Words(line.substr(0, colon));
    ASSERT_EQ(head.size(), 3U) << line;
    for (const std::string& name : Words(line.substr(colon + 2))) {
      const Attribute* attribute = nullptr;
      for (const char* api : {"set_context", kAuto}) {
        const Attribute* found = RealSchema().Find(api, name, *ParseRelease(head[0]));
        if (found != nullptr) attribute = found;
      }
      ASSERT_NE(attribute, nullptr) << name;
      EXPECT_EQ(head[1] == "group" ? attribute->group : attribute->area, head[2]) << name;
    }
  }
}

// --- resets ---------------------------------------------------------------------------------------

TEST(DocumentResets, RestoreTheValuesOfTheRelease) {
  for (const Case& test : ReadCases("resets.txt")) {
    Context context(RealSchema(), test.release);
    if (test.api == kAuto) {
      ASSERT_TRUE(context.Apply("set_context", {{"mode", 0}}, At(1)).empty()) << test.where;
    }
    const Diagnostics said = context.Apply(test.api, {{test.attribute, LuaValue(test.value)}}, At(2));
    ASSERT_FALSE(HasErrors(said)) << test.where << ": " << said.front().message;
    const std::string key = test.api + "." + test.attribute;
    ASSERT_TRUE(context.Settled().contains(key)) << test.where;
    ASSERT_TRUE(context.Reset(test.api == kPs ? kPs : kAuto, At(3)).empty()) << test.where;
    EXPECT_EQ(context.Settled().contains(key), test.outcome == "kept") << test.where;
    if (test.outcome == "kept" || test.outcome == "unset") continue;
    const auto reading = context.Get(test.api, test.attribute, At(4));
    ASSERT_TRUE(reading) << test.where << ": " << reading.error().front().message;
    const Value wanted = LuaValue(test.outcome);
    const bool both_empty = wanted == Value(Value::Map{}) && reading->value == Value(Value::List{});
    EXPECT_TRUE(reading->value == wanted || both_empty) << test.where << ": " << ToText(reading->value);
    EXPECT_EQ(reading->source.kind, SettingSource::Kind::kReset) << test.where;
  }
}

}  // namespace
}  // namespace muster
