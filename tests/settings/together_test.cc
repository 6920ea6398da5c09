// Tests checks between settings, and against the processes of the job.
#include <deque>

#include <gtest/gtest.h>

#include "muster/mindspore/context.h"
#include "settings/real_schema.h"

namespace muster {
namespace {

// A job of `workers` workers that see `visible` devices each.
struct Job {
  explicit Job(std::uint32_t workers, std::optional<std::uint32_t> visible = std::nullopt)
      : context(RealSchema(), Release16()) {
    facts.workers = workers;
    facts.workers_notes = {{"device_num = " + std::to_string(workers) + " is the number of workers", At(5)}};
    for (std::uint32_t i = 0; i < workers; ++i) {
      facts.processes.push_back({"worker." + std::to_string(i), nullptr, i, i, visible});
    }
  }
  Job& Set(const char* api, const Value::Map& arguments, std::uint32_t line) {
    const Diagnostics diagnostics = context.Apply(api, arguments, At(line));
    EXPECT_FALSE(HasErrors(diagnostics));
    return *this;
  }
  Job& SetEach(const char* api, const char* name, std::int64_t first, std::uint32_t line) {
    for (ProcessFacts& process : facts.processes) {
      Context& own = overlays.emplace_back(context.Overlay());
      EXPECT_TRUE(own.Apply(api, {{name, first + process.rank}}, At(line)).empty());
      process.context = &own;
    }
    return *this;
  }
  Diagnostics Check() const { return CheckTogether(context, facts); }

