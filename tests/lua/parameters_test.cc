// Tests parameters in a whole evaluation: declarations, overrides and precedence. tests/settings tests their types.
#include <gtest/gtest.h>

#include "lua/evaluated.h"

namespace muster::testing {
namespace {

constexpr const char* kEveryType = R"lua(params = {
  i = muster.int { 4, min = 1 }, f = muster.float { 0.5 }, b = muster.bool { false }, s = muster.string { "text" },
  e = muster.enum { "adam", one_of = { "adam", "sgd" } }, p = muster.path { "train.py" }, l = muster.list { { 1, 2 } },
  m = muster.map { { a = 1 } }, y = muster.bytes { "1KiB" }, d = muster.duration { "1m30s" } },)lua";
constexpr const char* kPrintAll =
    "print(p.i, p.f, p.b, p.s, p.e, p.p, #p.l, p.l[2], p.m.a, p.y, p.d) job:workers { count = 1, command = { 'x' } }";

std::string PrintedWith(const std::vector<Override>& overrides) {
  const Evaluated evaluated = Evaluate({Recipe(kPrintAll, kEveryType), overrides});
  EXPECT_EQ(evaluated.problems(), Lines{});
  return evaluated.printed.empty() ? "" : evaluated.printed.front();
}

TEST(Parameters, HaveTheirDefaults) {
  EXPECT_EQ(PrintedWith({}), "4\t0.5\tfalse\ttext\tadam\ttrain.py\t2\t2\t1\t1024\t90");
}

TEST(Parameters, AreParsedAccordingToTheirTypes) {
  EXPECT_EQ(
      PrintedWith({Text("i", "7"), Text("f", "1e-3"), Text("b", "true"), Text("s", "a,b=c"), Text("e", "sgd"),
                   Text("p", ""), Text("l", "[5,6,7]"), Text("m", "{\"a\":9}"), Text("y", "3.5GB"), Text("d", "2h")}),
      "7\t0.001\ttrue\ta,b=c\tsgd\t\t3\t6\t9\t3500000000\t7200");
  EXPECT_EQ(PrintedWith({Json("i", Value(8.0)), Json("f", Value(2)), Json("b", Value(true)), Json("s", Value("x")),
                         Json("y", Value(5)), Json("d", Value("250ms"))}),
            "8\t2\ttrue\tx\tadam\ttrain.py\t2\t2\t1\t5\t0.25");
}

TEST(Parameters, ReportAllInvalidOverridesAtOnce) {
  const Evaluated evaluated =
      Evaluate({Recipe(kPrintAll, kEveryType),
                {Text("i", "0"), Text("f", "x"), Json("b", Value(1)), Json("s", Value(1)), Text("e", "ad"),
                 Text("l", "{\"a\":1}"), Text("m", "[1]"), Text("y", "-1"), Text("d", "soon"), Text("z", "1")}});
  EXPECT_EQ(evaluated.answer.diagnostics.size(), 10U);
  EXPECT_FALSE(evaluated.answer.plan);
  EXPECT_TRUE(evaluated.printed.empty()) << "the plan function ran although its parameters are wrong";
}

TEST(Parameters, HavePrecedenceFromDefaultToCommandLine) {
  const std::string fields = "params = { a = muster.int { 1, from_env = 'A' } },";
  const std::string body = "print(p.a) job:workers { count = 1, command = { 'x' } }";
  Override set = Text("a", "3");
  set.origin = ParameterOrigin::kMusterSet;
  const Outside outside{{}, {{"A", "2"}}};
  EXPECT_EQ(Evaluate({Recipe(body, fields)}).printed, Lines{"1"});
  EXPECT_EQ(Evaluate({Recipe(body, fields), {}, {}, outside}).printed, Lines{"2"});
  EXPECT_EQ(Evaluate({Recipe(body, fields), {set}, {}, outside}).printed, Lines{"3"});
  EXPECT_EQ(Evaluate({Recipe(body, fields), {Text("a", "4"), set}, {}, outside}).printed, Lines{"4"});
  EXPECT_EQ(Evaluate({Recipe(body, fields), {Text("a", "4"), Text("a", "5")}, {}, outside}).printed, Lines{"5"});
  Override unset;
  unset.kind = Override::Kind::kUnset;
  unset.name = "a";
  EXPECT_EQ(Evaluate({Recipe(body, fields), {Text("a", "4"), unset}, {}, outside}).printed, Lines{"1"});
  const Evaluated bad = Evaluate({Recipe(body, fields), {}, {}, {{}, {{"A", "two"}}}});
  ASSERT_EQ(bad.answer.diagnostics.size(), 1U);
  EXPECT_EQ(bad.answer.diagnostics[0].message, "parameter a must be an int, got \"two\" (from the environment)");
  EXPECT_EQ(bad.answer.diagnostics[0].notes.back().message, "read from the variable A");
}

