// Tests blocks of parameters and choices between them.
#include <gtest/gtest.h>

#include "lua/evaluated.h"

namespace muster::testing {
namespace {

constexpr const char* kFields = R"(params = {
  lr = muster.float { 9 },
  optimizer = muster.variant { "adam", doc = "how", was = "opt", one_of = {
    adam = { lr = muster.float { 0.1 }, beta = muster.float { 0.9 } },
    sgd  = { lr = muster.float { 0.2, above = 0 }, schedule = muster.variant { "flat", one_of = { flat = {}, warm = { steps = muster.int { 5 } } } } },
  } },
  data = { path = muster.string { "d", was = "folder" }, cache = { size = muster.int { 1 } } } },)";

Evaluated Try(const std::string& body, std::vector<Override> overrides = {}) {
  return Evaluate({Recipe(body + " job:workers { count = 1, command = { 'x' } }", kFields), std::move(overrides)});
}

std::string Flags(std::vector<Override> overrides = {}, const std::string& rest = "p, { style = 'hydra' }") {
  const Evaluated evaluated = Try("print(unpack(muster.flags(" + rest + ")))", std::move(overrides));
  if (!evaluated.problems().empty()) return evaluated.problems().front();
  std::string line = evaluated.printed.at(0);
  for (char& c : line) c = c == '\t' ? ' ' : c;
  return line;
}

TEST(Variants, HaveTheirOwnParameters) {
  EXPECT_EQ(Flags(), "data.cache.size=1 data.path=d lr=9.0 optimizer=adam optimizer.beta=0.9 optimizer.lr=0.1");
  EXPECT_EQ(Flags({Text("optimizer", "sgd")}),
            "data.cache.size=1 data.path=d lr=9.0 optimizer=sgd optimizer.lr=0.2 optimizer.schedule=flat");
  EXPECT_EQ(Flags({Text("optimizer.lr", "3"), Text("optimizer", "sgd"), Text("schedule", "warm"), Text("steps", "7")}),
            "data.cache.size=1 data.path=d lr=9.0 optimizer=sgd optimizer.lr=3.0 optimizer.schedule=warm "
            "optimizer.schedule.steps=7")
      << "in any order";
}

TEST(Variants, YieldTheNameAndParametersOfTheChosenOne) {
  EXPECT_EQ(Try("print(p.optimizer.variant, p.optimizer.beta, p.data.cache.size)").printed, Lines{"adam\t0.9\t1"});
  EXPECT_EQ(Try("print(p.optimizer.schedule.variant)", {Text("optimizer", "sgd")}).printed, Lines{"flat"});
  const Evaluated evaluated = Try("print(p.optimizer.schedule)");
  EXPECT_EQ(evaluated.problems(), Lines{"recipe.lua:10 error unknown_key: there is no parameter optimizer.schedule"});
  EXPECT_EQ(Try("p.data.path = 'x'").problems(),
            Lines{"recipe.lua:10 error read_only: parameter data.path cannot be set"});
  EXPECT_EQ(Try("local t = 'a' .. p.optimizer").problems(),
            Lines{"recipe.lua:10 error type: p.optimizer is a block of parameters, not a text"});
}

TEST(Variants, RefuseParametersOfOtherVariants) {
  const Evaluated evaluated = Try("", {Text("optimizer", "sgd"), Text("beta", "0.5")});
  EXPECT_EQ(
      evaluated.problems(),
      Lines{"error variant: optimizer.beta is a parameter of optimizer = \"adam\", and optimizer is \"sgd\" (command "
            "line) (from the command line)"});
  EXPECT_EQ(evaluated.answer.diagnostics[0].hint, "optimizer=adam chooses it");
  EXPECT_EQ(
      Try("", {Text("optimizer.schedule.steps", "1")}).problems(),
      Lines{"error variant: optimizer.schedule.steps is a parameter of optimizer = \"sgd\", and optimizer is \"adam\" "
            "(default) (from the command line)"});
  EXPECT_EQ(Try("", {Text("optimizer", "sgdd")}).answer.diagnostics[0].kind, "parameter_value");
  EXPECT_EQ(Try("", {Text("optimizer", "sgd"), Text("optimizer.lr", "0")}).answer.diagnostics[0].kind,
            "parameter_value");
}

TEST(Variants, ThatReplaceAnotherStartWithTheirDefaults) {
  const std::string text = "local muster = require 'muster'\nlocal base = muster.recipe { name = 'x', " +
                           std::string(kFields) +
                           " plan = function(p, job) print(p.optimizer.variant, p.optimizer.lr) job:workers { count = "
                           "1, command = { 'x' } } end }\n"
                           "return base:extend { params = { optimizer = { variant = 'sgd', lr = 0.7 } } }";
  EXPECT_EQ(Evaluate({text}).printed, Lines{"sgd\t0.7"});
  EXPECT_EQ(Evaluate({text, {Text("optimizer", "adam")}}).printed, Lines{"adam\t0.1"})
      << "0.7 was said of another optimizer";
  EXPECT_EQ(Evaluate({text, {Text("optimizer", "adam"), Text("optimizer.lr", "0.3")}}).printed, Lines{"adam\t0.3"});
  EXPECT_EQ(Evaluate({text, {Text("optimizer", "adam")}}).problems(), Lines{});
}