  Context context;
  JobFacts facts;
  std::deque<Context> overlays;
};

TEST(Together, IsContentWithAPlainJob) {
  EXPECT_TRUE(Job(8).Check().empty());
  EXPECT_TRUE(Job(0).Check().empty());
  EXPECT_TRUE(Job(8).Set(kSet, {{"mode", 0}, {"device_target", "Ascend"}}, 2).Check().empty());
  Job pipeline(8, 8);
  pipeline.Set(
      kAuto,
      {{"parallel_mode", "semi_auto_parallel"}, {"device_num", 8}, {"pipeline_stages", 4}, {"gradients_mean", true}},
      2);
  pipeline.SetEach(kAuto, "global_rank", 0, 3).SetEach(kSet, "device_id", 0, 4);
  EXPECT_TRUE(pipeline.Check().empty());
}

TEST(Together, RequiresStagesToDivideTheDevicesAndReportsTheOriginOfTheirNumber) {
  Job job(8);
  job.Set(kAuto, {{"parallel_mode", "semi_auto_parallel"}, {"pipeline_stages", 3}}, 9);
  const Diagnostic diagnostic = Only(job.Check());
  EXPECT_EQ(diagnostic.kind, "division");
  EXPECT_EQ(diagnostic.place, At(9));
  EXPECT_EQ(diagnostic.message, "pipeline_stages = 3 does not divide device_num = 8");
  EXPECT_EQ(diagnostic.hint, "use 1, 2, 4 or 8");
  ASSERT_EQ(diagnostic.notes.size(), 2U);
  EXPECT_EQ(diagnostic.notes.front(), (Note{"device_num = 8 is the number of workers", At(5)}));
  EXPECT_EQ(diagnostic.notes.back(), (Note{"rule: API page of 1.6; MindSpore fails when a graph is compiled", {}}));
}

TEST(Together, ShowsTheNearestOfManyDivisors) {
  Job job(720);
  job.Set(kAuto, {{"parallel_mode", "semi_auto_parallel"}, {"pipeline_stages", 7}}, 9);
  EXPECT_EQ(Only(job.Check()).hint, "use 6 or 8");
}

TEST(Together, WantsSemiAutoParallelForStages) {
  for (const char* mode : {"stand_alone", "data_parallel", "hybrid_parallel", "auto_parallel"}) {
    Job job(1);
    job.Set(kAuto, {{"parallel_mode", mode}, {"pipeline_stages", 2}}, 9);
    job.facts.workers = 2;
    const Diagnostics diagnostics = job.Check();
    ASSERT_FALSE(diagnostics.empty()) << mode;
    EXPECT_EQ(diagnostics.front().kind, "mode_conflict");
    EXPECT_EQ(diagnostics.front().severity, Severity::kError);
    EXPECT_NE(diagnostics.front().hint.find("\"semi_auto_parallel\""), std::string::npos);
  }
  EXPECT_TRUE(Job(2).Set(kAuto, {{"parallel_mode", "data_parallel"}, {"pipeline_stages", 1}}, 9).Check().empty());
}

TEST(Together, RefusesWhatTrainingWouldRefuse) {
  EXPECT_EQ(Only(Job(1).Set(kAuto, {{"parameter_broadcast", true}}, 2).Check()).kind, "mode_conflict");
  EXPECT_EQ(Only(Job(1).Set(kAuto, {{"full_batch", true}}, 2).Check()).severity, Severity::kError);
  EXPECT_TRUE(
      Job(4).Set(kAuto, {{"parallel_mode", "data_parallel"}, {"parameter_broadcast", true}}, 2).Check().empty());
}

TEST(Together, WarnsWhereOnlyTheDocumentsObject) {
  const Diagnostic warning = Only(Job(1).Set(kAuto, {{"gradients_mean", true}}, 2).Check());
  EXPECT_EQ(warning.kind, "mode_conflict");
  EXPECT_EQ(warning.severity, Severity::kWarning);
  EXPECT_EQ(
      Only(Job(4).Set(kAuto, {{"parallel_mode", "data_parallel"}, {"gradient_fp32_sync", false}}, 2).Check()).severity,
      Severity::kWarning);
}

TEST(Together, WantsDeviceNumToBeTheNumberOfWorkers) {
  Job job(4);
  job.Set(kAuto, {{"parallel_mode", "data_parallel"}, {"device_num", 7}}, 6);
  const Diagnostic diagnostic = Only(job.Check());
  EXPECT_EQ(diagnostic.kind, "conflict");
  EXPECT_EQ(diagnostic.severity, Severity::kError);
  EXPECT_NE(diagnostic.message.find("device_num = 7"), std::string::npos);
  EXPECT_NE(diagnostic.message.find("4"), std::string::npos);
  EXPECT_EQ(diagnostic.notes.front().place, At(5));
}

TEST(Together, RefusesManyDevicesThatTrainAloneAndWarnsOfManyWorkers) {
  const Diagnostic error =
      Only(Job(4).Set(kAuto, {{"parallel_mode", "stand_alone"}}, 6).Set(kAuto, {{"device_num", 4}}, 7).Check());
  EXPECT_EQ(error.kind, "parallel_mode");
  EXPECT_EQ(error.severity, Severity::kError);
  EXPECT_EQ(error.place, At(7));
  EXPECT_EQ(error.notes.front(), (Note{"parallel_mode = \"stand_alone\" was set here", At(6)}));
  const Diagnostic by_default = Only(Job(4).Set(kAuto, {{"device_num", 4}}, 7).Check());
  EXPECT_EQ(by_default.notes.front().message, "parallel_mode = \"stand_alone\" is the default of MindSpore 1.6.2");
  const Diagnostic warning = Only(Job(4).Set(kAuto, {{"parallel_mode", "stand_alone"}}, 6).Check());
  EXPECT_EQ(warning.kind, "parallel_mode");
  EXPECT_EQ(warning.severity, Severity::kWarning);
  EXPECT_EQ(warning.notes.front(), (Note{"device_num = 4 is the number of workers", At(5)}));
  EXPECT_TRUE(Job(1).Set(kAuto, {{"parallel_mode", "stand_alone"}}, 6).Check().empty());
  EXPECT_TRUE(
      Job(4).Set(kAuto, {{"device_num", 4}}, 6).Set("set_ps_context", {{"enable_ps", true}}, 7).Check().empty());
}

TEST(Together, FoldsRanksThatAreNotTheProcesses) {
  Job job(4);
  job.Set(kAuto, {{"parallel_mode", "data_parallel"}, {"global_rank", 0}}, 6);
  const Diagnostic warning = Only(job.Check());
  EXPECT_EQ(warning.kind, "rank");
  EXPECT_EQ(warning.severity, Severity::kWarning);
  EXPECT_EQ(warning.message, "global_rank = 0 of worker.1 is not its rank 1, and so for 2 other processes");
}

TEST(Together, RefusesRanksBeyondTheDevices) {
  Job job(4);
  job.Set(kAuto, {{"parallel_mode", "data_parallel"}}, 6).SetEach(kAuto, "global_rank", 3, 8);
  const Diagnostics diagnostics = job.Check();
  ASSERT_EQ(diagnostics.size(), 2U);
  EXPECT_EQ(diagnostics[0].kind, "range");
  EXPECT_EQ(diagnostics[0].severity, Severity::kError);
  EXPECT_EQ(diagnostics[0].place, At(8));
  EXPECT_EQ(diagnostics[0].message,
            "global_rank = 4 of worker.1 is not below device_num = 4, and so for 2 other processes");
  EXPECT_EQ(diagnostics[1].kind, "rank");
}

TEST(Together, RefusesDevicesThatAProcessCanNotSee) {
  Job job(4, 2);
  job.Set(kSet, {{"device_target", "Ascend"}}, 2).SetEach(kSet, "device_id", 0, 8);
  const Diagnostic diagnostic = Only(job.Check());
  EXPECT_EQ(diagnostic.kind, "range");
  EXPECT_EQ(diagnostic.message,
            "device_id = 2 of worker.2 can not be seen by it: it sees 2 devices, and so for 1 other process");
  EXPECT_NE(diagnostic.hint.find("0 to 1"), std::string::npos);
}

TEST(Together, ComparesDevicesWithThoseOfThePlan) {
  const auto checked = [](const Release& release, const char* target, bool by_id) {
    Job job(4, 4);
    job.context = Context(RealSchema(), release);
    job.Set(kSet, {{"device_target", target}, {"device_id", 0}}, 2);
    for (ProcessFacts& process : job.facts.processes) process.device = process.rank;
    job.facts.devices_by_id = by_id;
    return job.Check();
  };
  const Diagnostic kept = Only(checked(Release{1, 6, 2}, "Ascend", false));
  EXPECT_EQ(kept.kind, "devices");
  EXPECT_EQ(kept.severity, Severity::kError);
  EXPECT_EQ(kept.message, "device_id = 0 of worker.1 is not its device 1, and so for 2 other processes");
  EXPECT_EQ(Only(checked(Release{2, 3, 1}, "Ascend", true)).severity, Severity::kError) << "a rank table";
  EXPECT_EQ(Only(checked(Release{2, 3, 1}, "Ascend", false)).severity, Severity::kWarning) << "init() replaces it";
  EXPECT_TRUE(checked(Release{2, 3, 1}, "CPU", false).empty());
}

TEST(Together, NamesTheWayToADeviceThatThePlanDoesNotGive) {
  Job job(1, 1);
  job.facts.processes[0].host_devices = 8;
  job.Set(kSet, {{"device_target", "Ascend"}, {"device_id", 6}}, 2);
  const Diagnostic diagnostic = Only(job.Check());
  EXPECT_EQ(diagnostic.kind, "range");
  EXPECT_NE(diagnostic.hint.find("--devices 6 and device_id = 0, or give the role devices = 8"), std::string::npos)
      << diagnostic.hint;
}

TEST(Together, ComparesShardsWithTheDevicesOfAStage) {
  const auto checked = [](std::int64_t shards) {
    Job job(8);
    job.context = Context(RealSchema(), Release{2, 3, 1});
    job.Set(kSet, {{"mode", 0}}, 2)
        .Set(kAuto,
             {{"parallel_mode", "semi_auto_parallel"},
              {"pipeline_stages", 2},
              {"enable_parallel_optimizer", true},
              {"parallel_optimizer_config", Value::Map{{"optimizer_weight_shard_size", shards}}}},
             3);
    return job.Check();
  };
  EXPECT_TRUE(checked(4).empty());
  EXPECT_TRUE(checked(2).empty());
  const Diagnostic above = Only(checked(8));
  EXPECT_EQ(above.kind, "range");
  EXPECT_EQ(above.severity, Severity::kWarning) << "only the documents object";
  const Diagnostic uneven = Only(checked(3));
  EXPECT_EQ(uneven.severity, Severity::kWarning);
  EXPECT_EQ(uneven.kind, "no_effect");
}

TEST(Together, ComparesCutsWithTheDevicesOfAStage) {
  const auto checked = [](const Value& strategy, std::int64_t stages) {
    Job job(8);
    job.context = Context(RealSchema(), Release{2, 3, 1});
    job.Set(kSet, {{"mode", 0}}, 2)
        .Set(kAuto,
             {{"parallel_mode", "semi_auto_parallel"}, {"pipeline_stages", stages}, {"dataset_strategy", strategy}}, 3);
    return job.Check();
  };
  const auto cuts = [](std::int64_t first, std::int64_t second) {
    return Value(Value::List{Value(Value::List{first, second})});
  };
  EXPECT_TRUE(checked(cuts(8, 1), 1).empty());
  EXPECT_TRUE(checked(cuts(1, 4), 2).empty());
  EXPECT_TRUE(checked(cuts(1, 1), 1).empty());
  for (const Value& wrong : {cuts(16, 1), cuts(3, 1), cuts(0, 1), cuts(-1, 1), cuts(2, 4)}) {
    const Diagnostic diagnostic = Only(checked(wrong, 1));
    EXPECT_EQ(diagnostic.kind, "conflict");
    EXPECT_EQ(diagnostic.severity, Severity::kWarning);
  }
  EXPECT_EQ(Only(checked(cuts(8, 1), 2)).kind, "conflict") << "a stage has four";
}

TEST(Together, DoesNotCountDevicesOfProcessors) {
  Job cpu(4, 0);
  cpu.Set(kSet, {{"device_target", "CPU"}}, 2).SetEach(kSet, "device_id", 0, 8);
  EXPECT_TRUE(cpu.Check().empty());
  Job unknown(4);
  unknown.Set(kSet, {{"device_target", "Ascend"}}, 2).SetEach(kSet, "device_id", 0, 8);
  EXPECT_TRUE(unknown.Check().empty());
  Job none(1, 0);
  none.Set(kSet, {{"device_target", "GPU"}, {"device_id", 0}}, 2);
  EXPECT_EQ(Only(none.Check()).hint, "give the role devices");
}

TEST(Together, ChecksRulesForWhatProcessesSetThemselvesOncePerLine) {
  Job job(4);
  job.Set(kSet, {{"enable_graph_kernel", true}}, 2);
  for (ProcessFacts& process : job.facts.processes) {
    Context& own = job.overlays.emplace_back(job.context.Overlay());
    const char* flags = process.rank < 2 ? "--opt_level=0" : "--opt_level=2";
    EXPECT_TRUE(own.Apply(kSet, {{"graph_kernel_flags", flags}}, At(7)).empty());
    process.context = &own;
  }
  const Diagnostic warning = Only(job.Check());
  EXPECT_EQ(warning.kind, "conflict");
  EXPECT_EQ(warning.place, At(7));
  EXPECT_EQ(warning.notes.front().place, At(2));
}

TEST(Together, AsksOfTheJobWhatItsProcessesDoNotAnswerThemselves) {
  Job job(2);
  job.Set("set_ps_context", {{"enable_ssl", true}, {"server_password", "${muster:secret:s}"}}, 2);
  EXPECT_EQ(Only(job.Check()).kind, "ssl");
  for (ProcessFacts& process : job.facts.processes) {
    Context& own = job.overlays.emplace_back(job.context.Overlay());
    EXPECT_TRUE(own.Apply("set_ps_context", {{"client_password", "${muster:secret:c}"}}, At(7)).empty());
    process.context = &own;
  }
  EXPECT_TRUE(job.Check().empty());
}

TEST(Together, SeesADeviceTargetThatWasSetLater) {
  Job job(1);
  job.Set(kSet, {{"auto_tune_mode", "RL"}}, 2).Set(kSet, {{"device_target", "CPU"}}, 3);
  const Diagnostic warning = Only(job.Check());
  EXPECT_EQ(warning.kind, "wrong_device");
  EXPECT_EQ(warning.place, At(2));
  EXPECT_EQ(warning.notes.front().place, At(3));
}

TEST(Derived, ShowsWhatFollowsFromTheJobWithoutSettingIt) {
  Job job(4);
  job.Set(kAuto, {{"parallel_mode", "semi_auto_parallel"}, {"pipeline_stages", 2}}, 2);
  const DerivedSettings derived = DeriveSettings(job.context, job.facts);
  EXPECT_EQ(derived.device_num.value, Value(4));
  EXPECT_EQ(derived.device_num.source.kind, SettingSource::Kind::kDerived);
  EXPECT_EQ(derived.pipeline_stages, 2U);
  ASSERT_EQ(derived.global_rank.size(), 4U);
  EXPECT_EQ(derived.global_rank[3].value, Value(3));
  EXPECT_FALSE(job.context.Settled().contains("set_auto_parallel_context.device_num"));

  job.Set(kAuto, {{"device_num", 4}}, 3).SetEach(kAuto, "global_rank", 0, 4);
  const DerivedSettings set = DeriveSettings(job.context, job.facts);
  EXPECT_EQ(set.device_num.source.place, At(3));
  EXPECT_EQ(set.global_rank[1].source.kind, SettingSource::Kind::kSet);
}

// --- what was refused ---------------------------------------------------------------------------------

TEST(Unsettled, IsNotJudgedAsIfItWereTheDefault) {
  Job job(8, 8);
  job.Set(kSet, {{"mode", 0}, {"device_target", "Ascend"}}, 2);
  EXPECT_TRUE(HasErrors(job.context.Apply(
      kAuto, {{"parallel_mode", "semi_auto_paralel"}, {"device_num", 8}, {"pipeline_stages", 2}}, At(3))));
  EXPECT_TRUE(job.context.IsUnsettled(kAuto, "parallel_mode"));
  EXPECT_FALSE(job.context.IsUnsettled(kSet, "mode"));
  job.Set(kAuto, {{"pipeline_stages", 2}}, 4);
  job.SetEach(kAuto, "global_rank", 0, 5);
  EXPECT_TRUE(job.Check().empty()) << "stand_alone is nobody's choice, nor is a device_num of 1";
  job.Set(kAuto, {{"parallel_mode", "data_parallel"}}, 6);
  EXPECT_FALSE(job.context.IsUnsettled(kAuto, "parallel_mode"));
  EXPECT_EQ(job.Check().size(), 1U) << "now it is known: pipeline_stages needs another mode";
}

// --- parallel ---------------------------------------------------------------------------------------

Job JobOf26(std::uint32_t workers, const Value::Map& parallel) {
  Job job(workers);
  job.context = Context(RealSchema(), *ParseRelease("2.6.0"));
  job.Set(kSet, {{"mode", 0}, {"device_target", "Ascend"}}, 1).Set("parallel", parallel, 9);
  return job;
}

TEST(Parallel, WantsStagesToDivideTheWorkers) {
  EXPECT_TRUE(JobOf26(8, {{"pipeline", Value::Map{{"stages", 4}}}}).Check().empty());
  EXPECT_TRUE(JobOf26(0, {{"pipeline", Value::Map{{"stages", 3}}}}).Check().empty());
  const Diagnostic diagnostic = Only(JobOf26(8, {{"pipeline", Value::Map{{"stages", 3}}}}).Check());
  EXPECT_EQ(diagnostic.kind, "division");
  EXPECT_EQ(diagnostic.place, At(9));
  EXPECT_EQ(diagnostic.message, "parallel: pipeline.stages = 3 does not divide the number of workers, 8");
  EXPECT_EQ(diagnostic.hint, "use 1, 2, 4 or 8");
  ASSERT_EQ(diagnostic.notes.size(), 2U);
  EXPECT_EQ(diagnostic.notes.front(), (Note{"device_num = 8 is the number of workers", At(5)}));
  EXPECT_EQ(diagnostic.notes.back(), (Note{"rule: MindSpore fails when a graph is compiled", {}}));
}

TEST(Parallel, StagesAreThoseOfTheJob) {
  Job job = JobOf26(8, {{"pipeline", Value::Map{{"stages", 4}}}});
  EXPECT_EQ(DeriveSettings(job.context, job.facts).pipeline_stages, 4U);
  job.Set(kAuto, {{"pipeline_stages", 2}}, 10);
  EXPECT_EQ(PipelineStages(job.context), 4U) << "AutoParallel's hold";
  Job without = JobOf26(8, {});
  EXPECT_EQ(PipelineStages(without.context), 1U);
  EXPECT_EQ(PipelineStages(JobOf26(8, {{"pipeline", Value::Map{}}}).context), 1U);
}

TEST(Parallel, WantsLayoutsOfAsManyDevicesAsAStageHas) {
  const Value layout(Value::Map{{"device_matrix", Value::List{2, 2}},
                                {"alias_name", Value::List{"dp", "mp"}},
                                {"tensor_map", Value::List{"dp", "mp"}}});
  const Value pipeline(Value::Map{{"stages", 2}});
  EXPECT_TRUE(JobOf26(8, {{"pipeline", pipeline}, {"dataset_strategy", Value::List{layout}}}).Check().empty());
  const Diagnostic diagnostic = Only(JobOf26(8, {{"dataset_strategy", Value::List{layout}}}).Check());
  EXPECT_EQ(diagnostic.kind, "conflict");
  EXPECT_EQ(diagnostic.severity, Severity::kWarning);
  EXPECT_EQ(diagnostic.message, "dataset_strategy holds a layout of 4 devices, and a stage has 8");
}

TEST(Unsettled, OfOneProcessIsNotJudgedEither) {
  Job job(2, 1);
  Context& own = job.overlays.emplace_back(job.context.Overlay());
  job.facts.processes[1].context = &own;
  EXPECT_TRUE(HasErrors(own.Apply(kAuto, {{"global_rank", "1"}}, At(9))));
  EXPECT_TRUE(own.IsUnsettled(kAuto, "global_rank"));
  EXPECT_FALSE(job.context.IsUnsettled(kAuto, "global_rank"));
  EXPECT_TRUE(job.Check().empty());
}

TEST(Unsettled, OfAModeLeavesWhatDependsOnItUnjudgedInTheSameCall) {
  Context context(RealSchema(), *ParseRelease("2.3.1"));
  const Diagnostics one = context.Apply(kSet, {{"mode", "GRAPH"}, {"mempool_block_size", "2GB"}}, At(1));
  EXPECT_EQ(one.size(), 1U) << "not: works in PYNATIVE_MODE only";
  // In PYNATIVE_MODE, the default, it would be refused.
  EXPECT_TRUE(context.Apply(kAuto, {{"parallel_mode", "semi_auto_parallel"}}, At(2)).empty());
  EXPECT_TRUE(context.Apply(kSet, {{"mode", 1}}, At(3)).size() == 1U) << "known again, and judged";
}

}  // namespace
}  // namespace muster
