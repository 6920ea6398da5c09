// Tests the context API as recipes call it: how calls are forwarded, where they are allowed, and the resulting plan.
// tests/settings tests the values of attributes.
#include <gtest/gtest.h>

#include "lua/evaluated.h"
#include "lua/state/own_data.h"

namespace muster::testing {
namespace {

const std::string k16 = "mindspore = '1.6',";

TEST(ContextCalls, AreResolvedInThePlan) {
  const Plan plan = PlanOf(
      "context.set_context { mode = context.PYNATIVE_MODE, device_target = 'CPU' } context.set_ps_context { enable_ps "
      "= true }" +
          kOneWorker,
      k16);
  EXPECT_EQ(plan.mindspore, "1.6.2");
  EXPECT_EQ(plan.roles[0].context, (ContextValues{{"set_context.device_target", Value("CPU")},
                                                  {"set_context.mode", Value(1)},
                                                  {"set_ps_context.enable_ps", Value(true)}}));
}

TEST(ContextCalls, OfOneProcessAffectOnlyIt) {
  const Plan plan = PlanOf(
      "context.set_context { device_target = 'Ascend' } job:workers { count = 3, command = { 'x' }, each = "
      "function(process)"
      " if process.rank == 1 then process:context { device_id = 1 } end end }",
      k16 + "cluster = { devices_per_host = 4 },");
  EXPECT_EQ(EffectiveContext(plan, ProcessNamed(plan, "worker.1")).at("set_context.device_id"), Value(1));
  EXPECT_EQ(EffectiveContext(plan, ProcessNamed(plan, "worker.0")).count("set_context.device_id"), 0U);
}

TEST(ContextCalls, ReturnSetValuesAndDefaults) {
  const Evaluated evaluated =
      Evaluate({Recipe("context.set_auto_parallel_context { gradients_mean = true } "
                       "print(context.get_auto_parallel_context 'gradients_mean')"
                       " context.reset_auto_parallel_context() print(context.get_auto_parallel_context "
                       "'gradients_mean', context.get_context 'mode')" +
                           kOneWorker,
                       k16)});
  EXPECT_EQ(evaluated.problems(), Lines{});
  ASSERT_EQ(evaluated.printed.size(), 2U);
  EXPECT_EQ(evaluated.printed[0], "true");
  EXPECT_TRUE(evaluated.printed[1].starts_with("false\t")) << evaluated.printed[1];
}

TEST(ContextCalls, AcceptOneTableOfNames) {
  const std::pair<const char*, const char*> cases[] = {
      {"context.set_context()", "type"},
      {"context.set_context(nil)", "type"},
      {"context.set_context 'CPU'", "type"},
      {"context.set_context({}, 1)", "type"},
      {"context.set_context { 'CPU' }", "type"},
      {"context.set_context { mode = print }", "type"},
      {"context.set_context { [true] = 1 }", "type"},
      {"context.set_context { mode = 0 / 0 }", "type"},
      {"context.get_context()", "type"},
      {"context.get_context 'nope'", "unknown_key"},
      {"context.get_context { 'mode' }", "type"},
      {"local t = {} t.t = t context.set_context { mode = t }", "type"},
      {"context.set_context { nope = 1 }", "unknown_key"},
      {"context.set_context { mode = true }", "type"},
      {"context.set_context { mode = '0' }", "type"},
  };
  for (const auto& [code, kind] : cases) {
    const Evaluated evaluated = Evaluate({Recipe(code + kOneWorker, k16)});
    ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U) << code;
    EXPECT_EQ(evaluated.answer.diagnostics[0].kind, kind) << code << ": " << evaluated.answer.diagnostics[0].message;
    EXPECT_EQ(evaluated.answer.diagnostics[0].place, (Place{"recipe.lua", kBodyLine})) << code;
  }
}

TEST(ContextCalls, WithoutEffectAreAllowed) {
  EXPECT_EQ(ProblemsOf("context.set_context {}" + kOneWorker, k16), Lines{});
}

TEST(ContextCalls, NeedAReleaseAndThePlanFunction) {
  const Evaluated no_release = Evaluate({Recipe("context.set_context { mode = 0 }")});
  ASSERT_EQ(no_release.answer.diagnostics.size(), 1U);
  EXPECT_EQ(no_release.answer.diagnostics[0].kind, "release");
  EXPECT_NE(no_release.answer.diagnostics[0].hint.find("1.6"), std::string::npos)
      << no_release.answer.diagnostics[0].hint;
  const Evaluated outside = Evaluate({"local context = require 'muster.context'\ncontext.set_context { mode = 0 }"});
  ASSERT_EQ(outside.answer.diagnostics.size(), 1U);
  EXPECT_EQ(outside.answer.diagnostics[0].kind, "order");
  EXPECT_EQ(outside.answer.diagnostics[0].place, (Place{"recipe.lua", 2}));
  EXPECT_EQ(Evaluate({Recipe("", "mindspore = '9.9',")}).answer.diagnostics.at(0).kind, "release");
}

TEST(ContextCalls, WithTheSameMistakeOnManyRanksAreReportedOnce) {
  const Lines problems = ProblemsOf(
      "job:workers { count = 500, command = { 'x' }, each = function(process)\nprocess:context { nope = "
      "process.rank }\nend }",
      k16);
  EXPECT_EQ(problems,
            Lines{"recipe.lua:5 error unknown_key: set_context has no attribute \"nope\" in MindSpore 1.6.2"});
}

TEST(ContextCalls, AreCheckedAgainstTheWholeJob) {
  const Evaluated evaluated =
      Evaluate({Recipe("context.set_context { device_target = 'Ascend' }\ncontext.set_auto_parallel_context { "
                       "device_num = 4, parallel_mode = 'data_parallel' }\njob:workers { command = { 'x' } }",
                       k16 + "cluster = { hosts = 1, devices_per_host = 8 },")});
  ASSERT_EQ(evaluated.problems(), Lines{"recipe.lua:5 error conflict: device_num = 4 is not the number of workers, 8"});
  EXPECT_EQ(
      evaluated.answer.diagnostics[0].notes.at(0).message,
      "the plan starts 8 workers; job.cluster.devices is hosts 1 (recipe.lua:2) × devices_per_host 8 (recipe.lua:2)");
}

TEST(ContextCalls, ShowDependentDefaultsButPassOnlySetValues) {
  const Plan plan = PlanOf("context.set_context { device_target = 'Ascend' } job:workers { command = { 'x' } }",
                           k16 + "cluster = { devices_per_host = 8 },");
  EXPECT_EQ(plan.derived.at("device_num"), Value(8));
  EXPECT_EQ(plan.roles[0].context.count("set_auto_parallel_context.device_num"), 0U);
}

TEST(ContextCalls, ThatAreRefusedCauseNoFurtherErrors) {
  const std::string cluster = "framework = 'mindspore', mindspore = '2.3', cluster = { devices_per_host = 8 },";
  const std::string set =
      "context.set_context { mode = 0, device_target = 'GPU' } "
      "context.set_auto_parallel_context { parallel_mode = 'semi_auto_parallel', pipeline_stages = 2 } ";
  const std::string each = "job:workers { count = 8, command = { 'x' }, each = function(process) ";
  const Lines variable = ProblemsOf(set + each + "process.env.MS_WORKER_IP = '192.0.2.1' end }", cluster);
  ASSERT_EQ(variable.size(), 1U) << variable.back();
  EXPECT_TRUE(variable[0].starts_with("recipe.lua:4 error contract_variable: each: MS_WORKER_IP")) << variable[0];
  const Lines rank = ProblemsOf(set + each + "process:context { global_rank = 'first' } end }", cluster);
  ASSERT_EQ(rank.size(), 1U) << rank.back();
  EXPECT_TRUE(rank[0].starts_with("recipe.lua:4 error type: global_rank")) << rank[0];
}

const std::string k26 = "mindspore = '2.6',";
const std::string kMindspore = "local mindspore = require 'muster.mindspore' ";

const std::string kParallel = kMindspore + "context.set_context { mode = 0 } mindspore.parallel ";

TEST(Parallel, IsSettledInThePlanWithItsMode) {
  const Plan plan =
      PlanOf(kParallel +
                 "{ pipeline = { stages = 2, interleave = true }, hsdp = {}, enable_gradients_mean = true, "
                 "dataset_strategy = { { 1, 4 } } } job:workers { count = 8, command = { 'x' } }",
             k26);
  EXPECT_EQ(plan.roles[0].context,
            (ContextValues{{"parallel.dataset_strategy", Value(Value::List{Value::List{1, 4}})},
                           {"parallel.enable_gradients_mean", Value(true)},
                           {"parallel.hsdp", Value(Value::Map{})},
                           {"parallel.mode", Value("semi_auto")},
                           {"parallel.pipeline", Value(Value::Map{{"stages", 2}, {"interleave", true}})},
                           {"set_context.mode", Value(0)}}));
  EXPECT_EQ(plan.derived.at("pipeline_stages"), Value(2));
}

TEST(Parallel, TakesOneTableOfNames) {
  for (const char* arguments : {"('semi_auto')", "()", "({}, {})", "{ 'semi_auto' }", "{ { mode = 'semi_auto' } }"}) {
    const Evaluated evaluated = Evaluate({Recipe(kParallel + arguments + kOneWorker, k26)});
    ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U) << arguments;
    EXPECT_EQ(evaluated.answer.diagnostics[0].kind, "type") << arguments;
  }
}

