// Tests the field `notify` of recipes and site files: what becomes part of the plan, and what is refused.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lua/evaluated.h"
#include "plan/check/plan_check.h"
#include "plan/text/plan_json.h"
#include "plan/text/plan_text.h"

namespace muster::testing {
namespace {

std::vector<Notification> NotifyOf(const std::string& fields) { return PlanOf(kOneWorker, fields).notifications; }

std::string ProblemOf(const std::string& notify) {
  const Lines problems = ProblemsOf(kOneWorker, "notify = " + notify + ",");
  return problems.size() == 1 ? problems.front() : std::to_string(problems.size()) + " problems";
}

TEST(Notify, IsPartOfThePlanAndNotOfItsId) {
  const Plan plan =
      PlanOf(kOneWorker, "notify = { command = { 'notify-send', 'muster', 7 }, on = { 'failed', 'ended' } },");
  ASSERT_EQ(plan.notifications.size(), 1U);
  const Notification& sent = plan.notifications.front();
  EXPECT_EQ(sent.command, (std::vector<muster::Text>{"notify-send", "muster", "7"}));
  EXPECT_EQ(sent.on, (Lines{"failed", "ended"}));
  EXPECT_EQ(sent.source, "recipe");
  EXPECT_EQ(PlanId(plan), PlanId(PlanOf(kOneWorker)));
  EXPECT_TRUE(ValidatePlan(plan).empty());
  const auto read = PlanFromJson(PlanToJson(plan, Value(Value::List{}), {}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->notifications, plan.notifications);
}

TEST(Notify, TellsOfTheEndUnlessItSaysOtherwise) {
  EXPECT_EQ(NotifyOf("notify = { command = { 'x' } },").front().on, (Lines{"ended"}));
  EXPECT_EQ(NotifyOf("notify = { command = { 'x' }, on = 'failed' },").front().on, (Lines{"failed"}));
}

TEST(Notify, MayBeAListAFunctionOrNothing) {
  EXPECT_EQ(NotifyOf("notify = { { command = { 'x' } }, { command = muster.shell 'y | z' } },").size(), 2U);
  EXPECT_EQ(NotifyOf("notify = function(p) return { command = { 'x' } } end,").size(), 1U);
  for (const char* none : {"notify = false,", "notify = {},", "notify = function() end,"}) {
    EXPECT_TRUE(NotifyOf(none).empty()) << none;
  }
}

TEST(Notify, TakesSecretsOfParametersVariablesAndFiles) {
  const Plan plan =
      PlanOf(kOneWorker,
             "params = { hook = muster.secret { from_env = 'HOOK' } }, notify = function(p) return {"
             "{ webhook = p.hook }, { webhook = muster.secret { from_env = 'OTHER' } }, "
             "{ command = { 'x' }, env = { TOKEN = { from_file = '~/token' }, TO = 'ann', N = 3 } } } end,");
  ASSERT_EQ(plan.notifications.size(), 3U);
  EXPECT_EQ(plan.notifications[0].webhook.marked, "${muster:secret:hook}");
  EXPECT_EQ(plan.notifications[0].secrets.at("hook").from_env, "HOOK");
  EXPECT_EQ(plan.notifications[1].secrets.at("webhook").from_env, "OTHER");
  EXPECT_EQ(plan.notifications[2].secrets.at("TOKEN").from_file, "~/token");
  EXPECT_EQ(plan.notifications[2].env.at("TO"), "ann");
  EXPECT_EQ(plan.notifications[2].env.at("N"), "3");
  EXPECT_TRUE(ValidatePlan(plan).empty());
}

TEST(Notify, IsInheritedByExtensions) {
  const auto of = [](const std::string& extension) {
    Request request;
    request.text =
        "local muster = require 'muster' local base = muster.recipe { name = 'b', notify = { command = { 'x' } }, "
        "plan = function(p, job) " +
        kOneWorker + " end } return base:extend { " + extension + " }";
    return Evaluate(request).plan().notifications;
  };
  EXPECT_EQ(of("").size(), 1U);
  EXPECT_EQ(of("notify = { command = { 'y' } }").front().command, (std::vector<muster::Text>{"y"}));
  EXPECT_TRUE(of("notify = false").empty());
}

TEST(Notify, RefusesWhatCannotBeMeant) {
  for (const auto& [notify, why] : std::vector<std::pair<std::string, std::string>>{
           {"'mail'", "notify must be a table, got \"mail\""},
           {"{ on = 'ended' }", "notify must have either command or webhook"},
           {"{ command = { 'x' }, webhook = 'http://h/' }", "notify must have either command or webhook"},
           {"{ command = { 'x' }, on = { 'end' } }", "notify: there is no event \"end\""},
           {"{ command = { 'x' }, on = {} }", "notify: on is empty"},
           {"{ command = { 'x' }, on = 7 }", "notify: on must be a list of events, got 7"},
           {"{ command = { 'x' }, when = 'ended' }", "notify has no option \"when\""},
           {"{ command = 'x' }", "the command of notify must be a list of words"},
           {"{ webhook = 'hooks.example' }", "notify: webhook must be an address"},
           {"{ webhook = 'ftp://h/x' }", "notify: webhook must be an address"},
           {"{ webhook = 7 }", "notify: webhook must be an address"},
           {"{ webhook = { from_env = 'A', from_file = '/b' } }", "must name exactly one source"},
           {"{ webhook = { from_file = 'hook' } }", "from_file must be a path from / or ~/ on"},
           {"{ webhook = 'http://h/', env = { A = 'b' } }", "notify: env is for command"},
           {"{ command = { 'x' }, env = { ['a b'] = 'c' } }", "is not a variable name"},
           {"{ command = { 'x' }, env = { A = true } }", "the variable A must be a text or a secret, got true"},
           {"{ command = { muster.file 'x' } }", "x"},
           {"{ { command = { 'x' } }, 'y' }", "notify must be one table or a list of tables"}}) {
    EXPECT_NE(ProblemOf(notify).find(why), std::string::npos) << notify << ": " << ProblemOf(notify);
  }
}

TEST(Notify, RefusesSecretsInWords) {
  const Lines problems = ProblemsOf(
      kOneWorker,
      "params = { t = muster.secret { from_env = 'T' } }, notify = function(p) return { command = { 'x', p.t } } "
      "end,");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].find("notify: word 2 of command holds the secret t"), std::string::npos) << problems[0];
}

TEST(Notify, OfASiteFileIsCheckedInTheSameWay) {
  const auto of = [](const std::string& notify) {
    Request request;
    request.text = "local muster = require 'muster'\nreturn muster.site { hosts = 'n1', notify = " + notify + " }";
    request.task = TableTask();
    return Evaluate(request);
  };
  const Evaluated good = of("{ webhook = muster.secret { from_env = 'HOOK' }, on = 'failed' }");
  EXPECT_TRUE(good.problems().empty()) << good.problems().front();
  const Evaluated bad = of("{ webhook = 'x' }");
  ASSERT_EQ(bad.problems().size(), 1U);
  EXPECT_NE(bad.problems()[0].find(":2 error format: notify: webhook must be an address"), std::string::npos)
      << bad.problems()[0];
}

}  // namespace
}  // namespace muster::testing
