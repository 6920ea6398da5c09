// Tests muster.file: files beside the recipe that become part of the plan, and where their paths are allowed.
#include <algorithm>

#include <gtest/gtest.h>

#include "lua/evaluated.h"

namespace muster::testing {
namespace {

const std::string kThere = "${muster:run_dir}/files/";

Evaluated WithFiles(const std::map<std::string, std::string>& files, const std::string& body,
                    const std::string& fields = "") {
  return Evaluate({Recipe(body, fields), {}, {}, {files, {}}});
}

TEST(ShippedFiles, AppearInCommandsVariablesAndFilesAsAbsolutePaths) {
  const Evaluated evaluated =
      WithFiles({{"conf/a.yaml", "lr: 1\n"}, {"b.json", "{}"}},
                "local a = muster.file 'conf/a.yaml' job:env { CONF = 'file://' .. a } job:file { 'list', text = a }\n"
                "job:workers { count = 2, command = { 'x', '--config', a, muster.file './/b.json' } }");
  ASSERT_EQ(evaluated.problems(), Lines{});
  const Plan& plan = evaluated.plan();
  EXPECT_EQ(CommandOf(plan, "worker.1"), (Lines{"x", "--config", kThere + "conf/a.yaml", kThere + "b.json"}));
  EXPECT_EQ(OwnEnv(plan, "worker.0").at("CONF"), "file://" + kThere + "conf/a.yaml");
  EXPECT_EQ(plan.files.at("files/conf/a.yaml").content.marked, "lr: 1\n");
  EXPECT_EQ(plan.files.at("files/b.json").content.marked, "{}");
  EXPECT_EQ(plan.files.at("files/list").content.marked, kThere + "conf/a.yaml");
  EXPECT_EQ(evaluated.asked, (Lines{"file conf/a.yaml", "file b.json"})) << "and nothing twice";
}

TEST(ShippedFiles, AreReadOnceAndAllowedOutsideThePlanAndInEach) {
  Evaluated evaluated = WithFiles({{"a", "1"}, {"b0", "2"}, {"b1", "3"}},
                                  "job:workers { count = 2, command = { 'x' }, each = function(process)\n"
                                  "muster.file 'a' process.env.B = muster.file('b' .. process.index) end }");
  ASSERT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(OwnEnv(evaluated.plan(), "worker.1").at("B"), kThere + "b1");
  EXPECT_EQ(evaluated.asked, (Lines{"file a", "file b0", "file b1"}));
  evaluated =
      Evaluate({"local muster = require 'muster'\nlocal a = muster.file 'a'\n"
                "return muster.recipe { name = 't', plan = function(p, job) job:workers { count = 1, command = "
                "{ 'x', a } } end }",
                {},
                {},
                {{{"a", "1"}}, {}}});
  ASSERT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(evaluated.plan().files.count("files/a"), 1U);
}

TEST(ShippedFiles, KeepTheirBytesEvenIfTheyLookLikePlaceholders) {
  const std::string content = "a ${muster:run_dir} ${muster:${muster:secret:x} ${muster:literal}\r\n\xc3\xa4";
  const Evaluated evaluated =
      WithFiles({{"a", content}}, "muster.file 'a' job:workers { count = 1, command = { 'x' } }");
  ASSERT_EQ(evaluated.problems(), Lines{});
  Binding binding;
  binding.run_dir = "/r";
  EXPECT_EQ(FillPlaceholders(evaluated.plan().files.at("files/a").content, binding, 0), content);
}

TEST(ShippedFiles, ThatCannotBeShippedAreReported) {
  const std::map<std::string, std::string> files = {{"binary", std::string("\x00\xff", 2)},
                                                    {"latin", "\xe4"},
                                                    {"nul", std::string("a\0b", 3)},
                                                    {"big", std::string((1U << 20) + 1, 'a')},
                                                    {"most", std::string(1U << 20, 'a')},
                                                    {"a b", ""},
                                                    {"/etc/passwd", ""},
                                                    {"a/../b", ""}};
  const std::string none = "muster.file: ";
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"'nope.json'", "file", "nope.json cannot be shipped: there is none"},
      {"'binary'", "file", "is no UTF-8 text, and a plan holds texts only"},
      {"'latin'", "file", "is no UTF-8 text"},
      {"'nul'", "file", "is no UTF-8 text"},
      {"'big'", "file", "big is larger than 1 MiB"},
      {"'a b'", "file", "a b cannot be shipped under its own name"},
      {"'a/../b'", "file", "cannot be shipped under its own name"},
      {"''", "file", "cannot be shipped"},
      {"12", "type", "muster.file expects the name"},
      {"{}", "type", "muster.file expects the name"},
      {"", "type", "muster.file expects the name"},
  };
  for (const auto& [argument, kind, message] : cases) {
    const Evaluated evaluated =
        WithFiles(files, std::string("muster.file(") + argument + ") job:workers { count = 1, command = { 'x' } }");
    ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U) << argument;
    const Diagnostic& only = evaluated.answer.diagnostics[0];
    EXPECT_EQ(only.kind, kind) << argument;
    EXPECT_EQ(only.place, (Place{"recipe.lua", kBodyLine})) << argument;
    EXPECT_NE(only.message.find(message), std::string::npos) << argument << ": " << only.message;
  }
  EXPECT_EQ(WithFiles(files, "muster.file 'most' job:workers { count = 1, command = { 'x' } }").problems(), Lines{});
}

