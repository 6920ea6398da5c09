// Tests how calls are rewritten: which settings move, with their comments and layout, and which stay, with the reason.
#include <gtest/gtest.h>

#include "rewrite/rewritten.h"

namespace muster::testing {
namespace {

std::string Moved(const std::string& body, std::vector<Value::Map> contexts = {}) {
  const Rewriting rewriting = RewrittenBody(body, std::move(contexts));
  EXPECT_EQ(LeftOf(rewriting), "") << body;
  return BodyOf(rewriting);
}

// Returns the lines of the settings that stay; the body must be unchanged.
std::string Left(const std::string& body, std::vector<Value::Map> contexts = {}) {
  const Rewriting rewriting = RewrittenBody(body, std::move(contexts));
  EXPECT_EQ(rewriting.text, RecipeOf(body));
  return LeftOf(rewriting);
}

std::vector<Value::Map> On(const char* device) { return {{{"set_context.device_target", Value(device)}}}; }
std::vector<Value::Map> InGraphMode() { return {{{"set_context.mode", Value(0)}}}; }

TEST(RecipeRewriter, MovesEachAttributeToItsFunction) {
  const std::pair<const char*, const char*> cases[] = {
      {"device_target = 'GPU'", "mindspore.set_device('GPU')"},
      {"device_target = 'Davinci'", "mindspore.set_device(\"Ascend\")"},
      {"device_id = 3, device_target = 'GPU'", "mindspore.set_device('GPU', 3)"},
      {"max_device_memory = \"30GB\"", "mindspore.runtime.set_memory { max_size = \"30GB\" }"},
      {"mempool_block_size = '2GB', memory_optimize_level = p.level",
       "mindspore.runtime.set_memory { increase_size = '2GB', optimize_level = p.level }"},
      {"deterministic = 'ON'", "mindspore.set_deterministic(true)"},
      {"deterministic = 'OFF'", "mindspore.set_deterministic(false)"},
      {"max_call_depth = 2 * p.depth", "mindspore.set_recursion_limit(2 * p.depth)"},
      {"inter_op_parallel_num = 4", "mindspore.runtime.dispatch_threads_num(4)"},
      {"runtime_num_threads = 0x10", "mindspore.device_context.cpu.op_tuning.threads_num(0x10)"},
      {"pynative_synchronize = true", "mindspore.runtime.launch_blocking()"},
      {"op_timeout = p.seconds", "mindspore.device_context.ascend.op_debug.execute_timeout(p.seconds)"},
      {"aoe_tune_mode = 'online'", "mindspore.device_context.ascend.op_tuning.aoe_tune_mode('online')"},
      {"aoe_config = { job_type = '1' }", "mindspore.device_context.ascend.op_tuning.aoe_job_type('1')"},
      {"ascend_config = { jit_compile = p.jit }", "mindspore.device_context.ascend.op_tuning.op_compile(p.jit)"},
      {"ascend_config = { op_debug_option = 'oom' }", "mindspore.device_context.ascend.op_debug.debug_option('oom')"},
      {"gpu_config = { conv_allow_tf32 = false }", "mindspore.device_context.gpu.op_precision.conv_allow_tf32(false)"},
  };
  for (const auto& [fields, call] : cases) {
    EXPECT_EQ(Moved("context.set_context { " + std::string(fields) + " }"), call);
  }
}

TEST(RecipeRewriter, DropsASwitchThatIsOff) {
  EXPECT_EQ(Moved("f()\n  context.set_context { pynative_synchronize = false }\ng()"), "f()\ng()");
  EXPECT_EQ(Moved("f() context.set_context { pynative_synchronize = false } g()"), "f()  g()");
  EXPECT_EQ(Moved("context.set_context { mode = 0, pynative_synchronize = false }"),
            "context.set_context { mode = 0 }");
}

// Lua takes "f\n(g)()" for one call, and has no empty statement.
TEST(RecipeRewriter, JoinsNoStatementsThatWereApart) {
  EXPECT_EQ(Moved("local x = f\ncontext.set_context { pynative_synchronize = false };\n-- a\n(g)()"),
            "local x = f\ndo end\n-- a\n(g)()");
  EXPECT_EQ(Moved("do\n  context.set_context { pynative_synchronize = false }\n  ;(g)() end"),
            "do\n  do end\n  ;(g)() end");
  EXPECT_EQ(Moved("do context.set_context { --[[a]] pynative_synchronize = false }; (g)() end"),
            "do --[[a]] do end (g)() end");
  EXPECT_EQ(Moved("(context).set_context {\n  device_target = 'GPU', -- a\n  mode = 0 }"),
            "mindspore.set_device('GPU');  -- a\n(context).set_context {\n  mode = 0 }");
  EXPECT_EQ(Moved("(context).set_context { device_target = 'GPU' }\nlocal x = 1"),
            "mindspore.set_device('GPU')\nlocal x = 1");
}

TEST(RecipeRewriter, ClosesATableBehindAComment) {
  EXPECT_EQ(Moved("  context.set_context {\n    mode = 0, -- m\n    device_target = 'GPU' }\nf()"),
            "  mindspore.set_device('GPU')\n  context.set_context {\n    mode = 0 -- m\n  }\nf()");
  EXPECT_EQ(BodyOf(RewrittenBody(
                "context.set_context { ascend_config = { ge_options = {}, -- g\n jit_compile = true }, mode = 0 }")),
            "mindspore.device_context.ascend.op_tuning.op_compile(true)\n"
            "context.set_context { ascend_config = { ge_options = {} -- g\n}, mode = 0 }");
}

TEST(RecipeRewriter, KeepsTheSpellingOfValues) {
  EXPECT_EQ(Moved("context.set_context { device_target = [==[GPU]==]; max_device_memory = [[3GB]], }"),
            "mindspore.set_device([==[GPU]==])\nmindspore.runtime.set_memory { max_size = [[3GB]] }");
  EXPECT_EQ(Moved("context.set_context { device_target = \"G\\80U\" }"), "mindspore.set_device(\"G\\80U\")");
  EXPECT_EQ(Moved("\tcontext.set_context {\n\t\tmode\t= 0,\t-- m\n\t\tdevice_target\t= 'GPU',\t-- d\n\t}"),
            "\tmindspore.set_device('GPU')  -- d\n\tcontext.set_context {\n\t\tmode\t= 0,\t-- m\n\t}");
  EXPECT_EQ(Moved("local s = \"context.set_context { op_timeout = 3 }\" -- context.set_context { op_timeout = 4 }"),
            "local s = \"context.set_context { op_timeout = 3 }\" -- context.set_context { op_timeout = 4 }");
  EXPECT_EQ(Moved("for i = 1, 2 do goto next context.set_context { max_call_depth = i } ::next:: end"),
            "for i = 1, 2 do goto next mindspore.set_recursion_limit(i) ::next:: end");
  EXPECT_EQ(Moved("local function f(...) context.set_context { device_target = ... } end"),
            "local function f(...) mindspore.set_device { device_target = ... } end");
}

TEST(RecipeRewriter, LeavesTheDeviceWhereItsNumberCannotBeFollowed) {
  EXPECT_EQ(LeftOf(RewrittenBody("context.set_context { device_target = 'GPU' }\n"
                                 "local function each(process) process:context { device_id = process.local_rank } end\n"
                                 "job:workers { each = each }",
                                 {{{"set_context.device_target", Value("GPU")}, {"set_context.device_id", Value(1)}}})),
            "4 device_target: device_id is set by a call that cannot be followed, and would have no effect then\n"
            "5 a call of :context: it is not called on the parameter of a function that is written at each =\n");
  EXPECT_EQ(Left("if p.x then context.set_context { op_timeout = 3 } else context.set_context { op_timeout = 4 } end")
                .find("4 op_timeout: mindspore.device_context.ascend.op_debug.execute_timeout can be called once"),
            0U);
}

TEST(RecipeRewriter, KeepsWhatIsNotDeprecated) {
  EXPECT_EQ(Moved("context.set_context { mode = 0, max_device_memory = '3GB', enable_reduce_precision = true }"),
            "mindspore.runtime.set_memory { max_size = '3GB' }\n"
            "context.set_context { mode = 0, enable_reduce_precision = true }");
  EXPECT_EQ(Moved("context.set_context{device_target='GPU',mode=0}"),
            "mindspore.set_device('GPU')\ncontext.set_context{mode=0}");
  EXPECT_EQ(Moved("context.set_context{mode=0,device_target='GPU'}"),
            "mindspore.set_device('GPU')\ncontext.set_context{mode=0}");
  EXPECT_EQ(Moved("context.set_context { device_target = 'GPU', mode = 0, }"),
            "mindspore.set_device('GPU')\ncontext.set_context { mode = 0, }");
}

TEST(RecipeRewriter, KeepsCommentsAndLayout) {
  EXPECT_EQ(Moved("    -- what a process is\n"
                  "    context.set_context {\n"
                  "      -- whole graphs\n"
                  "      mode = 0,  -- not 1\n"
                  "\n"
                  "      -- on cards,\n"
                  "      -- all alike\n"
                  "      device_target = \"Ascend\",\n"
                  "      max_device_memory = 30 * 2^30,   -- of 32\n"
                  "      --[[ long\n"
                  "           comment ]]\n"
                  "      memory_optimize_level = \"O1\" -- slower\n"
                  "      -- the end\n"
                  "    }  -- so much for that\n"
                  "\n"
                  "    job:workers {}"),
            "    -- what a process is\n"
            "    -- on cards,\n"
            "    -- all alike\n"
            "    mindspore.set_device(\"Ascend\")\n"
            "    --[[ long\n"
            "           comment ]]\n"
            "    -- of 32\n"
            "    -- slower\n"
            "    mindspore.runtime.set_memory { max_size = 30 * 2^30, optimize_level = \"O1\" }\n"
            "    context.set_context {\n"
            "      -- whole graphs\n"
            "      mode = 0  -- not 1\n"
            "      -- the end\n"
            "    }  -- so much for that\n"
            "\n"
            "    job:workers {}");
}

TEST(RecipeRewriter, KeepsCommentsOfARemovedCall) {
  EXPECT_EQ(Moved("context.set_context --[[a]] { --[[b]] op_timeout --[[c]] = --[[d]] 3 --[[e]], -- f\n"
                  "  -- g\n"
                  "} -- h"),
            "--[[a]]\n-- g\n--[[b]]\n--[[c]]\n--[[d]]\n--[[e]]\n-- f\n"
            "mindspore.device_context.ascend.op_debug.execute_timeout(3) -- h");
  EXPECT_EQ(Moved("context.set_context { ascend_config = { -- a\n  jit_compile = true, -- b\n} }"),
            "-- a\nmindspore.device_context.ascend.op_tuning.op_compile(true)  -- b");
}

TEST(RecipeRewriter, StaysOnOneLineWithOtherCode) {
  EXPECT_EQ(
      Moved("if p.x then context.set_context { op_timeout = 3, mode = 0 } end"),
      "if p.x then mindspore.device_context.ascend.op_debug.execute_timeout(3); context.set_context { mode = 0 } end");
  EXPECT_EQ(Moved("if p.x then context.set_context { op_timeout = 3, -- ]] a\n device_target = 'GPU' }; end"),
            "if p.x then mindspore.set_device('GPU'); --[=[ ]] a ]=] "
            "mindspore.device_context.ascend.op_debug.execute_timeout(3); end");
}

TEST(RecipeRewriter, MovesExpressionsUnchanged) {
  EXPECT_EQ(Moved("context.set_context { device_target = f(p) }"), "mindspore.set_device { device_target = f(p) }")
      << "by position a call could give several values";
  EXPECT_EQ(Moved("context.set_context { device_target = (f(p)) }"), "mindspore.set_device((f(p)))");
  EXPECT_EQ(
      Moved("context.set_context { op_timeout = (function() -- a\n  return 3 end)() }"),
      "mindspore.device_context.ascend.op_debug.execute_timeout { op_timeout = (function() -- a\n  return 3 end)() }");
  EXPECT_EQ(Moved("context.set_context { device_target = ({ a = \"}\", b = [[}]] })[p.x] }"),
            "mindspore.set_device(({ a = \"}\", b = [[}]] })[p.x])");
}

TEST(RecipeRewriter, SetsTheDeviceOfEachProcess) {
  EXPECT_EQ(Moved("context.set_context { device_target = 'GPU' }\n"
                  "job:workers { each = function(process)\n"
                  "  process:context { device_id = process.local_rank, global_rank = process.rank }\n"
                  "end }"),
            "mindspore.set_device('GPU')\n"
            "job:workers { each = function(process)\n"
            "  mindspore.set_device { device_id = process.local_rank }\n"
            "  process:context { global_rank = process.rank }\n"
            "end }");
  EXPECT_EQ(Moved("context.set_context { device_target = 'GPU' }\n"
                  "job:workers { each = function(process) context.set_context { device_id = process.rank } end }"),
            "mindspore.set_device('GPU')\n"
            "job:workers { each = function(process) mindspore.set_device { device_id = process.rank } end }");
}

TEST(RecipeRewriter, UsesAnExistingModule) {
  const RewriteTarget target = TargetOf27();
  const auto rewrite = [&](const std::string& text) { return RewriteRecipe(text, "r.lua", target).value().text; };
  const std::string head = "return require 'muster'.recipe { mindspore = '2.7', plan = function(p, job) ";
  EXPECT_EQ(
      rewrite("local ms = require 'muster.mindspore'\n" + head + "ms.set_context { op_timeout = 3 } end }"),
      "local ms = require 'muster.mindspore'\n" + head + "ms.device_context.ascend.op_debug.execute_timeout(3) end }");
  EXPECT_EQ(rewrite("local c = require('muster.context')\n" + head + "c.set_context { op_timeout = 3 } end }"),
            "local mindspore = require('muster.mindspore')\n" + head +
                "mindspore.device_context.ascend.op_debug.execute_timeout(3) end }")
      << "nothing else used the old module";
  EXPECT_EQ(
      rewrite("-- a\nlocal c = require 'muster.context' -- b\r\n" + head +
              "c.set_context { op_timeout = 3, mode = c.GRAPH_MODE } end }"),
      "-- a\nlocal c = require 'muster.context' -- b\nlocal mindspore = require 'muster.mindspore'\r\n" + head +
          "mindspore.device_context.ascend.op_debug.execute_timeout(3); c.set_context { mode = c.GRAPH_MODE } end }");
  EXPECT_EQ(rewrite("-- a\n" + head + "require 'muster.context'.set_context { op_timeout = 3 } end }"),
            "-- a\nlocal mindspore = require \"muster.mindspore\"\n" + head +
                "mindspore.device_context.ascend.op_debug.execute_timeout(3) end }");
  EXPECT_NE(rewrite("local c, mindspore = require 'muster.context', 1\n" + head +
                    "require 'muster.context'.set_context { op_timeout = 3 } end }")
                .find("mindspore_2.device_context"),
            std::string::npos)
      << "a name that the recipe uses otherwise";
}

TEST(RecipeRewriter, NamesTheRelease) {
  RewriteTarget target = TargetOf27();
  target.own_release = Release{2, 3, 1, Release::kFinal};
  const auto rewrite = [&](const std::string& fields) {
    return RewriteRecipe("local context = require 'muster.context'\nreturn require 'muster'.recipe { " + fields +
                             "plan = function() context.set_context { op_timeout = 3 } end }",
                         "r.lua", target)
        .value();
  };
  const Rewriting named = rewrite("mindspore = '2.3', ");
  EXPECT_NE(named.text.find("mindspore = '2.7', "), std::string::npos) << named.text;
  EXPECT_TRUE(named.names_release);
  EXPECT_EQ(LeftOf(named), "");
  const Rewriting elsewhere = rewrite("");
  EXPECT_TRUE(elsewhere.moved.empty()) << "the recipe could no longer be planned";
  EXPECT_EQ(LeftOf(elsewhere),
            "0 mindspore: this file does not name the recipe's release: write mindspore = \"2.7\" there\n"
            "2 op_timeout: the recipe is for MindSpore 2.3.1, which lacks "
            "mindspore.device_context.ascend.op_debug.execute_timeout, and does not name that release in this file\n");
  EXPECT_NE(LeftOf(rewrite("mindspore = RELEASE, ")).find("2 mindspore: the release is an expression"),
            std::string::npos);
}

TEST(RecipeRewriter, KeepsTheLineEndsOfAFile) {
  EXPECT_EQ(
      RewriteRecipe("local c = require 'muster.context'\r\nf {\r\n  plan = function()\r\n    c.set_context {\r\n      "
                    "mode = 0,\r\n"
                    "      op_timeout = 3,\r\n    }\r\n  end }\r\n",
                    "r.lua", TargetOf27())
          .value()
          .text,
      "local c = require 'muster.context'\r\nlocal mindspore = require 'muster.mindspore'\r\nf {\r\n  plan = "
      "function()\r\n"
      "    mindspore.device_context.ascend.op_debug.execute_timeout(3)\r\n    c.set_context {\r\n      mode = 0,\r\n"
      "    }\r\n  end }\r\n");
}

TEST(RecipeRewriter, KeepsSettingsWithoutANewFunction) {
  EXPECT_EQ(Left("context.set_context { save_graphs = 1, check_bprop = true }"),
            "4 save_graphs: no function replaces it in MindSpore 2.7.0: use the environment variable "
            "MS_DEV_SAVE_GRAPHS instead\n"
            "4 check_bprop: no function replaces it in MindSpore 2.7.0\n");
  EXPECT_EQ(
      Left("context.set_context { enable_dump = true, devise_id = 3 }"),
      "4 enable_dump: enable_dump is not in MindSpore 2.7.0: it has been removed: use the environment variable "
      "MINDSPORE_DUMP_CONFIG\n"
      "4 devise_id: set_context has no attribute \"devise_id\" in MindSpore 2.7.0: did you mean \"device_id\"?\n");
  EXPECT_EQ(Left("context.set_context { enable_sparse = true }"), "4 enable_sparse: MindSpore 2.7.0 ignores it\n");
  EXPECT_EQ(Left("context.set_context { ascend_config = { exception_dump = '1', ge_options = {} } }"),
            "4 ascend_config.exception_dump: it is not in MindSpore 2.7.0: use "
            "mindspore.device_context.ascend.op_debug.aclinit_config() with dump\n"
            "4 ascend_config.ge_options: no function replaces it in MindSpore 2.7.0\n");
}

TEST(RecipeRewriter, KeepsSettingsWithAnotherMeaning) {
  EXPECT_EQ(Left("context.set_context { variable_memory_max_size = '5GB' }"),
            "4 variable_memory_max_size: it does not mean the same as mindspore.runtime.set_memory() with max_size: it "
            "limits the "
            "memory of variables, and max_size all memory of the device\n");
  EXPECT_EQ(Left("context.set_context { pynative_synchronize = true }", InGraphMode()),
            "4 pynative_synchronize: the recipe uses GRAPH_MODE, where mindspore.runtime.launch_blocking has an effect "
            "and the "
            "attribute has none\n");
  EXPECT_EQ(
      Left("context.set_context { mempool_block_size = '2GB' }", InGraphMode()),
      "4 mempool_block_size: MindSpore 2.7.0 drops it in GRAPH_MODE, and mindspore.runtime.set_memory would not\n");
  EXPECT_EQ(Left("context.set_context { op_timeout = 3 }", On("GPU")),
            "4 op_timeout: mindspore.device_context.ascend.op_debug.execute_timeout is for Ascend, and the recipe "
            "computes on "
            "GPU\n");
  EXPECT_EQ(
      Left("context.set_context { max_device_memory = '2GB', gpu_config = { conv_allow_tf32 = true } }", On("CPU")),
      "4 max_device_memory: MindSpore 2.7.0 skips it on CPU, and mindspore.runtime.set_memory would not\n"
      "4 gpu_config.conv_allow_tf32: MindSpore 2.7.0 skips it on CPU, and "
      "mindspore.device_context.gpu.op_precision.conv_allow_tf32 would not\n");
}

TEST(RecipeRewriter, MovesABlockSizeInGraphModeWhereItWorks) {
  const std::vector<Value::Map> contexts = {
      {{"set_context.mode", Value(0)}, {"set_context.jit_config", Value(Value::Map{{"jit_level", Value("O0")}})}}};
  EXPECT_EQ(Moved("context.set_context { mempool_block_size = '2GB' }", contexts),
            "mindspore.runtime.set_memory { increase_size = '2GB' }");
}

TEST(RecipeRewriter, KeepsValuesThatTheFunctionDoesNotAccept) {
  EXPECT_EQ(Left("context.set_context { deterministic = p.word }"),
            "4 deterministic: its value is an expression, and mindspore.set_deterministic takes other values (OFF -> "
            "false, ON "
            "-> true)\n");
  EXPECT_EQ(Left("context.set_context { inter_op_parallel_num = p.threads }"),
            "4 inter_op_parallel_num: its value is an expression, and mindspore.runtime.dispatch_threads_num does not "
            "take every "
            "value that the attribute takes\n");
  EXPECT_EQ(Left("context.set_context { inter_op_parallel_num = 0 }").substr(0, 83),
            "4 inter_op_parallel_num: mindspore.runtime.dispatch_threads_num refuses it: threads");
  EXPECT_NE(Left("context.set_context { device_target = nil }").find("refuses it"), std::string::npos);
  EXPECT_NE(Left("context.set_context { op_timeout = -1 }").find("refuses it"), std::string::npos);
}

TEST(RecipeRewriter, KeepsSettingsThatTheRecipeReads) {
  EXPECT_EQ(Left("context.set_context { op_timeout = 3 }\nf(context.get_context 'op_timeout')"),
            "4 op_timeout: the recipe reads it with get_context, which does not see what "
            "mindspore.device_context.ascend.op_debug.execute_timeout sets\n");
  EXPECT_NE(Left("context.set_context { op_timeout = 3 }\nf(context.get_context(p.x))").find("reads it"),
            std::string::npos);
  EXPECT_NE(Left("context.set_context { op_timeout = 3 }\nlocal get = context.get_context").find("reads it"),
            std::string::npos);
  EXPECT_EQ(Moved("context.set_context { device_target = 'GPU' }\nf(context.get_context 'device_target')"),
            "mindspore.set_device('GPU')\nf(context.get_context 'device_target')")
      << "get_context answers what set_device stored";
}

TEST(RecipeRewriter, MovesSettingsOfAFunctionTogetherOrNotAtAll) {
  EXPECT_EQ(Left("context.set_context { max_device_memory = '3GB', variable_memory_max_size = '5GB' }").substr(0, 101),
            "4 max_device_memory: variable_memory_max_size of line 4 stays, and would have no effect beside mindsp");
  EXPECT_EQ(
      Left("context.set_context { max_device_memory = '3GB' }\ncontext.set_context { memory_optimize_level = 'O1' }"),
      "4 max_device_memory: mindspore.runtime.set_memory can be called once, and lines 4 and 5 would both call it: put "
      "these "
      "settings into one call\n"
      "5 memory_optimize_level: mindspore.runtime.set_memory can be called once, and lines 4 and 5 would both call it: "
      "put "
      "these settings into one call\n");
  EXPECT_NE(Left("local mindspore = require 'muster.mindspore'\nmindspore.set_device('GPU')\n"
                 "context.set_context { device_target = 'GPU' }")
                .find("lines 5 and 6 would both call it"),
            std::string::npos);
  EXPECT_EQ(Left("context.set_context { device_id = 3 }"),
            "4 device_id: mindspore.set_device needs device_target, which this call does not set\n");
  EXPECT_EQ(Left("job:workers { each = function(process) process:context { device_id = 3 } end }"),
            "4 device_id: mindspore.set_device needs device_target, which no call for the job sets in this file\n");
  EXPECT_EQ(Moved("context.set_context { max_call_depth = 3 }\ncontext.set_context { max_call_depth = 4 }"),
            "mindspore.set_recursion_limit(3)\nmindspore.set_recursion_limit(4)")
      << "a function that can be called again";
}

TEST(RecipeRewriter, ConsidersOtherFilesOfARecipe) {
  const auto left = [](const std::string& body, const std::string& other) {
    RewriteTarget target = TargetOf27();
    target.other_files = {{"base.lua",
                           "local context, mindspore = require 'muster.context', 0\n"
                           "local context = require 'muster.context'\n"
                           "local mindspore = require 'muster.mindspore'\n" +
                               other}};
    return LeftOf(RewriteRecipe(RecipeOf(body), "r.lua", target).value());
  };
  const std::string memory = "context.set_context { memory_optimize_level = 'O1' }";
  EXPECT_EQ(left(memory, "context.set_context { max_device_memory = '3GB' }"),
            "4 memory_optimize_level: base.lua sets max_device_memory, too: rewrite that file first\n");
  EXPECT_EQ(left(memory, "mindspore.runtime.set_memory { max_size = '3GB' }"),
            "4 memory_optimize_level: base.lua calls mindspore.runtime.set_memory, too: set it there\n");
  EXPECT_NE(left(memory, "f(context.get_context 'memory_optimize_level')").find("reads it"), std::string::npos);
  EXPECT_EQ(left(memory, "context.set_context { op_timeout = 3 }"), "");
  EXPECT_EQ(left(memory, "no Lua"), "");
}

TEST(RecipeRewriter, KeepsSettingsThatCouldHideAnUnknownOne) {
  EXPECT_EQ(
      LeftOf(RewrittenBody("context.set_context(p.settings)\ncontext.set_context { memory_optimize_level = 'O1' }",
                           {{{"set_context.max_device_memory", Value("3GB")}}})),
      "4 set_context: its argument is no table that is written out here\n"
      "5 memory_optimize_level: max_device_memory is set by a call that cannot be followed, and would have no effect "
      "then\n");
}

TEST(RecipeRewriter, RewritesTwoCallsOnOneLine) {
  EXPECT_NE(
      Left("context.set_context { op_timeout = 3 } context.set_context { op_timeout = 4 }").find("can be called once"),
      std::string::npos);
}

TEST(RecipeRewriter, ListsCallsThatItCannotFollow) {
  EXPECT_EQ(Left("local set = context.set_context\nset { op_timeout = 3 }"),
            "4 set_context: it is used as a value here, so calls of it cannot be followed\n");
  EXPECT_EQ(Left("context.set_context(p.settings)"),
            "4 set_context: its argument is no table that is written out here\n");
  EXPECT_EQ(Left("context.set_context({ op_timeout = 3 }, 1)"),
            "4 set_context: its argument is no table that is written out here\n");
  EXPECT_EQ(Left("local x = context.set_context { op_timeout = 3 }"),
            "4 set_context: the call is part of an expression\n");
  EXPECT_EQ(Left("context.set_context { ['op_timeout'] = 3 }"),
            "4 set_context: its table has a field that is not written as name = value\n");
  EXPECT_EQ(Left("context.set_context { op_timeout = 3, op_timeout = 4 }"),
            "4 set_context: its table has op_timeout twice\n");
  EXPECT_EQ(Left("context[p.x] { op_timeout = 3 }"),
            "4 an index of the context module: it is an expression, so the call cannot be followed\n");
  EXPECT_EQ(Left("f(context)"),
            "4 muster.context: the module is passed on here, so calls through it cannot be followed\n");
  EXPECT_EQ(Left("local context = f()\ncontext.set_context { op_timeout = 3 }"),
            "5 set_context: its source is not a local variable that holds require \"muster.context\"\n");
  EXPECT_EQ(Left("local function of(process) process:context { op_timeout = 3 } end"),
            "4 a call of :context: it is not called on the parameter of a function that is written at each =\n");
  EXPECT_EQ(Left("context.set_context { ascend_config = p.ascend }"),
            "4 ascend_config: its value is no table that is written out here\n");
  EXPECT_EQ(Left("context.set_context { ascend_config = { [p.x] = 1 } }"),
            "4 ascend_config: its table has a field twice, or one that is not written as name = value\n");
}

TEST(RecipeRewriter, FollowsAnAliasOfTheModule) {
  EXPECT_EQ(Moved("local c = context\nc.set_context { op_timeout = 3 }"),
            "local c = context\nmindspore.device_context.ascend.op_debug.execute_timeout(3)");
}

TEST(RecipeRewriter, ListsFunctionsThatStayOnce) {
  RewriteTarget target = TargetOf27();
  target.staying = {{"set_ps_context", "why"}};
  const auto rewriting = RewriteRecipe(RecipeOf("context.set_ps_context { enable_ps = true }"), "r.lua", target);
  ASSERT_TRUE(rewriting.has_value());
  EXPECT_EQ(LeftOf(*rewriting), "4 set_ps_context: why\n");
}

TEST(RecipeRewriter, RefusesInvalidLua) {
  const auto rewriting = RewriteRecipe("return {\n", "r.lua", TargetOf27());
  ASSERT_FALSE(rewriting.has_value());
  EXPECT_EQ(rewriting.error().front().kind, "syntax");
  EXPECT_EQ(rewriting.error().front().place, (Place{"r.lua", 2}));
}

}  // namespace
}  // namespace muster::testing