TEST(Parallel, StagesAreThoseThatProcessesSee) {
  const Evaluated evaluated =
      Evaluate({Recipe(kParallel + "{ pipeline = { stages = 2 } } job:workers { count = 4, command = { 'x' }, each = "
                                   "function(process) print(process.rank, process.stage, process.rank_in_stage) end }",
                       k26)});
  EXPECT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(evaluated.printed, (Lines{"0\t0\t0", "1\t0\t1", "2\t1\t0", "3\t1\t1"}));
}

TEST(Parallel, IsRefusedByReleasesWithoutItAndByStagesThatDoNotDivide) {
  EXPECT_EQ(ProblemsOf(kMindspore + "mindspore.parallel { mode = 'semi_auto' }" + kOneWorker, "mindspore = '2.5',"),
            Lines{"recipe.lua:4 error release: parallel is not in MindSpore 2.5.0: only from 2.6.0 on"});
  EXPECT_EQ(
      ProblemsOf(kParallel + "{ pipeline = { stages = 3 } } job:workers { count = 4, command = { 'x' } }", k26),
      Lines{"recipe.lua:4 error division: parallel: pipeline.stages = 3 does not divide the number of workers, 4"});
}

TEST(Parallel, FilesMayDifferBetweenProcesses) {
  const Plan plan = PlanOf(kParallel +
                               "{} job:workers { count = 2, command = { 'x' }, each = function(process) "
                               "mindspore.parallel { save_param_strategy_file = 's' .. process.rank } end }",
                           k26);
  EXPECT_EQ(EffectiveContext(plan, ProcessNamed(plan, "worker.1")).at("parallel.save_param_strategy_file"),
            Value("s1"));
  EXPECT_EQ(EffectiveContext(plan, ProcessNamed(plan, "worker.1")).at("parallel.mode"), Value("semi_auto"));
  const Lines stages = ProblemsOf(kParallel +
                                      "{} job:workers { count = 2, command = { 'x' }, each = function(process) "
                                      "mindspore.parallel { pipeline = { stages = 2 } } end }",
                                  k26);
  ASSERT_EQ(stages.size(), 1U);
  EXPECT_TRUE(stages[0].starts_with("recipe.lua:4 error scope: pipeline can not differ between processes"))
      << stages[0];
}

