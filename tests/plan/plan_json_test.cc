// Tests round trips of plans through JSON.
#include "plan/text/plan_json.h"

#include <gtest/gtest.h>

#include "base/values/value_json.h"
#include "plan/check/plan_check.h"
#include "plan/plan/roles.h"
#include "plan/sample_plan.h"
#include "plan/text/plan_text.h"

namespace muster {
namespace {

Value Parsed(const std::string& json) {
  auto value = ValueFromJsonText(json);
  EXPECT_TRUE(value) << value.error();
  return value ? *value : Value();
}

const Value& At(const Value& value, const char* key) {
  static const Value kNone;
  const Value::Map* map = value.AsMap();
  if (map == nullptr || !map->contains(key)) {
    ADD_FAILURE() << "no " << key;
    return kNone;
  }
  return map->at(key);
}

TEST(PlanJson, ShowsEveryProcessInFull) {
  const Plan plan = ParameterServerPlan();
  const Value json = Parsed(PlanToJson(plan, Value(Value::List{Value::Map{{"file", "ps.lua"}}})));
  EXPECT_EQ(At(json, "format"), Value(1));
  EXPECT_EQ(At(json, "id"), Value(PlanId(plan)));
  EXPECT_EQ(At(json, "name"), Value("parameter-server"));
  EXPECT_EQ(At(json, "params"), Value(Value::Map{{"lr", 0.5}, {"workers", 4}}));
  EXPECT_EQ(At(json, "inputs"), Value(Value::List{Value::Map{{"file", "ps.lua"}}}));
  const Value::List& processes = *At(json, "processes").AsList();
  ASSERT_EQ(processes.size(), 7U);
  const Value& worker = processes[5];
  EXPECT_EQ(At(worker, "role"), Value("worker"));
  EXPECT_EQ(At(worker, "index"), Value(2));
  EXPECT_EQ(At(worker, "rank"), Value(2));
  EXPECT_EQ(At(worker, "local_rank"), Value(2));
  EXPECT_EQ(At(worker, "host"), Value("host0"));
  EXPECT_EQ(At(worker, "devices"), Value(Value::List{}));
  EXPECT_EQ(At(worker, "command"), Value(Value::List{"ps_digits", "--epochs", "20"}));
  EXPECT_EQ(At(worker, "env"),
            Value(Value::Map{{"MS_SCHED_PORT", "${muster:port:scheduler}"}, {"MS_WORKER_NUM", "4"}, {"RANK_ID", "2"}}));
  EXPECT_EQ(At(worker, "unset"), Value(Value::List{"OMPI_*", "RANK_TABLE_FILE"}));
  EXPECT_EQ(At(At(At(worker, "context"), "set_ps_context"), "enable_ps"), Value(true));
  EXPECT_EQ(At(worker, "stage"), Value(0));
  EXPECT_TRUE(At(processes[0], "rank").IsNull());
}

TEST(PlanJson, ReadsPlansOlderThanAField) {
  const Plan plan = ParameterServerPlan();
  std::string json = PlanToJson(plan);
  for (const std::string younger : {",\n \"accept_release\": false", ",\n \"activation\": []"}) {
    ASSERT_NE(json.find(younger), std::string::npos) << younger;
    json.erase(json.find(younger), younger.size());
  }
  const auto read = PlanFromJson(json);
  ASSERT_TRUE(read) << read.error().front().message;
  EXPECT_EQ(*read, plan);
}

TEST(PlanJson, PutsEveryProcessOnItsOwnLine) {
  const std::string json = PlanToJson(ParameterServerPlan());
  std::size_t lines = 0;
  for (std::size_t at = json.find("\n  {\"role\":"); at != std::string::npos; at = json.find("\n  {\"role\":", at + 1))
    ++lines;
  EXPECT_EQ(lines, 7U);
}

TEST(PlanJson, AllowsAProcessToOverrideItsRole) {
  Plan plan = ParameterServerPlan();
  plan.processes[3].env["MS_WORKER_NUM"] = "own";
  const Value json = Parsed(PlanToJson(plan));
  EXPECT_EQ(At(At((*At(json, "processes").AsList())[3], "env"), "MS_WORKER_NUM"), Value("own"));
}

TEST(PlanJson, RoundTripsWithTheSameId) {
  std::mt19937 random(41);
  for (int round = 0; round < 300; ++round) {
    Plan plan = round == 0 ? ParameterServerPlan() : RandomPlan(random);
    Fold(plan);
    ASSERT_TRUE(ValidatePlan(plan).empty()) << ValidatePlan(plan).front().message;
    const auto back = PlanFromJson(PlanToJson(plan));
    ASSERT_TRUE(back) << back.error().front().message;
    EXPECT_EQ(*back, plan);
    EXPECT_EQ(PlanId(*back), PlanId(plan));
  }
}

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

TEST(PlanJson, NamesAnInvalidField) {
  const std::string json = PlanToJson(ParameterServerPlan());
  struct Case {
    const char* what;
    const char* by;
    const char* message_has;
  };
  const Case cases[] = {
      {"{\"format\": 1", "{\"format\": 2", "format is 2"},
      {"{\"format\": 1", "{\"formate\": 1", "no field \"format\""},
      {"\"name\": \"parameter-server\"", "\"name\": 3", "\"name\" of the plan must be text"},
      {"\"time_limit_ms\": 0", "\"time_limit_ms\": -1", "\"time_limit_ms\" of the plan"},
      {"\"devices\":4", "\"devices\":4.5", "\"devices\" of a host"},
      {"\"devices\":4", "\"devices\":4294967296", "\"devices\" of a host"},
      {"\"ending\":\"never\"", "\"ending\":\"maybe\"", "\"ending\" of role 0"},
      {"\"after\":[]", "\"after\":[\"nobody\"]", "names no role"},
      {"\"after\":[]", "\"after\":[7]", "\"after\" of role 0"},
      {"\"ready\":null", "\"ready\":{}", "the readiness of role 0 has no field"},
      {"\"restart\":null", "\"restart\":3", "the restart of role 0 must be an object"},
      {"\"grace_ms\":10000", "\"grace_ms\":\"10s\"", "the stop of role 0"},
      {"\"role\":\"server\"", "\"role\":\"sever\"", "\"role\" of process 1"},
      {"\"host\":\"host0\"", "\"host\":\"host9\"", "\"host\" of process 0"},
      {"\"rank\":null", "\"rank\":true", "\"rank\" of process 0"},
      {"\"command\":[\"ps_digits\"]", "\"command\":[7]", "\"command\" of process 0"},
      {"\"MS_WORKER_NUM\":\"4\"", "\"MS_WORKER_NUM\":4", "\"env\" of process 0"},
      {"\"context\":{\"set_context\":{\"device_target\":\"CPU\"}", "\"context\":{\"set_context\":3",
       "\"context\" of process 0"},
      {"\"number\":0", "\"number\":65536", "\"number\" of port \"scheduler\""},
      {"\"params\"", "\"prams\"", "no field \"params\""},
  };
  for (const Case& c : cases) {
    const auto plan = PlanFromJson(Replaced(json, c.what, c.by));
    ASSERT_FALSE(plan) << c.by;
    EXPECT_EQ(plan.error().front().kind, "plan_json") << plan.error().front().message;
    EXPECT_NE(plan.error().front().message.find(c.message_has), std::string::npos) << plan.error().front().message;
  }
}

TEST(PlanJson, RefusesAPlanThatWasChangedByHand) {
  const auto plan = PlanFromJson(Replaced(PlanToJson(ParameterServerPlan()), "--epochs", "--epoch"));
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().front().message.find("changed after it was written"), std::string::npos);
}

TEST(PlanJson, RefusesAnInvalidPlan) {
  const auto plan = PlanFromJson(Replaced(PlanToJson(ParameterServerPlan()), "\"index\":1", "\"index\":5"));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().front().kind, "plan_invalid");
}