TEST(Parameters, AcceptAFormerNameWithAWarning) {
  const Evaluated evaluated = Evaluate({Recipe("print(p.new) job:workers { count = 1, command = { 'x' } }",
                                               "params = { new = muster.int { 1, was = 'old' } },"),
                                        {Text("old", "9")}});
  EXPECT_EQ(evaluated.printed, Lines{"9"});
  EXPECT_EQ(evaluated.problems(), Lines{"warning renamed: parameter old is now called new"});
}

TEST(Parameters, CannotBeSetOrChanged) {
  const std::string fields =
      "params = { n = muster.int { 1 }, l = muster.list { { 1 } }, m = muster.map { {} }, e = muster.list { {} } },";
  EXPECT_EQ(ProblemsOf("p.n = 2", fields), Lines{"recipe.lua:4 error read_only: parameter n cannot be set"});
  EXPECT_EQ(ProblemsOf("local x = p.nn", fields), Lines{"recipe.lua:4 error unknown_key: there is no parameter nn"});
  for (const char* change : {"p.l[1] = 2", "p.l[2] = 2", "p.m.a = 1", "table.insert(p.l, 3)", "p.e[1] = 0",
                             "p.l[1] = nil", "p.l[1] = print"}) {
    const Lines problems = ProblemsOf(std::string(change) + " job:workers { count = 1, command = { 'x' } }", fields);
    ASSERT_EQ(problems.size(), 1U) << change;
    EXPECT_TRUE(problems[0].starts_with("recipe.lua:2 error read_only: the recipe changes its parameter "))
        << problems[0];
  }
  EXPECT_EQ(ProblemsOf("p.l[1] = 5 p.l[1] = 1 job:workers { count = 1, command = { 'x' } }", fields), Lines{});
}

TEST(Parameters, AreIteratedInOrder) {
  EXPECT_EQ(
      Evaluate(
          {Recipe("for name, value in pairs(p) do print(name, value) end job:workers { count = 1, command = { 'x' } }",
                  "params = { b = muster.int { 2 }, a = muster.int { 1 } },")})
          .printed,
      (Lines{"a\t1", "b\t2"}));
}

TEST(Parameters, AreListedWithoutRunningThePlan) {
  Request request{
      Recipe("error('not called')", "doc = 'd', params = { a = muster.int { 1, doc = 'first' }, b = muster.int {} },")};
  request.task = PlanTask{EvaluationDepth::kParameters};
  const Evaluated evaluated = Evaluate(request);
  EXPECT_EQ(evaluated.problems(), Lines{});
  ASSERT_EQ(evaluated.answer.parameters.size(), 2U);
  EXPECT_EQ(evaluated.answer.parameters[0].parameter.doc, "first");
  EXPECT_EQ(evaluated.answer.parameters[0].value, Value(1));
  EXPECT_EQ(evaluated.answer.parameters[1].value, std::nullopt) << "it has to be given, and is not asked for here";
  EXPECT_FALSE(evaluated.answer.plan);
  EXPECT_EQ(evaluated.answer.doc, "d");
}