TEST(MindsporeFunctions, AreCalledByPositionOrByName) {
  const Plan plan = PlanOf(kMindspore +
                               "mindspore.set_device('Ascend', 0) mindspore.set_deterministic(true) "
                               "mindspore.runtime.set_memory { max_size = '30GB', optimize_level = 'O1' } "
                               "mindspore.runtime.launch_blocking() "
                               "mindspore.device_context.ascend.op_debug.aclinit_config { err_msg_mode = '1' }" +
                               kOneWorker,
                           k26 + "cluster = { devices_per_host = 8 },");
  EXPECT_EQ(
      plan.roles[0].context,
      (ContextValues{{"device_context.ascend.op_debug.aclinit_config.config", Value(Value::Map{{"err_msg_mode", "1"}})},
                     {"runtime.launch_blocking.called", Value(true)},
                     {"runtime.set_memory.max_size", Value("30GB")},
                     {"runtime.set_memory.optimize_level", Value("O1")},
                     {"set_deterministic.deterministic", Value(true)},
                     {"set_device.device_id", Value(0)},
                     {"set_device.device_target", Value("Ascend")}}));
}

TEST(MindsporeFunctions, OfOneProcessAffectOnlyIt) {
  const Plan plan = PlanOf(kMindspore +
                               "mindspore.set_device('Ascend') job:workers { count = 2, command = { 'x' }, each = "
                               "function(process) mindspore.runtime.dispatch_threads_num(process.rank + 1) end }",
                           k26 + "cluster = { devices_per_host = 4 },");
  const auto threads = [&](const char* name) {
    return EffectiveContext(plan, ProcessNamed(plan, name)).at("runtime.dispatch_threads_num.threads_num");
  };
  EXPECT_EQ(threads("worker.0"), Value(1));
  EXPECT_EQ(threads("worker.1"), Value(2));
}

