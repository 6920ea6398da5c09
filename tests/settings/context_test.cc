// Tests calls of the context functions against the shipped schema of release 1.6.
#include "muster/mindspore/context.h"

#include <gtest/gtest.h>

#include "settings/real_schema.h"

namespace muster {
namespace {

Context Fresh() { return {RealSchema(), Release16()}; }

struct Call {
  const char* api;
  const char* name;
  Value value;
  const char* kind;  // of the only diagnostic
  const char* message_has;
  const char* hint_has;
};

TEST(Context, RefusesWhatTheReleaseRefusesAndSaysWhatIsAllowed) {
  const Call calls[] = {
      {kSet, "device_tagret", "CPU", "unknown_key", "set_context has no attribute \"device_tagret\"",
       "\"device_target\""},
      {kSet, "pipeline_stages", 2, "unknown_key", "1.6.2", "belongs to set_auto_parallel_context"},
      {kSet, "gradients_maen", true, "unknown_key", "1.6.2", "\"gradients_mean\" of set_auto_parallel_context"},
      {kSet, "gradient_accumulation_shard", true, "unknown_key", "no attribute", ""},
      {kAuto, "gradient_accumulation_shard", true, "use_nested_dict", "on its own", "parallel_optimizer_config = {"},
      {kSet, "mode", "GRAPH_MODE", "type", "mode must be a whole number", "context.GRAPH_MODE"},
      {kSet, "mode", 2, "enum", "0 (GRAPH_MODE), 1 (PYNATIVE_MODE)", ""},
      {kSet, "mode", true, "type", "not the bool true", "never 1"},
      {kSet, "mode", 0.5, "type", "mode must be a whole number, not the float 0.5", ""},
      {kSet, "device_target", "cpu", "enum", "\"Ascend\", \"GPU\", \"CPU\"", "case matters"},
      {kSet, "device_target", "Ascand", "enum", "\"Ascand\"", "\"Ascend\""},
      {kSet, "device_target", Value(), "type", "can not be null", "leave it out"},
      {kSet, "device_id", -1, "range", "0 to 4095", ""},
      {kSet, "device_id", 4096, "range", "device_id = 4096", ""},
      {kSet, "device_id", true, "type", "device_id", "never 1"},
      {kSet, "device_id", "0", "type", "the string \"0\"", "without quotes"},
      {kSet, "device_id", Value::List{1}, "type", "not the list", ""},
      {kSet, "save_graphs", 1, "type", "true or false", "never true"},
      {kSet, "save_graphs", "true", "type", "true or false", "without quotes"},
      {kSet, "save_graphs_path", "  ", "empty", "blank", ""},
      {kSet, "save_graphs_path", "", "empty", "empty", ""},
      {kSet, "max_call_depth", 0, "range", "1 to 4294967295", ""},
      {kSet, "max_device_memory", "1024MB", "format", "1024MB", "2^30"},
      {kSet, "max_device_memory", "3.5 GB", "format", "3.5 GB", "without a blank"},
      {kSet, "max_device_memory", "0GB", "format", "0GB", ""},
      {kSet, "max_device_memory", "05GB", "format", "05GB", ""},
      {kSet, "max_device_memory", ".5GB", "format", "", ""},
      {kSet, "max_device_memory", 30, "range", "number of bytes", "3.5GB"},
      {kSet, "max_device_memory", "1e3GB", "format", "", ""},
      {kSet, "max_device_memory", "-1GB", "format", "", ""},
      {kSet, "max_device_memory", "1gb", "format", "", ""},
      {kSet, "max_device_memory", "", "format", "", ""},
      {kSet, "max_device_memory", "0.0GB", "range", "above 0 GB", ""},
      {kSet, "max_device_memory", 0, "range", "number of bytes", ""},
      {kSet, "max_device_memory", true, "type", "a size", ""},
      {kSet, "variable_memory_max_size", "3.5GB", "format", "whole number of GB", ""},
      {kSet, "variable_memory_max_size", "32GB", "range", "at most 31 GB", ""},
      {kSet, "auto_tune_mode", "RL, GA", "enum", "\"RL,GA\"", "\"RL,GA\""},
      {kSet, "enable_compile_cache", 3, "type", "true or false", ""},
      {kAuto, "device_num", 0, "range", "1 to 4096", ""},
      {kAuto, "device_num", 40960, "range", "1 to 4096 in MindSpore 1.6.2", ""},
      {kAuto, "global_rank", 4096, "range", "0 to 4095", ""},
      {kAuto, "parallel_mode", "data_paralel", "enum", "\"stand_alone\"", "\"data_parallel\""},
      {kAuto, "pipeline_stages", true, "type", "", ""},
      {kAuto, "pipeline_stages", 0, "range", "at least 1", ""},
      {kAuto, "grad_accumulation_step", 0, "range", "at least 1", ""},
      {kAuto, "all_reduce_fusion_config", Value::List{}, "empty", "at least one", ""},
      {kAuto, "all_reduce_fusion_config", Value::Map{}, "empty", "at least one", ""},
      {kAuto, "all_reduce_fusion_config", (Value::List{8, 4}), "order", "4 follows 8", ""},
      {kAuto, "all_reduce_fusion_config", (Value::List{8, 8}), "order", "8 follows 8", ""},
      {kAuto, "all_reduce_fusion_config", (Value::List{8, true}), "type", "list of whole numbers", ""},
      {kAuto, "all_reduce_fusion_config", (Value::List{-1}), "range", "-1", ""},
      {kAuto, "dataset_strategy", "ful_batch", "enum", "\"full_batch\"", "\"full_batch\""},
      {kAuto, "dataset_strategy", (Value::List{1, 8}), "type", "list of lists", ""},
      {kPs, "enable_ps", 1, "type", "true or false", ""},
      {kPs, "scheduler_manage_port", 65536, "range", "0 to 65535", ""},
      {kPs, "worker_number", 3, "unknown_key", "", ""},
  };
  for (const Call& call : calls) {
    Context context = Fresh();
    const Diagnostic diagnostic = Only(context.Apply(call.api, {{call.name, call.value}}, At(9)));
    const std::string what =
        std::string(call.name) + " = " + ToText(call.value) + ": " + diagnostic.message + " / " + diagnostic.hint;
    EXPECT_EQ(diagnostic.severity, Severity::kError) << what;
    EXPECT_EQ(diagnostic.kind, call.kind) << what;
    EXPECT_EQ(diagnostic.place, At(9)) << what;
    EXPECT_NE(diagnostic.message.find(call.name), std::string::npos) << what;
    EXPECT_NE(diagnostic.message.find(call.message_has), std::string::npos) << what;
    EXPECT_NE(diagnostic.hint.find(call.hint_has), std::string::npos) << what;
    EXPECT_TRUE(context.Settled().empty()) << what;
  }
}

TEST(Context, TakesWhatTheReleaseTakesAndReadsItBackAsTheReleaseDoes) {
  struct Good {
    const char* api;
    const char* name;
    Value written;
    Value stored;
    Value read;
  };
  const Value::List strategy{Value::List{1, 8}, Value::List{1, 8}};
  const Good goods[] = {
      {kSet, "mode", 0, 0, 0},
      {kSet, "mode", 1.0, 1, 1},
      {kSet, "device_target", "Davinci", "Ascend", "Ascend"},
      {kSet, "device_id", 4095, 4095, 4095},
      {kSet, "max_device_memory", "3.5GB", "3.5GB", 3.5},
      {kSet, "max_device_memory", "2048GB", "2048GB", 2048},
      {kSet, "max_device_memory", "0.1GB", "0.1GB", static_cast<double>(0.1F)},
      {kSet, "max_device_memory", std::int64_t{30} << 30, "30GB", 30},
      {kSet, "max_device_memory", std::int64_t{7} << 29, "3.5GB", 3.5},
      {kSet, "save_graphs_path", "${muster:run_dir}/graphs", "${muster:run_dir}/graphs", "${muster:run_dir}/graphs"},
      {kSet, "compile_cache_path", "", "", ""},
      {kAuto, "parallel_mode", "semi_auto_parallel", "semi_auto_parallel", "semi_auto_parallel"},
      {kAuto, "all_reduce_fusion_config", (Value::List{8, 160.0}), (Value::List{8, 160}), (Value::List{8, 160})},
      {kAuto, "dataset_strategy", strategy, strategy, strategy},
      {kAuto, "dataset_strategy", "full_batch", "full_batch", "full_batch"},
      {kPs, "client_password", "${muster:secret:key}", "${muster:secret:key}", "${muster:secret:key}"},
  };
  for (const Good& good : goods) {
    Context context = Fresh();
    const Diagnostics diagnostics = context.Apply(good.api, {{good.name, good.written}}, At(3));
    ASSERT_TRUE(diagnostics.empty()) << good.name << ": " << diagnostics.front().message;
    EXPECT_EQ(context.Settled().at(std::string(good.api) + "." + good.name), good.stored) << good.name;
    const auto reading = context.Get(good.api, good.name, At(4));
    ASSERT_TRUE(reading) << good.name;
    EXPECT_EQ(reading->value, good.read) << good.name << " reads " << ToText(reading->value);
    EXPECT_EQ(reading->source.kind, SettingSource::Kind::kSet);
    EXPECT_EQ(reading->source.place, At(3));
  }
}

TEST(Context, GivesDefaultsWithTheirSource) {
  Context context = Fresh();
  const auto read = [&](const char* api, const char* name) { return context.Get(api, name, At(1)); };
  EXPECT_EQ(read(kSet, "mode")->value, Value(0));
  EXPECT_EQ(SourceText(read(kSet, "mode")->source), "default of MindSpore 1.6.2");
  EXPECT_EQ(read(kSet, "max_device_memory")->value, Value(1024));
  EXPECT_EQ(read(kSet, "compile_cache_path")->value, Value("."));
  EXPECT_EQ(read(kSet, "enable_compile_cache")->value, Value(false));
  EXPECT_EQ(read(kSet, "variable_memory_max_size")->value, Value("0"));
  EXPECT_TRUE(read(kSet, "device_target")->value.IsNull());
  EXPECT_EQ(SourceText(read(kSet, "device_target")->source), "the device of the installed package");
  EXPECT_EQ(read(kAuto, "search_mode")->value, Value("dynamic_programming"));
  EXPECT_EQ(read(kPs, "scheduler_manage_port")->value, Value(11202));
  EXPECT_TRUE(context.Settled().empty());
}

TEST(Context, ReadsNothingThatCanNotBeRead) {
  Context context = Fresh();
  EXPECT_EQ(context.Get(kSet, "auto_tune_mode", At(1)).error().front().kind, "not_readable");
  EXPECT_EQ(context.Get(kAuto, "parallel_optimizer_config", At(1)).error().front().kind, "not_readable");
  EXPECT_EQ(context.Get(kAuto, "fusion_threshold", At(1)).error().front().kind, "unknown_key");
  EXPECT_EQ(context.Get(kSet, "modes", At(1)).error().front().hint, "did you mean \"mode\"?");
}

TEST(Context, AppliesACallWholeOrNotAtAll) {
  Context context = Fresh();
  const Diagnostics diagnostics =
      context.Apply(kSet, {{"mode", 1}, {"device_id", 3}, {"device_tagret", "CPU"}, {"max_call_depth", 0}}, At(2));
  EXPECT_EQ(diagnostics.size(), 2U);
  EXPECT_TRUE(context.Settled().empty());
  EXPECT_TRUE(context.Apply(kSet, {}, At(3)).empty());
}

TEST(Context, LetsALaterCallWin) {
  Context context = Fresh();
  EXPECT_TRUE(context.Apply(kSet, {{"save_graphs", true}}, At(2)).empty());
  EXPECT_TRUE(context.Apply(kSet, {{"save_graphs", false}}, At(3)).empty());
  EXPECT_EQ(context.Find(kSet, "save_graphs")->value, Value(false));
  EXPECT_EQ(context.Find(kSet, "save_graphs")->source.place, At(3));
}

TEST(Context, WarnsWhenAFileSetsTwiceWhatAProcessMaySetOnce) {
  Context context = Fresh();
  EXPECT_TRUE(context.Apply(kSet, {{"device_id", 1}}, At(2)).empty());
  const Diagnostic warning = Only(context.Apply(kSet, {{"device_id", 2}}, At(3)));
  EXPECT_EQ(warning.kind, "frozen");
  EXPECT_EQ(warning.severity, Severity::kWarning);
  ASSERT_EQ(warning.notes.size(), 1U);
  EXPECT_EQ(warning.notes.front().place, At(2));
  EXPECT_EQ(context.Find(kSet, "device_id")->value, Value(2));
  // A recipe that extends another one only overrides.
  EXPECT_TRUE(context.Apply(kSet, {{"device_id", 3}}, {"extended.lua", 3}).empty());
}

TEST(Context, AppliesDeviceTargetBeforeWhatDependsOnIt) {
  Context context = Fresh();
  const Diagnostics diagnostics = context.Apply(
      kSet, {{"auto_tune_mode", "nonsense"}, {"device_target", "GPU"}, {"max_device_memory", "2GB"}}, At(2));
  const Diagnostic warning = Only(diagnostics);
  EXPECT_EQ(warning.kind, "wrong_device");
  EXPECT_EQ(warning.severity, Severity::kWarning);
  EXPECT_EQ(context.Settled().size(), 2U);
  EXPECT_FALSE(context.Settled().contains("set_context.auto_tune_mode"));
}

TEST(Context, WarnsOfAttributesThatHaveNoEffectOnTheDevice) {
  Context context = Fresh();
  const Diagnostic warning =
      Only(context.Apply(kSet, {{"device_target", "CPU"}, {"pynative_synchronize", true}}, At(2)));
  EXPECT_EQ(warning.kind, "wrong_device");
  EXPECT_TRUE(context.Settled().contains("set_context.pynative_synchronize"));
  EXPECT_EQ(context.Get(kSet, "max_device_memory", At(3))->warnings.front().kind, "wrong_device");
}

TEST(Context, IgnoresWithdrawnAttributesAfterTheirTypeCheck) {
  Context context = Fresh();
  const Diagnostic warning = Only(context.Apply(kSet, {{"enable_profiling", true}}, At(2)));
  EXPECT_EQ(warning.kind, "withdrawn");
  EXPECT_EQ(warning.severity, Severity::kWarning);
  EXPECT_EQ(warning.hint, "use mindspore.profiler.Profiler instead");
  EXPECT_TRUE(context.Settled().empty());
  EXPECT_EQ(context.Get(kSet, "enable_profiling", At(2))->value, Value(false));
  EXPECT_EQ(Only(context.Apply(kSet, {{"enable_dump", 1}}, At(2))).kind, "type");
}

TEST(Context, PassesDeprecatedAttributesOnWithAWarning) {
  Context context = Fresh();
  const Diagnostic warning = Only(context.Apply(kSet, {{"variable_memory_max_size", "5GB"}}, At(2)));
  EXPECT_EQ(warning.kind, "deprecated");
  EXPECT_EQ(warning.hint, "use max_device_memory instead");
  EXPECT_EQ(context.Get(kSet, "variable_memory_max_size", At(3))->value, Value("5 * 1024 * 1024 * 1024"));
}

TEST(Context, DropsInGraphModeWhatWorksInPynativeModeOnly) {
  Context context = Fresh();
  EXPECT_EQ(Only(context.Apply(kSet, {{"mempool_block_size", "2GB"}}, At(2))).kind, "mode_conflict");
  EXPECT_TRUE(context.Settled().empty());
  EXPECT_TRUE(context.Apply(kSet, {{"mempool_block_size", "2GB"}, {"mode", 1}}, At(3)).empty());
  EXPECT_EQ(context.Get(kSet, "mempool_block_size", At(4))->value, Value(2));
  EXPECT_EQ(Only(context.Apply(kSet, {{"mempool_block_size", "0.5GB"}}, {"other.lua", 3})).kind, "range");
}

TEST(Context, RefusesParallelModesThatPynativeModeCanNotRun) {
  const std::pair<const char*, bool> modes[] = {{"stand_alone", true},
                                                {"data_parallel", true},
                                                {"hybrid_parallel", false},
                                                {"semi_auto_parallel", false},
                                                {"auto_parallel", false}};
  for (const auto& [mode, possible] : modes) {
    Context first_mode = Fresh();
    ASSERT_TRUE(first_mode.Apply(kSet, {{"mode", 1}}, At(2)).empty());
    const Diagnostics refused = first_mode.Apply(kAuto, {{"parallel_mode", mode}}, At(3));
    EXPECT_EQ(refused.empty(), possible) << mode;
    if (!possible) {
      EXPECT_EQ(refused.front().kind, "mode_conflict");
      EXPECT_EQ(refused.front().notes.front().place, At(2));
    }

    Context first_parallel = Fresh();
    ASSERT_TRUE(first_parallel.Apply(kAuto, {{"parallel_mode", mode}}, At(2)).empty());
    EXPECT_EQ(first_parallel.Apply(kSet, {{"mode", 1}}, At(3)).empty(), possible) << mode;
    EXPECT_TRUE(first_parallel.Apply(kSet, {{"mode", 0}}, At(4)).empty()) << mode;
  }
}

TEST(Context, SharesOneValueUnderTwoNames) {
  Context context = Fresh();
  EXPECT_EQ(Only(context.Apply(kAuto, {{"auto_parallel_search_mode", "sharding_propagation"}}, At(2))).kind,
            "deprecated");
  EXPECT_EQ(context.Get(kAuto, "search_mode", At(3))->value, Value("sharding_propagation"));
  EXPECT_TRUE(context.Apply(kAuto, {{"search_mode", "recursive_programming"}}, At(4)).empty());
  EXPECT_EQ(context.Get(kAuto, "auto_parallel_search_mode", At(5))->value, Value("recursive_programming"));
  EXPECT_EQ(context.Settled().size(), 1U);

  EXPECT_EQ(Only(context.Apply(kAuto, {{"full_batch", true}}, At(6))).kind, "deprecated");
  EXPECT_EQ(context.Get(kAuto, "dataset_strategy", At(7))->value, Value("full_batch"));
  EXPECT_TRUE(context.Apply(kAuto, {{"dataset_strategy", "data_parallel"}}, At(8)).empty());
  EXPECT_EQ(context.Get(kAuto, "full_batch", At(9))->value, Value(false));
  EXPECT_FALSE(context.Settled().contains("set_auto_parallel_context.full_batch"));
}

// As MindSpore 1.6 to 2.7 do: only words are one value under two names.
TEST(Context, KeepsCutsByNumberApartFromFullBatch) {
  const Value cuts(Value::List{Value(Value::List{1, 8})});
  for (const char* release : {"1.6.2", "2.3.1", "2.7.0"}) {
    for (const bool on : {true, false}) {
      Context context(RealSchema(), *ParseRelease(release));
      ASSERT_FALSE(HasErrors(context.Apply(kSet, {{"mode", 0}}, At(1))));
      ASSERT_FALSE(HasErrors(context.Apply(kAuto, {{"dataset_strategy", cuts}}, At(2))));
      EXPECT_EQ(context.Apply(kAuto, {{"full_batch", on}}, At(3)).size(), on ? 2U : 1U) << "a conflict, and deprecated";
      EXPECT_EQ(context.Get(kAuto, "dataset_strategy", At(4))->value, cuts);
      EXPECT_EQ(context.Get(kAuto, "full_batch", At(4))->value, Value(on));
      EXPECT_EQ(context.Settled().count("set_auto_parallel_context.full_batch"), 1U);
      EXPECT_EQ(context.Settled().count("set_auto_parallel_context.dataset_strategy"), 1U);
      ASSERT_FALSE(HasErrors(context.Apply(kAuto, {{"dataset_strategy", "data_parallel"}}, At(5))));
      EXPECT_EQ(context.Get(kAuto, "full_batch", At(6))->value, Value(false)) << "words set both";
      EXPECT_EQ(context.Settled().count("set_auto_parallel_context.full_batch"), 0U);
    }
    Context before(RealSchema(), *ParseRelease(release));
    ASSERT_FALSE(HasErrors(before.Apply(kSet, {{"mode", 0}}, At(1))));
    ASSERT_FALSE(HasErrors(before.Apply(kAuto, {{"full_batch", true}}, At(2))));
    ASSERT_FALSE(HasErrors(before.Apply(kAuto, {{"dataset_strategy", cuts}}, At(3))));
    EXPECT_EQ(before.Get(kAuto, "full_batch", At(4))->value, Value(true)) << "cuts do not clear it";
    EXPECT_EQ(before.Get(kAuto, "dataset_strategy", At(4))->value, cuts);
  }
}

TEST(Context, DropsAFusionListThatWasSetForAnotherTarget) {
  const Value list(Value::List{8, 160});
  Context context = Fresh();
  ASSERT_TRUE(context.Apply(kSet, {{"device_target", "GPU"}}, At(2)).empty());
  ASSERT_TRUE(context.Apply(kAuto, {{"all_reduce_fusion_config", list}}, At(3)).empty());
  EXPECT_TRUE(context.Apply(kSet, {{"device_target", "CPU"}}, At(4)).empty()) << "one list for all but Ascend";
  EXPECT_EQ(context.Get(kAuto, "all_reduce_fusion_config", At(5))->value, list);
  const Diagnostic warning = Only(context.Apply(kSet, {{"device_target", "Ascend"}}, At(6)));
  EXPECT_EQ(warning.kind, "wrong_device");
  EXPECT_EQ(warning.notes.front().place, At(3));
  EXPECT_EQ(context.Get(kAuto, "all_reduce_fusion_config", At(7))->value, Value(Value::List{}));
  EXPECT_FALSE(context.Settled().contains("set_auto_parallel_context.all_reduce_fusion_config"));
  ASSERT_TRUE(context.Apply(kAuto, {{"all_reduce_fusion_config", list}}, At(8)).empty());
  EXPECT_TRUE(context.Apply(kSet, {{"device_target", "GPU"}}, {"extension.lua", 3}).empty()) << "it only overrides";
  EXPECT_TRUE(context.Settled().contains("set_auto_parallel_context.all_reduce_fusion_config"));
}

TEST(Context, SaysThatADefaultIsNotKnownHere) {
  Context context = Fresh();
  const auto reading = context.Get(kSet, "device_target", At(2));
  ASSERT_TRUE(reading);
  const Diagnostic warning = Only(reading->warnings);
  EXPECT_EQ(warning.kind, "not_readable");
  EXPECT_EQ(warning.message,
            "device_target is read as nil, for it is not set and muster does not know its default in MindSpore 1.6.2: "
            "the device of the installed package");
  EXPECT_EQ(warning.hint, "set device_target before it is read");
  ASSERT_TRUE(context.Apply(kSet, {{"device_target", "CPU"}}, At(3)).empty());
  EXPECT_TRUE(context.Get(kSet, "device_target", At(4))->warnings.empty());
}

TEST(Context, NamesTheGetterWhereSomethingIsRead) {
  Context context(RealSchema(), *ParseRelease("2.3.1"));
  const auto refused = [&](const char* api, const char* name) { return Only(context.Get(api, name, At(2)).error()); };
  EXPECT_EQ(refused(kSet, "modes").message, "get_context has no attribute \"modes\" in MindSpore 2.3.1");
  EXPECT_EQ(refused(kSet, "device_num").hint, "device_num belongs to get_auto_parallel_context");
  EXPECT_EQ(refused(kAuto, "load_file").message, "load_file can not be read on its own in MindSpore 2.3.1");
  EXPECT_EQ(refused(kAuto, "load_file").hint, "read strategy_ckpt_config, whose sub-key it is");
  EXPECT_EQ(Only(context.Get("set_contxt", "mode", At(2)).error()).message, "muster.context has no get_contxt");
  EXPECT_EQ(Only(context.Get("set_contxt", "mode", At(2)).error()).hint, "did you mean \"get_context\"?");
}

TEST(Context, TranslatesAWordOfTheDocumentsThatMindSporeRefuses) {
  Context context(RealSchema(), *ParseRelease("2.3.1"));
  const Diagnostic refused =
      Only(context.Apply(kSet, {{"gpu_config", Value::Map{{"conv_fprop_algo", "implicit_precomp_gemm"}}}}, At(2)));
  EXPECT_EQ(refused.kind, "enum");
  EXPECT_EQ(refused.hint, "documents write implicit_precomp_gemm, which MindSpore refuses: it takes precomp_gemm");
  Context later(RealSchema(), *ParseRelease("2.6.0"));
  const Diagnostics called =
      later.Apply("device_context.gpu.op_tuning.conv_fprop_algo", {{"mode", "implicit_precomp_gemm"}}, At(2));
  ASSERT_EQ(called.size(), 1U);
  EXPECT_EQ(called.front().hint, refused.hint) << Shown(called);
}

TEST(Context, WarnsOfGraphKernelsOnProcessors) {
  for (const char* release : {"1.6.2", "1.9.0", "2.3.1", "2.4.0"}) {
    for (const auto& [name, value] :
         Value::Map{{"enable_graph_kernel", true}, {"graph_kernel_flags", "--opt_level=2"}}) {
      Context context(RealSchema(), *ParseRelease(release));
      const Diagnostic warning = Only(context.Apply(kSet, {{"device_target", "CPU"}, {name, value}}, At(2)));
      EXPECT_EQ(warning.kind, "wrong_device") << release;
      EXPECT_NE(warning.message.find("documented for Ascend and GPU only"), std::string::npos) << warning.message;
      EXPECT_TRUE(context.Settled().contains("set_context." + name)) << "MindSpore takes it";
    }
  }
}

TEST(Context, RefusesTwoNamesOfOneValueThatContradictEachOther) {
  Context context = Fresh();
  EXPECT_EQ(Only(context.Apply(kAuto, {{"dataset_strategy", "full_batch"}, {"full_batch", false}}, At(2))).kind,
            "conflict");
  EXPECT_TRUE(context.Settled().empty());
  EXPECT_EQ(Only(context.Apply(kAuto, {{"dataset_strategy", "full_batch"}, {"full_batch", true}}, At(2))).kind,
            "deprecated");
}

TEST(Context, KeepsLiteralSecretsOutOfTheContextAndOfMessages) {
  Context context = Fresh();
  const Diagnostic warning = Only(context.Apply(kPs, {{"client_password", "123456"}}, At(2)));
  EXPECT_EQ(warning.kind, "secret_literal");
  EXPECT_EQ(warning.severity, Severity::kWarning);
  EXPECT_EQ(warning.message.find("123456"), std::string::npos);
  EXPECT_TRUE(context.Settled().empty());
  const Diagnostic wrong_type = Only(context.Apply(kPs, {{"client_password", 123456}}, At(3)));
  EXPECT_EQ(wrong_type.kind, "type");
  EXPECT_EQ(wrong_type.message.find("123456"), std::string::npos);
  EXPECT_EQ(wrong_type.hint.find("123456"), std::string::npos);
  EXPECT_EQ(Only(context.Apply(kPs, {{"client_password", "${muster:secret:a}${muster:secret:b}"}}, At(4))).kind,
            "secret_literal");
}

TEST(ContextOverlay, ReadsThroughToTheJobAndKeepsItsOwn) {
  Context job = Fresh();
  ASSERT_TRUE(job.Apply(kSet, {{"device_target", "Ascend"}, {"save_graphs", true}}, At(2)).empty());
  Context process = job.Overlay();
  EXPECT_TRUE(process.is_overlay());
  ASSERT_TRUE(process.Apply(kSet, {{"device_id", 3}}, At(5)).empty());
  ASSERT_TRUE(process.Apply(kAuto, {{"global_rank", 3}}, At(6)).empty());
  EXPECT_EQ(process.Get(kSet, "save_graphs", At(7))->value, Value(true));
  EXPECT_EQ(process.Settled(),
            (std::map<std::string, Value>{{"set_auto_parallel_context.global_rank", 3}, {"set_context.device_id", 3}}));
  EXPECT_FALSE(job.Settled().contains("set_context.device_id"));
}

TEST(ContextOverlay, RefusesWhatMakesNoSensePerProcess) {
  const std::pair<const char*, std::pair<const char*, Value>> calls[] = {
      {kSet, {"device_target", "CPU"}},          {kSet, {"mode", 0}},
      {kAuto, {"parallel_mode", "stand_alone"}}, {kAuto, {"device_num", 4}},
      {kAuto, {"pipeline_stages", 2}},           {kPs, {"enable_ps", true}},
      {kAuto, {"gradients_mean", true}},         {kAuto, {"dataset_strategy", "full_batch"}}};
  Context job = Fresh();
  for (const auto& [api, argument] : calls) {
    Context process = job.Overlay();
    const Diagnostic diagnostic = Only(process.Apply(api, {{argument.first, argument.second}}, At(5)));
    EXPECT_EQ(diagnostic.kind, "scope") << argument.first;
    EXPECT_NE(diagnostic.message.find(argument.first), std::string::npos);
    EXPECT_NE(diagnostic.hint.find("plan"), std::string::npos);
  }
  Context process = job.Overlay();
  EXPECT_EQ(Only(process.Reset(kAuto, At(6))).kind, "scope");
}

TEST(ContextOverlay, JudgesDevicesByTheJobsTarget) {
  Context job = Fresh();
  ASSERT_TRUE(job.Apply(kSet, {{"device_target", "CPU"}}, At(2)).empty());
  Context process = job.Overlay();
  const Diagnostic warning = Only(process.Apply(kSet, {{"print_file_path", "print.pb"}}, At(5)));
  EXPECT_EQ(warning.kind, "wrong_device");
  EXPECT_EQ(warning.notes.front().place, At(2));
}

TEST(ContextReset, GivesDefaultsBackAndSaysWhere) {
  Context context = Fresh();
  ASSERT_TRUE(context.Apply(kAuto, {{"device_num", 8}, {"parallel_mode", "data_parallel"}}, At(2)).empty());
  ASSERT_TRUE(context.Apply(kSet, {{"save_graphs", true}}, At(3)).empty());
  EXPECT_TRUE(context.Reset(kAuto, At(4)).empty());
  const auto reading = context.Get(kAuto, "device_num", At(5));
  EXPECT_EQ(reading->value, Value(1));
  EXPECT_EQ(reading->source.kind, SettingSource::Kind::kReset);
  EXPECT_EQ(SourceText(reading->source), "default of MindSpore 1.6.2, recipe.lua:4");
  EXPECT_EQ(context.Settled(), (std::map<std::string, Value>{{"set_context.save_graphs", true}}));
}

TEST(ContextReset, OfParameterServersOnlySwitchesTheModeOff) {
  Context context = Fresh();
  ASSERT_TRUE(context.Apply(kPs, {{"enable_ps", true}, {"scheduler_manage_port", 11300}}, At(2)).empty());
  EXPECT_TRUE(context.Reset(kPs, At(3)).empty());
  EXPECT_EQ(context.Settled(), (std::map<std::string, Value>{{"set_ps_context.scheduler_manage_port", 11300}}));
}

TEST(ContextReset, DoesNotExistForTheRest) {
  Context context = Fresh();
  EXPECT_EQ(Only(context.Reset(kSet, At(2))).kind, "unknown_function");
  EXPECT_EQ(Only(context.Apply("set_contxt", {}, At(2))).kind, "unknown_function");
}

TEST(Context, SaysWhichReleaseHasAnAttribute) {
  Schema schema;
  const Value records =
      Value::List{Value::Map{{"1", "mirror_mean"}, {"kind", "bool"}, {"until", "0.3"}, {"successor", "gradients_mean"}},
                  Value::Map{{"1", "gradients_mean"}, {"kind", "bool"}, {"since", "1.0"}},
                  Value::Map{{"1", "enable_alltoall"}, {"kind", "bool"}, {"since", "1.9"}}};
  ASSERT_TRUE(schema.Add(kAuto, records, {}).empty());
  Context now(schema, Release16());
  const Diagnostic old_name = Only(now.Apply(kAuto, {{"mirror_mean", true}}, At(2)));
  EXPECT_EQ(old_name.kind, "release");
  EXPECT_EQ(old_name.hint, "use gradients_mean");
  const Diagnostic later = Only(now.Apply(kAuto, {{"enable_alltoall", true}}, At(2)));
  EXPECT_EQ(later.kind, "release");
  EXPECT_NE(later.message.find("1.9.0"), std::string::npos);
  Context then(schema, Release{0, 3, 1});
  EXPECT_EQ(Only(then.Apply(kAuto, {{"gradients_mean", true}}, At(2))).hint, "use mirror_mean");
}

TEST(Context, WarnsOfAChangeAfterReadingWhereReadingFreezes) {
  Schema schema;
  const Value record = Value::Map{{"1", "device_id"}, {"kind", "int"}, {"default", 0}, {"freezes", "read"}};
  ASSERT_TRUE(schema.Add(kSet, Value::List{record}, {}).empty());
  Context context(schema, Release16());
  EXPECT_TRUE(context.Apply(kSet, {{"device_id", 1}}, At(2)).empty());
  EXPECT_TRUE(context.Apply(kSet, {{"device_id", 2}}, At(3)).empty());
  ASSERT_TRUE(context.Get(kSet, "device_id", At(4)));
  EXPECT_TRUE(context.Apply(kSet, {{"device_id", 2}}, At(5)).empty());
  const Diagnostic warning = Only(context.Apply(kSet, {{"device_id", 3}}, At(6)));
  EXPECT_EQ(warning.kind, "frozen");
  EXPECT_EQ(warning.notes.front().place, At(4));
}

}  // namespace
}  // namespace muster