TEST(PlanJson, RefusesInvalidJson) {
  for (const char* text : {"", "null", "[]", "{", "{}", "plan", "{\"format\": 1}", "\xff", "{\"a\": 1, \"a\": 2}"}) {
    const auto plan = PlanFromJson(text);
    ASSERT_FALSE(plan) << text;
    EXPECT_EQ(plan.error().front().kind, "plan_json");
  }
  EXPECT_FALSE(PlanFromJson(std::string(100'000, '[')));
  EXPECT_FALSE(PlanFromJson(std::string(kMaxPlanJsonBytes + 1, ' ')));
}

TEST(PlanJson, IgnoresUnknownFields) {
  const auto plan =
      PlanFromJson(Replaced(PlanToJson(ParameterServerPlan()), "\"inputs\": []", "\"inputs\": [], \"later\": 1"));
  EXPECT_TRUE(plan);
}

TEST(NestedContext, GroupsAttributesByFunction) {
  const ContextValues context = {
      {"set_context.mode", 0}, {"set_ps_context.enable_ps", true}, {"set_context.device_id", 1}};
  EXPECT_EQ(NestedContext(context), Value(Value::Map{{"set_context", Value::Map{{"device_id", 1}, {"mode", 0}}},
                                                     {"set_ps_context", Value::Map{{"enable_ps", true}}}}));
  EXPECT_EQ(NestedContext({}), Value(Value::Map{}));
}

}  // namespace
}  // namespace muster