TEST(Parameters, MustBeDeclaredInFull) {
  EXPECT_EQ(
      ProblemsOf("", "params = { [1] = muster.int { 1 }, ['a-b'] = muster.int { 1 }, c = 7, d = muster },").size(), 4U);
  for (const char* declaration : {"muster.int { 1, 2 }",
                                  "muster.int { 1, default = 2 }",
                                  "muster.int { 'x' }",
                                  "muster.int { nope = 1 }",
                                  "muster.int { min = 'x' }",
                                  "muster.int { min = 0/0 }",
                                  "muster.enum { 'a' }",
                                  "muster.enum { 'a', one_of = {} }",
                                  "muster.enum { 'c', one_of = { 'a', 'b' } }",
                                  "muster.float { 1, one_of = { 'x' } }",
                                  "muster.bool { 1 }",
                                  "muster.secret { 'x' }",
                                  "muster.int { doc = 7 }",
                                  "muster.int { doc = '\\255' }",
                                  "muster.int { 1, min = 3, max = 2 }",
                                  "muster.int { 1, above = 1, below = 1 }",
                                  "muster.list { 7 }",
                                  "muster.map { { 1 } }",
                                  "muster.int { print }",
                                  "muster.int { 2 ^ 60 }",
                                  "muster.string { 'a\\0b' }",
                                  "muster.bytes { '1 GB' }",
                                  "muster.bytes { '9000PB' }",
                                  "muster.int(muster.int { 1 })"}) {
    const Evaluated evaluated = Evaluate(
        {Recipe("job:workers { count = 1, command = { 'x' } }", std::string("params = { x = ") + declaration + " },")});
    ASSERT_FALSE(evaluated.answer.diagnostics.empty()) << declaration;
    EXPECT_TRUE(evaluated.answer.diagnostics[0].kind.starts_with("parameter")) << declaration;
    EXPECT_EQ(evaluated.answer.diagnostics[0].place, (Place{"recipe.lua", 2})) << declaration;
  }
}

TEST(Secrets, NeverReachTheRecipe) {
  const std::string fields = "params = { token = muster.secret { from_env = 'TOKEN' } },";
  const Outside outside{{}, {{"TOKEN", "hunter2"}}};
  const Evaluated evaluated =
      Evaluate({Recipe("print(p.token) job:workers { count = 1, command = { 'x' }, env = { T = p.token } }", fields),
                {},
                {},
                outside});
  EXPECT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(evaluated.printed, Lines{"${muster:secret:token}"});
  EXPECT_EQ(evaluated.asked, Lines{}) << "where a secret comes from is the start's business";
  EXPECT_EQ(evaluated.plan().secrets.at("token"), (SecretSource{"TOKEN", ""}));
  EXPECT_EQ(OwnEnv(evaluated.plan(), "worker.0").at("T"), "${muster:secret:token}");
}

TEST(Secrets, ArePassedOnAsAWholeOrNotAtAll) {
  const std::string fields = "params = { token = muster.secret { from_env = 'TOKEN' } },";
  for (const char* use : {"command = { 'x', p.token }", "command = { 'x' }, env = { A = 'Bearer ' .. p.token }",
                          "command = { 'x' }, cwd = p.token", "command = muster.shell('echo ' .. p.token)"}) {
    const Lines problems = ProblemsOf(std::string("job:workers { count = 1, ") + use + " }", fields);
    ASSERT_EQ(problems.size(), 1U) << use;
    EXPECT_TRUE(problems[0].starts_with("recipe.lua:4 error secret: ")) << problems[0];
  }
  EXPECT_EQ(ProblemsOf("job:file { 'f', text = 'a' .. p.token } job:workers { count = 1, command = { 'x' } }", fields),
            Lines{"recipe.lua:4 error secret: file f joins the secret token with other text"});
}

TEST(Secrets, InFilesStayWithTheParent) {
  Override file = Text("token", "hunter2");
  file.kind = Override::Kind::kFile;
  file.file = "/run/token";
  Override plain = file;
  plain.name = "text";
  plain.value = Value("content");
  const std::string fields = "params = { token = muster.secret { was = 'key' }, text = muster.string {} },";
  const std::string body = "print(p.text) job:workers { count = 1, command = { 'x' } }";
  const Evaluated evaluated = Evaluate({Recipe(body, fields), {file, plain}});
  EXPECT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(evaluated.printed, Lines{"content"});
  EXPECT_EQ(evaluated.asked, Lines{"override 1"});
  file.name = "key";
  EXPECT_EQ(Evaluate({Recipe(body, fields), {file, plain}}).asked, Lines{"override 1"}) << "by its old name";
}

TEST(Secrets, CannotBeGivenAsPlainText) {
  const std::string fields = "params = { token = muster.secret {} },";
  const std::string body = "job:workers { count = 1, command = { 'x' } }";
  for (const Override& literal : {Text("token", "hunter2"), Json("token", Value("hunter2"))}) {
    const Evaluated evaluated = Evaluate({Recipe(body, fields), {literal}});
    ASSERT_FALSE(evaluated.answer.diagnostics.empty());
    EXPECT_EQ(evaluated.answer.diagnostics[0].kind, "secret_literal");
    for (const std::string& line : evaluated.problems()) EXPECT_EQ(line.find("hunter2"), std::string::npos);
  }
  Override file = Text("token", "content");
  file.kind = Override::Kind::kFile;
  file.file = "/run/token";
  EXPECT_EQ(Evaluate({Recipe(body, fields), {file}}).plan().secrets.at("token"), (SecretSource{"", "/run/token"}));
}