TEST(MindsporeFunctions, AreCheckedAtTheirLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"mindspore.set_device()", "missing_argument"},
      {"mindspore.set_device('Ascend', 0, 1)", "type"},
      {"mindspore.set_device('Ascend', print)", "type"},
      {"mindspore.set_device { 'Ascend' }", "type"},
      {"mindspore.set_devise('Ascend')", "unknown_key"},
      {"mindspore.runtime.set_memori {}", "unknown_key"},
      {"mindspore.runtime.set_memory { max = '3GB' }", "unknown_key"},
      {"mindspore.runtime.set_memory { max_size = 'much' }", "format"},
      {"mindspore.runtime.launch_blocking(true)", "type"},
      {"mindspore.runtime.launch_blocking = nil", "read_only"},
  };
  for (const auto& [code, kind] : cases) {
    const Evaluated evaluated = Evaluate({Recipe(kMindspore + code + kOneWorker, k26)});
    ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U) << code;
    EXPECT_EQ(evaluated.answer.diagnostics[0].kind, kind) << code << ": " << evaluated.answer.diagnostics[0].message;
    EXPECT_EQ(evaluated.answer.diagnostics[0].place, (Place{"recipe.lua", kBodyLine})) << code;
  }
  EXPECT_EQ(ProblemsOf(kMindspore + "mindspore.set_device('CPU')" + kOneWorker, "mindspore = '2.4',"),
            Lines{"recipe.lua:4 error release: set_device is not in MindSpore 2.4.0: only from 2.5.0 on"});
}

const std::string kTwo = "framework = 'mindspore', mindspore = '2.3', cluster = { devices_per_host = 2 },";
const std::string kSet =
    "context.set_context { mode = 0, device_target = 'Ascend' } "
    "context.set_auto_parallel_context { parallel_mode = 'data_parallel' }\n";
std::string InEach(const std::string& body) {
  return kSet + "job:workers { command = { 'x' }, each = function(process)\n" + body + "\nend }";
}

TEST(ContextOfAProcess, HasAttributesOfAllFunctions) {
  const Plan plan =
      PlanOf(InEach("process:context { device_id = process.local_rank, global_rank = process.rank }"), kTwo);
  const Process& second = ProcessNamed(plan, "worker.1");
  EXPECT_EQ(second.context.at("set_context.device_id"), Value(1));
  EXPECT_EQ(second.context.at("set_auto_parallel_context.global_rank"), Value(1));
  EXPECT_EQ(plan.roles[0].context.count("set_context.device_id"), 0U);
  // `each` can read the effective settings of its process.
  EXPECT_EQ(OwnEnv(PlanOf(InEach("process:context { device_id = process.local_rank }\n"
                                 "process.env.ID = context.get_context 'device_id'"),
                          kTwo),
                   "worker.1")
                .at("ID"),
            "1");
}

TEST(ContextOfAProcess, FindsTheOneFunctionThatHasAnAttribute) {
  const auto schema = OwnSchema();
  ASSERT_TRUE(schema);
  std::size_t names = 0;
  for (const ReleaseFacts& release : schema->releases()) {
    std::map<std::string, std::string> function_of;
    for (const std::string& function : schema->Functions()) {
      for (const std::string& name : schema->Names(function, release.release)) {
        if (schema->Find(function, name, release.release)->documented_only) continue;
        ++names;
        EXPECT_TRUE(function_of.emplace(name, function).second)
            << name << ": " << function_of[name] << ", " << function;
      }
    }
  }
  EXPECT_GT(names, 100U);
}