TEST(Names, MayBeShortenedToTheirEnd) {
  EXPECT_EQ(Flags({Text("size", "4")}).substr(0, 17), "data.cache.size=4");
  EXPECT_EQ(Flags({Text("cache.size", "4")}).substr(0, 17), "data.cache.size=4");
  EXPECT_NE(Flags({Text("lr", "4")}).find(" lr=4.0 "), std::string::npos) << "a whole name comes first";
  EXPECT_EQ(Try("", {Text("ize", "4")}).problems(),
            Lines{"error unknown_parameter: the recipe has no parameter \"ize\" (from the command line)"});
  const Evaluated evaluated = Evaluate(
      {Recipe("", "params = { a = { x = muster.int { 1 } }, b = { x = muster.int { 1 } } },"), {Text("x", "2")}});
  EXPECT_EQ(evaluated.answer.diagnostics.back().message, "x could mean a.x, b.x (from the command line)");
  EXPECT_EQ(evaluated.answer.diagnostics.back().kind, "ambiguous");
  EXPECT_EQ(Try("", {Text("data.pth", "4")}).answer.diagnostics[0].hint, "did you mean \"data.path\"?");
  EXPECT_EQ(Try("", {Text("btea", "4")}).answer.diagnostics[0].hint, "did you mean \"optimizer.beta\"?");
}

TEST(Names, OfTheClusterWorkDespiteAParameterOfThatName) {
  const std::string body = "print(p.hosts, job.cluster.hosts) job:workers { count = 1, command = { 'x' } }";
  const std::string fields = "params = { hosts = muster.int { 5 } },";
  EXPECT_EQ(Evaluate({Recipe(body, fields), {Text("hosts", "6"), Text("cluster.hosts", "2")}}).printed, Lines{"6\t2"});
}

TEST(FormerNames, BelongToTheSameBlock) {
  const Evaluated evaluated =
      Try("print(p.data.path, p.optimizer.variant)", {Text("data.folder", "e"), Text("opt", "sgd")});
  EXPECT_EQ(evaluated.problems(), (Lines{"warning renamed: parameter data.folder is now called data.path",
                                         "warning renamed: parameter opt is now called optimizer"}));
  EXPECT_EQ(evaluated.printed, Lines{"e\tsgd"});
}

TEST(FormerNames, MustBeUnused) {
  EXPECT_EQ(ProblemsOf("job:workers { count = 1, command = { 'x' } }",
                       "params = { a = muster.int { 1, was = 'b' }, b = muster.int { 1 } },"),
            Lines{"recipe.lua:2 error parameter: parameter a was b, and there is a parameter of that name"});
}

TEST(Blocks, MayComeFromModules) {
  const Outside outside{
      {{"optim.lua", "local muster = require 'muster'\nreturn { params = { lr = muster.float { 0.1 } } }"}}, {}};
  const Evaluated evaluated =
      Evaluate({Recipe("print(p.a.lr, p.b.lr) job:workers { count = 1, command = { 'x', muster.flags(p.a) } }",
                       "params = { a = require('optim').params, b = require('optim').params },"),
                {Text("b.lr", "7")},
                {},
                outside});
  EXPECT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(evaluated.printed, Lines{"0.1\t7"});
  EXPECT_EQ(CommandOf(evaluated.plan(), "worker.0"), (Lines{"x", "--lr", "0.1"}));
}

TEST(Blocks, AreCheckedWhenDeclared) {
  for (const char* params :
       {"a = { x = 1, y = muster.int { 1 } }", "cluster = { x = muster.int { 1 } }", "a = {}", "a = muster.variant {}",
        "a = muster.variant { 'x', one_of = { x = 1 } }", "a = muster.variant { 'z', one_of = { x = {} } }",
        "a = muster.variant { one_of = { 'x' } }",
        "a = muster.variant { 'x', one_of = { x = { variant = muster.int { 1 } } } }",
        "a = muster.variant { 'x', one_of = { x = {} }, min = 1 }"}) {
    const Evaluated evaluated =
        Evaluate({Recipe("job:workers { count = 1, command = { 'x' } }", std::string("params = { ") + params + " },")});
    ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U) << params;
    EXPECT_TRUE(evaluated.answer.diagnostics[0].kind.starts_with("parameter")) << params;
  }
}

TEST(Blocks, CannotBeWordsOfACommand) {
  const Evaluated evaluated = Evaluate({Recipe("job:workers { count = 1, command = { 'x', p.optimizer } }", kFields)});
  EXPECT_EQ(evaluated.problems(),
            Lines{"recipe.lua:10 error command: word 2 of the command of worker is a block of parameters"});
}

TEST(Secrets, InBlocksStayWithTheParentUnderAnyName) {
  Override file = Text("token", "hunter2");
  file.kind = Override::Kind::kFile;
  file.file = "/run/token";
  const std::string fields = "params = { hub = { token = muster.secret { was = 'key' } } },";
  const std::string body = "job:workers { count = 1, command = { 'x' }, env = { T = p.hub.token } }";
  for (const char* name : {"token", "hub.token", "hub.key"}) {
    file.name = name;
    const Evaluated evaluated = Evaluate({Recipe(body, fields), {file}});
    EXPECT_EQ(evaluated.asked, Lines{}) << name;
    ASSERT_TRUE(evaluated.answer.plan) << name;
    EXPECT_EQ(evaluated.plan().secrets.at("hub.token"), (SecretSource{"", "/run/token"}));
  }
}

TEST(Flags, AcceptBlocksByName) {
  EXPECT_EQ(Flags({}, "p, { only = { 'optimizer' } }"), "--optimizer adam --optimizer.beta 0.9 --optimizer.lr 0.1");
  EXPECT_EQ(Flags({}, "p, { except = { 'optimizer', 'data.cache' } }"), "--data.path d --lr 9.0");
  EXPECT_EQ(Flags({}, "p.optimizer"), "--beta 0.9 --lr 0.1");
}

}  // namespace
}  // namespace muster::testing