TEST(Cluster, IsOverriddenLikeParameters) {
  const std::string body =
      "print(job.cluster.hosts, job.cluster.devices_per_host, job.cluster.devices) job:workers { count = 1, command = "
      "{ 'x' } }";
  EXPECT_EQ(Evaluate({Recipe(body)}).printed, Lines{"1\t1\t1"});
  EXPECT_EQ(Evaluate({Recipe(body, "cluster = { hosts = 2, devices_per_host = 8 },")}).printed, Lines{"2\t8\t16"});
  EXPECT_EQ(Evaluate({Recipe(body, "cluster = { hosts = 2, devices_per_host = 8 },"),
                      {Text("hosts", "3"), Text("devices_per_host", "0")}})
                .printed,
            Lines{"3\t0\t0"});
  EXPECT_EQ(ProblemsOf(body, "cluster = { hosts = 0, devices_per_host = 'x', nodes = 3 },").size(), 3U);
  EXPECT_EQ(ProblemsOf(body, "cluster = 7,"), Lines{"recipe.lua:2 error type: cluster must be a table, got 7"});
}

TEST(Flags, RenderParametersForArgparseAndHydra) {
  const std::string fields =
      "params = { lr = muster.float { 0.5 }, fast = muster.bool { true }, slow = muster.bool { false }, n = "
      "muster.list { { 1, 2 } }, m = muster.map { { a = 1 } } },";
  const auto command = [&](const std::string& options) {
    return CommandOf(PlanOf("job:workers { count = 1, command = { 'x', muster.flags(p" + options + ") } }", fields),
                     "worker.0");
  };
  EXPECT_EQ(command(""), (Lines{"x", "--fast", "--lr", "0.5", "--m", "{\"a\":1}", "--n", "1", "2"}));
  EXPECT_EQ(command(", { style = 'hydra' }"), (Lines{"x", "fast=true", "lr=0.5", "m={a:1}", "n=[1,2]", "slow=false"}));
  EXPECT_EQ(command(", { only = { 'lr', 'n' }, except = { 'n' } }"), (Lines{"x", "--lr", "0.5"}));
  EXPECT_EQ(ProblemsOf("muster.flags(p, { only = { 'lrr' } })", fields),
            Lines{"recipe.lua:4 error unknown_key: muster.flags: there is no parameter \"lrr\""});
  EXPECT_EQ(ProblemsOf("muster.flags(p, { style = 'getopt' })", fields).size(), 1U);
  EXPECT_EQ(ProblemsOf("muster.flags('p')", fields).size(), 1U);
}

// A plan function that was written before the rename, as in an extension of the recipe.
TEST(FormerNames, AnswerInThePlanFunctionWithAWarning) {
  const Evaluated evaluated = Evaluate({Recipe(
      "print(p.rate, p.opt.rate, p.opt.lr)" + kOneWorker,
      "params = { lr = muster.float { 0.5, was = 'rate' }, opt = { lr = muster.float { 0.25, was = 'rate' } } },")});
  EXPECT_EQ(evaluated.printed, Lines{"0.5\t0.25\t0.25"});
  EXPECT_EQ(evaluated.problems(), (Lines{"recipe.lua:4 warning renamed: parameter rate is now called lr",
                                         "recipe.lua:4 warning renamed: parameter opt.rate is now called opt.lr"}));
  EXPECT_EQ(ProblemsOf("print(p.rat)" + kOneWorker, "params = { lr = muster.float { 0.5, was = 'rate' } },"),
            Lines{"recipe.lua:4 error unknown_key: there is no parameter rat"});
}

TEST(Version, IsADerivedValueOfThePlan) {
  EXPECT_EQ(PlanOf(kOneWorker, "version = '1.5',").derived.at("version"), Value("1.5"));
  EXPECT_EQ(PlanOf(kOneWorker).derived.count("version"), 0U);
  EXPECT_EQ(ProblemsOf(kOneWorker, "version = 1.5,").size(), 1U);
  EXPECT_EQ(ProblemsOf("job:derive { version = 1 }" + kOneWorker, "version = '1.5',").size(), 1U);
}

}  // namespace
}  // namespace muster::testing