TEST(ShippedFiles, FromElsewhereAreToBeCopied) {
  for (const char* name : {"/user/config/jobstart_hccl.json", "../jobstart_hccl.json"}) {
    const Evaluated evaluated =
        WithFiles({}, std::string("muster.file '") + name + "'\njob:workers { count = 1, command = { 'x' } }");
    ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U) << name;
    EXPECT_EQ(evaluated.answer.diagnostics[0].hint,
              "the plan contains the file: copy it beside the recipe and name it \"jobstart_hccl.json\"");
  }
}

TEST(ShippedFiles, ReportAllMistakesAtOnce) {
  EXPECT_EQ(WithFiles({}, "muster.file 'a'\nmuster.file 'b'\njob:workers { count = 1, command = { 'x' } }").problems(),
            (Lines{"recipe.lua:4 error file: muster.file: a cannot be shipped: there is none",
                   "recipe.lua:5 error file: muster.file: b cannot be shipped: there is none"}));
}

TEST(ShippedFiles, CannotShareANameWithAWrittenFile) {
  const Evaluated evaluated = WithFiles(
      {{"a", "1"}}, "job:file { 'a', text = '2' }\nmuster.file 'a' job:workers { count = 1, command = { 'x' } }");
  ASSERT_EQ(evaluated.problems(), Lines{"recipe.lua:4 error duplicate: job:file and muster.file both make the file a"});
  EXPECT_EQ(evaluated.answer.diagnostics[0].notes.at(0).place, (Place{"recipe.lua", 5}));
}

TEST(ShippedFiles, AreCheckedIfAnAttributeOfTheContextNamesThem) {
  const std::string fields = "mindspore = '2.3',";
  const std::string body =
      "context.set_context { device_target = 'Ascend',\nascend_config = { parallel_speed_up_json_path = muster.file "
      "'conf/up.json' } }\njob:workers { count = 1, command = { 'x' } }";
  const Evaluated fine = WithFiles({{"conf/up.json", "{\"enable_task_opt\": true}"}}, body, fields);
  ASSERT_EQ(fine.problems(), Lines{});
  EXPECT_EQ(EffectiveContext(fine.plan(), fine.plan().processes[0]).at("set_context.ascend_config"),
            Value(Value::Map{{"parallel_speed_up_json_path", kThere + "conf/up.json"}}));
  const Evaluated wrong = WithFiles({{"conf/up.json", "{\n\"enable_tsk_opt\": true}"}}, body, fields);
  ASSERT_EQ(wrong.problems(),
            Lines{"conf/up.json:2 error unknown_subkey: the file has no key \"enable_tsk_opt\" in MindSpore 2.3.1"});
  EXPECT_EQ(wrong.answer.diagnostics[0].notes.at(0).message,
            "ascend_config.parallel_speed_up_json_path names this file here");
  EXPECT_EQ(wrong.answer.diagnostics[0].notes.at(0).place, (Place{"recipe.lua", kBodyLine}));
}

