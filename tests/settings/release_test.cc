// Tests differences between releases: names, modes, frozen attributes, merged tables, missing functions.
#include <algorithm>

#include <gtest/gtest.h>

#include "muster/mindspore/context.h"
#include "settings/real_schema.h"

namespace muster {
namespace {

constexpr const char* kReleases[] = {"0.3.1", "1.0.1", "1.6.2", "1.9.0", "2.3.0-rc2",
                                     "2.3.1", "2.4.0", "2.5.0", "2.6.0", "2.7.0"};

Context In(const char* release) { return {RealSchema(), *ParseRelease(release)}; }

TEST(ReleaseNames, RefuseMirrorMeanIn16WithItsSuccessorAndTakeItIn03) {
  Context now = In("1.6.2");
  const Diagnostic error = Only(now.Apply(kAuto, {{"mirror_mean", true}}, At(4)));
  EXPECT_EQ(error.severity, Severity::kError);
  EXPECT_EQ(error.kind, "release");
  EXPECT_EQ(error.place, At(4));
  EXPECT_EQ(error.message, "mirror_mean is not in MindSpore 1.6.2: it has been removed");
  EXPECT_EQ(error.hint, "use gradients_mean");
  Context then = In("0.3.1");
  EXPECT_TRUE(then.Apply(kAuto, {{"mirror_mean", true}}, At(4)).empty());
  EXPECT_EQ(then.Get(kAuto, "mirror_mean", At(5))->value, Value(true));
}

TEST(ReleaseNames, AreReportedInBothDirections) {
  struct Renamed {
    const char* release;
    const char* name;
    const char* hint;
  };
  const Renamed names[] = {{"1.0.1", "mirror_mean", "use gradients_mean"},
                           {"2.4.0", "mirror_mean", "use gradients_mean"},
                           {"0.3.1", "gradients_mean", "use mirror_mean"},
                           {"1.6.2", "cast_before_mirror", "use gradient_fp32_sync"},
                           {"0.3.1", "gradient_fp32_sync", "use cast_before_mirror"}};
  for (const Renamed& renamed : names) {
    Context context = In(renamed.release);
    const Diagnostic error = Only(context.Apply(kAuto, {{renamed.name, true}}, At(4)));
    EXPECT_EQ(error.kind, "release") << renamed.release << " " << renamed.name;
    EXPECT_EQ(error.hint, renamed.hint) << renamed.release << " " << renamed.name;
  }
}

TEST(ReleaseNames, OfADocumentAloneAreUnknownAndTheRightOneIsReported) {
  Context context = In("1.0.1");
  const Diagnostic error = Only(context.Apply(kSet, {{"enable_options", "op_trace"}}, At(4)));
  EXPECT_EQ(error.kind, "unknown_key");
  EXPECT_EQ(error.hint, "use profiling_options");
  EXPECT_EQ(context.Get(kSet, "enable_options", At(5)).error().front().kind, "unknown_key");
}

TEST(ReleaseFunctions, OfParameterServersAreNotIn03) {
  Context context = In("0.3.1");
  const std::pair<std::string, Diagnostics> calls[] = {
      {"set_ps_context", context.Apply(kPs, {{"enable_ps", true}}, At(4))},
      {"get_ps_context", context.Get(kPs, "enable_ps", At(4)).error()},
      {"reset_ps_context", context.Reset(kPs, At(4))}};
  for (const auto& [function, diagnostics] : calls) {
    const Diagnostic error = Only(diagnostics);
    EXPECT_EQ(error.kind, "release") << function;
    EXPECT_EQ(error.message, function + " is not in MindSpore 0.3.1: only from 1.0.0 on");
    EXPECT_EQ(error.place, At(4));
  }
}

// Whether a parallel mode can be set while the execution mode is PYNATIVE_MODE, and carried into it.
TEST(ReleaseModes, SayWhatPynativeModeRuns) {
  const std::vector<std::string> all = {"stand_alone", "data_parallel", "hybrid_parallel", "semi_auto_parallel",
                                        "auto_parallel"};
  const std::vector<std::string> two = {"stand_alone", "data_parallel"};
  const std::vector<std::string> three = {"stand_alone", "data_parallel", "auto_parallel"};
  struct Row {
    const char* release;
    const std::vector<std::string>& set;
    const std::vector<std::string>& carried;
  };
  const Row rows[] = {{"0.3.1", all, all},     {"1.0.1", all, all},         {"1.6.2", two, two},
                      {"1.9.0", three, two},   {"2.3.0-rc2", three, three}, {"2.3.1", three, three},
                      {"2.4.0", three, three}, {"2.5.0", three, three},     {"2.6.0", three, three},
                      {"2.7.0", three, three}};
  for (const Row& row : rows) {
    for (const std::string& mode : all) {
      Context setting = In(row.release);
      ASSERT_TRUE(setting.Apply(kSet, {{"mode", 1}}, At(2)).empty());
      const Diagnostics set = setting.Apply(kAuto, {{"parallel_mode", mode}}, At(3));
      EXPECT_EQ(set.empty(), std::count(row.set.begin(), row.set.end(), mode) == 1) << row.release << " " << mode;
      EXPECT_TRUE(set.empty() || set.front().kind == "mode_conflict");

      Context carrying = In(row.release);
      ASSERT_TRUE(carrying.Apply(kSet, {{"mode", 0}}, At(2)).empty());
      ASSERT_TRUE(carrying.Apply(kAuto, {{"parallel_mode", mode}}, At(3)).empty());
      const Diagnostics carried = carrying.Apply(kSet, {{"mode", 1}}, At(4));
      EXPECT_EQ(carried.empty(), std::count(row.carried.begin(), row.carried.end(), mode) == 1)
          << row.release << " " << mode;
      EXPECT_TRUE(carried.empty() || carried.front().kind == "mode_conflict");
    }
  }
}

TEST(ReleaseModes, DoNotReadAListInPynativeModeFrom23On) {
  const Value strategy = Value::List{Value::List{1, 8}};
  for (const char* release : {"1.6.2", "1.9.0", "2.3.0-rc2", "2.3.1", "2.4.0", "2.5.0", "2.6.0", "2.7.0"}) {
    Context context = In(release);
    ASSERT_TRUE(context.Apply(kSet, {{"mode", 0}}, At(2)).empty());
    ASSERT_TRUE(context.Apply(kAuto, {{"dataset_strategy", strategy}}, At(3)).empty());
    EXPECT_EQ(context.Get(kAuto, "dataset_strategy", At(4))->value, strategy);
    ASSERT_TRUE(context.Apply(kSet, {{"mode", 1}}, At(5)).empty());
    const auto reading = context.Get(kAuto, "dataset_strategy", At(6));
    EXPECT_EQ(reading.has_value(), release[0] == '1') << release;
    EXPECT_TRUE(reading || Only(reading.error()).kind == "mode_conflict");
  }
}

TEST(ReleaseFreezes, NeverThenOnceSetThenOnceRead) {
  for (const char* release : kReleases) {
    for (const char* name : {"device_id", "variable_memory_max_size", "max_device_memory", "mempool_block_size"}) {
      if (RealSchema().Find(kSet, name, *ParseRelease(release)) == nullptr) continue;
      const bool is_size = std::string(name) != "device_id";
      const Value first = is_size ? Value("2GB") : Value(1);
      const Value second = is_size ? Value("3GB") : Value(2);
      const auto frozen = [](const Diagnostics& diagnostics) {
        EXPECT_FALSE(HasErrors(diagnostics));
        return std::any_of(diagnostics.begin(), diagnostics.end(), [](auto& d) { return d.kind == "frozen"; });
      };
      Context context = In(release);
      ASSERT_TRUE(context.Apply(kSet, {{"mode", 1}}, At(1)).empty());
      EXPECT_FALSE(frozen(context.Apply(kSet, {{name, first}}, At(2)))) << release << " " << name;
      const bool once_set =
          std::string_view(release).starts_with("1.6") || std::string_view(release).starts_with("1.9");
      EXPECT_EQ(frozen(context.Apply(kSet, {{name, second}}, At(3))), once_set) << release << " " << name;
      ASSERT_TRUE(context.Get(kSet, name, At(4)));
      const bool once_read = release[0] == '2';
      EXPECT_FALSE(frozen(context.Apply(kSet, {{name, second}}, At(3)))) << release << " " << name;
      EXPECT_EQ(frozen(context.Apply(kSet, {{name, first}}, At(5))), once_set || once_read) << release << " " << name;
    }
  }
}

TEST(ReleaseResets, AreAdvisedBeforeAnotherParallelMode) {
  for (const char* release : kReleases) {
    Context context = In(release);
    ASSERT_TRUE(context.Apply(kAuto, {{"parallel_mode", "data_parallel"}}, At(2)).empty());
    EXPECT_TRUE(context.Apply(kAuto, {{"parallel_mode", "data_parallel"}}, At(3)).empty());
    const Diagnostic warning = Only(context.Apply(kAuto, {{"parallel_mode", "stand_alone"}}, At(4)));
    EXPECT_EQ(warning.kind, "no_reset") << release;
    EXPECT_EQ(warning.severity, Severity::kWarning);
    EXPECT_NE(warning.hint.find("reset_auto_parallel_context"), std::string::npos) << warning.hint;
    EXPECT_EQ(warning.notes.front().place, At(3));
    // A recipe that extends another one only overrides it.
    EXPECT_TRUE(context.Apply(kAuto, {{"parallel_mode", "data_parallel"}}, {"extended.lua", 4}).empty());
    ASSERT_TRUE(context.Reset(kAuto, {"extended.lua", 5}).empty());
    EXPECT_TRUE(context.Apply(kAuto, {{"parallel_mode", "stand_alone"}}, {"extended.lua", 6}).empty());
  }
}

TEST(ReleaseTables, KeepWhatEarlierCallsGave) {
  Context context = In("2.3.1");
  ASSERT_TRUE(
      context.Apply(kSet, {{"ascend_config", Value::Map{{"jit_compile", true}, {"exception_dump", "0"}}}}, At(2))
          .empty());
  ASSERT_TRUE(context.Apply(kSet, {{"ascend_config", Value::Map{{"jit_compile", false}}}}, At(3)).empty());
  EXPECT_EQ(context.Settled().at("set_context.ascend_config"),
            Value(Value::Map{{"jit_compile", false}, {"exception_dump", "0"}}));
  EXPECT_EQ(context.Get(kSet, "ascend_config", At(4))->value, Value(Value::Map{{"jit_compile", false}}));
  EXPECT_EQ(context.Get(kSet, "exception_dump", At(4))->value, Value("0"));
  Context process = context.Overlay();
  ASSERT_TRUE(process.Apply(kSet, {{"ascend_config", Value::Map{{"atomic_clean_policy", 1}}}}, At(5)).empty());
  EXPECT_EQ(process.Settled().at("set_context.ascend_config").AsMap()->size(), 3U);
}

TEST(ReleaseTables, ShareFilesOfTheStrategyWithTheAttributesOfOldNames) {
  Context context = In("2.3.1");
  const auto read = [&](const char* name) { return context.Get(kAuto, name, At(9))->value; };
  ASSERT_TRUE(
      context.Apply(kAuto, {{"strategy_ckpt_config", Value::Map{{"load_file", "a"}, {"save_file", "b"}}}}, At(2))
          .empty());
  EXPECT_EQ(read("strategy_ckpt_load_file"), Value("a"));
  ASSERT_TRUE(context.Apply(kAuto, {{"strategy_ckpt_load_file", "c"}}, At(3)).empty());
  EXPECT_EQ(read("strategy_ckpt_load_file"), Value("c"));
  EXPECT_EQ(read("strategy_ckpt_config"),
            Value(Value::Map{{"load_file", "c"}, {"save_file", "b"}, {"only_trainable_params", true}}));
  ASSERT_TRUE(context.Apply(kAuto, {{"strategy_ckpt_config", Value::Map{{"load_file", "d"}}}}, At(4)).empty());
  EXPECT_EQ(read("strategy_ckpt_load_file"), Value("d"));
  EXPECT_FALSE(context.Settled().contains("set_auto_parallel_context.strategy_ckpt_load_file"));
  const Diagnostics both = context.Apply(
      kAuto, {{"strategy_ckpt_config", Value::Map{{"load_file", "e"}}}, {"strategy_ckpt_load_file", "f"}}, At(5));
  EXPECT_EQ(Only(both).kind, "conflict");
  EXPECT_EQ(read("strategy_ckpt_load_file"), Value("d"));
}

TEST(ReleaseTables, DoNotPassOnANullThatSaysNothing) {
  Context context = In("2.3.1");
  ASSERT_TRUE(context
                  .Apply(kSet,
                         {{"ascend_config",
                           Value::Map{{"parallel_speed_up_json_path", Value()}, {"precision_mode", "force_fp32"}}}},
                         At(2))
                  .empty());
  EXPECT_EQ(context.Settled().at("set_context.ascend_config"), Value(Value::Map{{"precision_mode", "force_fp32"}}));
  // MindSpore wants the config of the mode "auto" to be there.
  ASSERT_TRUE(
      context.Apply(kAuto, {{"comm_fusion", Value::Map{{"allreduce", Value::Map{{"mode", "auto"}}}}}}, At(3)).empty());
  const Value wanted = Value::Map{{"allreduce", Value::Map{{"mode", "auto"}, {"config", Value()}}}};
  EXPECT_EQ(context.Settled().at("set_auto_parallel_context.comm_fusion"), wanted);
}

TEST(ReleaseValues, ThatMindSporeIgnoresAreNotPassedOn) {
  Context context = In("2.3.1");
  EXPECT_EQ(Only(context.Apply(kAuto, {{"optimizer_weight_shard_size", 1}}, At(2))).kind, "no_effect");
  EXPECT_TRUE(context.Settled().empty());
  const Diagnostic error = Only(context.Apply(kAuto, {{"grad_accumulation_step", 4}}, At(3)));
  EXPECT_EQ(error.hint, "use a gradient accumulation cell around the network instead");
}

TEST(ReleaseDevices, DecideAboutDefaults) {
  const std::pair<const char*, int> expected[] = {{"2.3.1", 1}, {"2.4.0", 0}};
  for (const auto& [release, level] : expected) {
    Context context = In(release);
    ASSERT_TRUE(context.Apply(kSet, {{"device_target", "Ascend"}}, At(2)).empty());
    EXPECT_EQ(context.Get(kSet, "memory_optimize_level", At(3))->value, Value(level)) << release;
  }
}

}  // namespace
}  // namespace muster