// The function of the context API reports each mistake at the line of the call.
TEST(ContextOfAProcess, IsCheckedLikeTheFunctions) {
  const struct {
    const char *attributes, *function;
  } kCases[] = {
      {"{ device_id = 'first' }", "set_context"},
      {"{ device_id = -1 }", "set_context"},
      {"{ devce_id = 1 }", "set_context"},
      {"{ nope = 1 }", "set_context"},
      {"{ mode = 1 }", "set_context"},
      {"{ variable_memory_max_size = '5GB' }", "set_context"},
      {"{ global_rank = 'first' }", "set_auto_parallel_context"},
      {"{ globl_rank = 1 }", "set_auto_parallel_context"},
      {"{ mirror_mean = true }", "set_auto_parallel_context"},
      {"{ parallel_mode = 'data_parallel' }", "set_auto_parallel_context"},
      {"{ enable_ps = true }", "set_ps_context"},
  };
  for (const auto& [attributes, function] : kCases) {
    const Evaluated said = Evaluate({Recipe(InEach(std::string("process:context ") + attributes), kTwo)});
    Evaluated ambient = Evaluate({Recipe(InEach(std::string("context.") + function + " " + attributes), kTwo)});
    std::erase_if(ambient.answer.diagnostics, [](const Diagnostic& diagnostic) {
      return diagnostic.message.find("inside each is deprecated") != std::string::npos;
    });
    ASSERT_FALSE(said.answer.diagnostics.empty()) << attributes;
    EXPECT_EQ(said.answer.diagnostics[0].place, (Place{"recipe.lua", 6})) << attributes;
    EXPECT_EQ(said.answer.diagnostics, ambient.answer.diagnostics) << attributes << said.problems().front();
  }
}

TEST(ContextOfAProcess, AcceptsOneTableOfNames) {
  EXPECT_EQ(ProblemsOf(InEach("process:context(7)"), kTwo),
            Lines{"recipe.lua:6 error type: process:context takes one table of named attributes"});
  EXPECT_EQ(ProblemsOf(InEach("process:context()"), kTwo),
            Lines{"recipe.lua:6 error type: process:context takes one table of named attributes"});
  EXPECT_EQ(ProblemsOf(InEach("process:context({ device_id = 0 }, 1)"), kTwo),
            Lines{"recipe.lua:6 error type: process:context takes one table of named attributes"});
  EXPECT_EQ(ProblemsOf(InEach("process:context { 1 }"), kTwo),
            Lines{"recipe.lua:6 error type: process:context takes names only: { attribute = value }, got {1}"});
  EXPECT_EQ(ProblemsOf(InEach("process.context { device_id = 0 }"), kTwo),
            Lines{"recipe.lua:6 error type: process.context is called with a dot"});
  EXPECT_EQ(ProblemsOf(InEach("process.context = {}"), kTwo),
            Lines{"recipe.lua:6 error read_only: process.context cannot be set"});
  const std::string plain = "job:workers { count = 1, command = { 'x' }, each = function(process)\n";
  EXPECT_TRUE(
      ProblemsOf(plain + "process:context { device_id = 0 } end }").at(0).starts_with("recipe.lua:5 error release"));
}

// A process object stored by another process's `each` can no longer be changed.
TEST(ContextOfAProcess, IsSetOnlyInItsOwnEach) {
  EXPECT_EQ(ProblemsOf("local first\n" + InEach("first = first or process\nfirst:context { device_id = 0 }"), kTwo),
            Lines{"recipe.lua:8 error order: process:context of worker.0 is called after its each function"});
}

TEST(ContextOfAProcess, SetByAFunctionOfTheContextApiCausesAWarning) {
  const Evaluated evaluated =
      Evaluate({Recipe(InEach("context.set_context { device_id = process.local_rank }"), kTwo)});
  EXPECT_EQ(evaluated.problems(),
            Lines{"recipe.lua:6 warning deprecated: set_context inside each is deprecated: attributes "
                  "of one process are set on that process"});
  EXPECT_EQ(evaluated.answer.diagnostics[0].hint, "write process:context { device_id = … }");
  EXPECT_EQ(ProcessNamed(evaluated.plan(), "worker.1").context.at("set_context.device_id"), Value(1));
}