TEST(ShippedFiles, WithOneMistakeForManyProcessesAreReportedOnce) {
  EXPECT_EQ(WithFiles({{"e.json", "{\"sys\": {\"mem_Reuse\": true}}"}},
                      "job:workers { count = 50, command = { 'x' }, each = function(process)\nprocess:context { "
                      "env_config_path = muster.file 'e.json' } end }",
                      "mindspore = '1.6',")
                .problems(),
            Lines{"e.json:1 warning unknown_subkey: MindSpore 1.6.2 ignores the unknown key \"sys.mem_Reuse\""});
}

TEST(WrittenPaths, ArePredictedAndCauseWarningsInThePlan) {
  const std::string ps = "framework = 'mindspore-ps', mindspore = '1.6',";
  const std::string roles = "\njob:servers { command = { 'x' } } job:workers { count = 2, command = { 'x' } }";
  const Evaluated shared =
      Evaluate({Recipe("context.set_ps_context { enable_ps = true } context.set_context { save_graphs = "
                       "true,\nsave_graphs_path = 'g' }" +
                           roles,
                       ps)});
  EXPECT_EQ(
      shared.problems(),
      Lines{"recipe.lua:4 warning shared_path: save_graphs_path: server.0 and worker.0 of one host would write to "
            "the same folder, g/rank_0"});
  EXPECT_EQ(shared.plan().derived.at("save_graphs_path"), Value(Value::List{"g/rank_0", "g/rank_1"}));
  EXPECT_EQ(EffectiveContext(shared.plan(), shared.plan().processes[0]).at("set_context.save_graphs_path"), Value("g"))
      << "MindSpore adds the rank, not we";
  const Evaluated apart = Evaluate(
      {Recipe("context.set_ps_context { enable_ps = true } "
              "context.set_context { save_graphs = true }\n"
              "local function own(process) process:context { save_graphs_path = 'g/' .. process.role } end\n"
              "job:servers { command = { 'x' }, each = own } job:workers { count = 9, command = { 'x' }, each = own }",
              ps)});
  EXPECT_EQ(apart.problems(), Lines{});
  EXPECT_EQ(apart.plan().derived.at("save_graphs_path"),
            Value(Value::List{"g/server/rank_0", "g/worker/rank_0", "g/worker/rank_1", "…", "g/worker/rank_8"}));
}

// The same content is checked in the same way, by whichever route a context attribute got it.
TEST(DescribedFiles, AreCheckedAsShippedOnes) {
  const auto problems = [](const std::string& file, const std::string& restart = "") {
    return WithFiles({{"ps.json", R"({"server_cert_pth": "/x"})"}, {"cut.json", "{"}},
                     "context.set_ps_context { enable_ps = true, config_file_path = " + file +
                         " }\njob:servers { count = 1, command = { 'x' }" + restart +
                         " } job:workers { count = 1, command = { 'x' } }",
                     "mindspore = '2.3.1', framework = 'mindspore-ps',")
        .problems();
  };
  const Lines shipped = problems("muster.file 'ps.json'");
  ASSERT_EQ(shipped.size(), 1U);
  const std::string unknown = "MindSpore 2.3.1 ignores the unknown key \"server_cert_pth\"";
  EXPECT_NE(shipped.front().find(unknown), std::string::npos) << shipped.front();
  const std::string described = "job:file { 'ps.json', json = { server_cert_pth = '/x' } }";
  ASSERT_EQ(problems(described).size(), 1U);
  EXPECT_NE(problems(described).front().find(unknown), std::string::npos) << problems(described).front();
  EXPECT_EQ(problems(described).front().substr(0, 12), "recipe.lua:4");
  EXPECT_EQ(problems("job:file { 'ps.json', text = '{\"server_cert_pth\": 1}' }").size(), 1U);
  EXPECT_NE(problems("job:file { 'ps.json', text = '{' }").front().find("error bad_json: config_file_path"),
            std::string::npos);
  // The contract looks into it as well.
  const std::string restart = ", restart = 3";
  const auto wants_recovery = [&](const std::string& file) {
    const Lines all = problems(file, restart);
    return std::any_of(all.begin(), all.end(),
                       [](const std::string& one) { return one.find("needs recovery") != std::string::npos; });
  };
  EXPECT_TRUE(wants_recovery("job:file { 'ps.json', json = {} }"));
  EXPECT_FALSE(
      wants_recovery("job:file { 'ps.json', json = { recovery = { storage_type = 1, storage_file_path = '/x' } } }"));
}

}  // namespace
}  // namespace muster::testing
