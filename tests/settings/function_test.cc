// The functions with parameters (set_device, runtime.*, device_context.*): the table in cases/functions.txt.
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "settings/case_file.h"
#include "settings/real_schema.h"

namespace muster {
namespace {

struct OneCall {
  std::string function;
  Value::Map arguments;
};

std::vector<OneCall> CallsIn(const std::string& text) {
  std::vector<OneCall> calls;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(" ; ", begin), text.size());
    const std::string call = text.substr(begin, end - begin);
    const std::size_t blank = call.find(' ');
    const Value arguments = LuaValue(call.substr(blank + 1));
    calls.push_back({call.substr(0, blank), arguments.AsMap() == nullptr ? Value::Map{} : *arguments.AsMap()});
    begin = end + 3;
  }
  return calls;
}

void Check(const std::string& line, const Release& release, const std::vector<OneCall>& calls,
           const std::string& outcome) {
  SCOPED_TRACE(line + " (" + ReleaseText(release) + ")");
  Context context(RealSchema(), release);
  for (std::size_t i = 0; i + 1 < calls.size(); ++i) {
    EXPECT_FALSE(
        HasErrors(context.Apply(calls[i].function, calls[i].arguments, At(static_cast<std::uint32_t>(i + 1)))));
  }
  const auto before = context.Settled();
  const Diagnostics found = context.Apply(calls.back().function, calls.back().arguments, At(9));
  if (outcome == "ok") {
    EXPECT_TRUE(found.empty()) << Shown(found);
    return;
  }
  const bool warns = outcome.starts_with("warn ");
  const std::string expected = warns ? outcome.substr(5) : outcome;
  ASSERT_EQ(found.size(), 1U) << Shown(found);
  EXPECT_EQ(found[0].severity, warns ? Severity::kWarning : Severity::kError);
  EXPECT_EQ(found[0].kind, expected.substr(0, expected.find(": "))) << Shown(found);
  EXPECT_NE(found[0].message.find(expected.substr(expected.find(": ") + 2)), std::string::npos) << Shown(found);
  EXPECT_EQ(found[0].place, At(9));
  if (!warns) {
    EXPECT_EQ(context.Settled(), before);
  }
}

TEST(FunctionCalls, AreTakenAndRefusedAsTheReleaseDoes) {
  std::set<std::string> taken;
  std::set<std::string> refused;
  for (const std::string& line : ReadLines("functions.txt")) {
    const std::size_t colon = line.find(": ");
    const std::size_t arrow = line.rfind(" => ");
    ASSERT_TRUE(colon != std::string::npos && arrow != std::string::npos) << line;
    const std::vector<OneCall> calls = CallsIn(line.substr(colon + 2, arrow - colon - 2));
    const std::string outcome = line.substr(arrow + 4);
    for (const Release& release : Between(line.substr(0, colon))) Check(line, release, calls, outcome);
    (outcome == "ok" ? taken : refused).insert(calls.back().function);
  }
  for (const auto& [name, function] : RealSchema().calls()) {
    EXPECT_TRUE(taken.contains(name)) << name << " has no call that is taken";
    EXPECT_TRUE(refused.contains(name)) << name << " has no call that is refused";
    EXPECT_FALSE(function.doc.empty()) << name;
  }
}

TEST(FunctionCalls, NameWhereTheFirstCallIs) {
  Context context(RealSchema(), *ParseRelease("2.6.0"));
  EXPECT_TRUE(context.Apply("runtime.set_memory", {{"max_size", "3GB"}}, At(4)).empty());
  const Diagnostic again = Only(context.Apply("runtime.set_memory", {{"init_size", "3GB"}}, At(7)));
  EXPECT_EQ(again.kind, "repeated");
  ASSERT_EQ(again.notes.size(), 1U);
  EXPECT_EQ(again.notes[0].place, At(4));
  EXPECT_EQ(context.Settled(), (std::map<std::string, Value>{{"runtime.set_memory.max_size", Value("3GB")}}));
}

// A recipe that extends another one replaces its call as a whole.
TEST(FunctionCalls, OfAnExtendedRecipeAreReplaced) {
  Context context(RealSchema(), *ParseRelease("2.6.0"));
  EXPECT_TRUE(context.Apply("runtime.set_memory", {{"max_size", "3GB"}}, {"base.lua", 4}).empty());
  EXPECT_TRUE(context.Apply("runtime.set_memory", {{"init_size", "1GB"}}, {"mine.lua", 4}).empty());
  EXPECT_EQ(context.Settled(), (std::map<std::string, Value>{{"runtime.set_memory.init_size", Value("1GB")}}));
}

// What is the job's may be given again where a function is called for one process, and nothing else of it.
TEST(FunctionCalls, OfOneProcessRepeatWhatIsTheJobs) {
  Context job(RealSchema(), *ParseRelease("2.6.0"));
  EXPECT_TRUE(job.Apply("set_device", {{"device_target", "Ascend"}}, At(1)).empty());
  Context process = job.Overlay();
  EXPECT_TRUE(process.Apply("set_device", {{"device_target", "Ascend"}, {"device_id", 2}}, At(2)).empty());
  EXPECT_EQ(process.Settled(), (std::map<std::string, Value>{{"set_device.device_id", Value(2)}}));
  Context other = job.Overlay();
  EXPECT_TRUE(other.Apply("set_device", {{"device_id", 3}}, At(3)).empty());
  Context third = job.Overlay();
  EXPECT_EQ(Only(third.Apply("set_device", {{"device_target", "CPU"}}, At(4))).kind, "scope");
}

TEST(FunctionCalls, OfSetDeviceHoldForWhatAsksForTheDevice) {
  Context context(RealSchema(), *ParseRelease("2.6.0"));
  EXPECT_TRUE(context.Apply("set_device", {{"device_target", "CPU"}}, At(1)).empty());
  ASSERT_NE(context.Find("set_context", "device_target"), nullptr);
  EXPECT_EQ(context.Find("set_context", "device_target")->value, Value("CPU"));
  EXPECT_EQ(Only(context.Apply("set_context", {{"gpu_config", Value::Map{{"conv_fprop_algo", "fft"}}}}, At(2))).kind,
            "wrong_device");
}

// What a parameter wins over is where the rewriting of recipes takes its value from; except for those of parallel,
// which need a change of the training script as well.
TEST(Functions, ReplaceWhatMovedToThem) {
  const Schema& schema = RealSchema();
  const Release newest = schema.releases().back().release;
  for (const auto& [name, function] : schema.calls()) {
    if (name == "parallel") continue;
    for (const auto& [parameter, records] : schema.attributes(name)) {
      if (records.back().replaces.empty()) continue;
      const std::string& old = records.back().replaces;
      const std::size_t dot = old.find('.');
      const Attribute* attribute = schema.Find(old.substr(0, dot), old.substr(dot + 1), newest);
      ASSERT_NE(attribute, nullptr) << old;
      EXPECT_EQ(attribute->moved.function, name) << old;
      EXPECT_EQ(ParameterOf(attribute->moved, function), parameter) << old;
    }
  }
}

}  // namespace
}  // namespace muster