TEST(ContextConstants, OfAnotherReleaseAreReportedWhereTheyAreUsed) {
  const struct {
    const char* release;
    const char* taken;
    const char* problem;
  } cases[] = {
      {"0.3", "context.ParallelMode.AUTO_PARALLEL",
       "context.ParallelMode is not in MindSpore 0.3.1: only from 1.0.0 on"},
      {"0.3", "context.ParallelMode.MODE_LIST", "context.ParallelMode is not in MindSpore 0.3.1: only from 1.0.0 on"},
      {"0.3", "context.STRICT", "context.STRICT is not in MindSpore 0.3.1: only from 2.3.0-rc2 on"},
      {"1.0", "context.DEBUG", "context.DEBUG is not in MindSpore 1.0.1: only from 2.3.0-rc2 on"},
      {"1.6", "context.LAX", "context.LAX is not in MindSpore 1.6.2: only from 2.3.0-rc2 on"},
      {"1.9", "context.RELEASE", "context.RELEASE is not in MindSpore 1.9.0: only from 2.3.0-rc2 on"},
      {"0.3", "context.GRAPH_MODE", nullptr},
      {"0.3", "context.PYNATIVE_MODE", nullptr},
      {"1.0", "context.ParallelMode.AUTO_PARALLEL", nullptr},
      {"2.3.0-rc2", "context.STRICT", nullptr},
      {"2.3", "context.DEBUG", nullptr},
      {"2.4", "context.COMPATIBLE", nullptr},
  };
  for (const auto& test : cases) {
    const std::string fields = std::string("mindspore = '") + test.release + "',";
    const Lines wanted =
        test.problem == nullptr ? Lines{} : Lines{std::string("recipe.lua:5 error release: ") + test.problem};
    EXPECT_EQ(ProblemsOf(std::string("job:derive { a = 1 }\nlocal taken = ") + test.taken + kOneWorker, fields), wanted)
        << test.release << " " << test.taken;
    // Used before the release is known.
    const Evaluated early = Evaluate({std::string("local context = require 'muster.mindspore'\nlocal early = ") +
                                      test.taken + "\n" + Recipe(kOneWorker, fields)});
    const Lines reported =
        test.problem == nullptr ? Lines{} : Lines{std::string("recipe.lua:2 error release: ") + test.problem};
    EXPECT_EQ(early.problems(), reported) << test.release << " " << test.taken;
  }
}

TEST(ContextConstants, OfNoReleaseAreReportedAsTypos) {
  const Evaluated evaluated = Evaluate({Recipe(
      "context.set_auto_parallel_context { parallel_mode = context.ParallelMode.DATA_PARALEL }" + kOneWorker, k16)});
  ASSERT_EQ(evaluated.problems(),
            Lines{"recipe.lua:4 error unknown_key: there is no DATA_PARALEL in context.ParallelMode"});
  EXPECT_EQ(evaluated.answer.diagnostics[0].hint, "did you mean \"DATA_PARALLEL\"?");
  EXPECT_EQ(ProblemsOf("context.ParallelMode.X = 1" + kOneWorker, k16),
            Lines{"recipe.lua:4 error read_only: X cannot be set in context.ParallelMode"});
}

TEST(ContextConstants, NeedNoReleaseAsLongAsNothingIsSet) {
  EXPECT_EQ(ProblemsOf("local a, b = context.STRICT, context.ParallelMode" + kOneWorker), Lines{});
}

TEST(ContextCalls, OfParameterServersAreMissingInRelease03) {
  const std::pair<const char*, const char*> calls[] = {{"set_ps_context { enable_ps = true }", "set_ps_context"},
                                                       {"get_ps_context 'enable_ps'", "get_ps_context"},
                                                       {"reset_ps_context()", "reset_ps_context"}};
  for (const auto& [call, name] : calls) {
    EXPECT_EQ(
        ProblemsOf("job:derive { a = 1 }\ncontext." + std::string(call) + kOneWorker, "mindspore = '0.3',"),
        Lines{std::string("recipe.lua:5 error release: ") + name + " is not in MindSpore 0.3.1: only from 1.0.0 on"});
  }
}

TEST(ContextRules, AreCheckedWhenThePlanIsMade) {
  const Evaluated evaluated =
      Evaluate({Recipe("context.set_context { runtime_num_threads = 30 }\njob:workers { count = 4, command = { 'x' } }",
                       "mindspore = '1.9', framework = 'mindspore',")});
  ASSERT_EQ(evaluated.problems(),
            Lines{"recipe.lua:4 warning threads: runtime_num_threads = 30 in each of 5 processes of one host makes 150 "
                  "threads that contend in MindSpore 1.9.0"});
  const std::vector<Note>& notes = evaluated.answer.diagnostics[0].notes;
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].message, "the plan starts 5 processes on host 0, scheduler and servers included");
  EXPECT_TRUE(notes[1].message.starts_with("rule: ")) << notes[1].message;
}

TEST(ContextRules, CountTheDevicesOfAHostWithoutAssignedDevices) {
  EXPECT_EQ(ProblemsOf("context.set_context { device_id = 8 }\njob:workers { count = 1, command = { 'x' } }",
                       k16 + "cluster = { devices_per_host = 8 },"),
            Lines{"recipe.lua:4 warning range: device_id = 8 of worker.0 is not below the devices of its host, 8"});
}

}  // namespace
}  // namespace muster::testing
