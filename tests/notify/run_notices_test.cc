// Tests which notices follow from the journal of a run, and their JSON.
#include "run/session/run_notices.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/system/known_secrets.h"
#include "lua/state/own_data.h"
#include "muster/notification.h"
#include "run/notify/notifier.h"
#include "run/sample_plan.h"

namespace muster {
namespace {

using EventsSeen = std::vector<std::string>;

struct RunSeen {
  Plan plan = SamplePlan({{"worker", 3}});
  RunNoticeMaker maker{plan};
  std::vector<Notice> notices = {};

  EventsSeen Saw(const std::vector<JournalEntry>& entries) {
    EventsSeen events;
    for (const JournalEntry& entry : entries) {
      for (Notice& notice : maker.Saw(entry, 12)) {
        events.emplace_back(FactsOf(notice.event).name);
        notices.push_back(std::move(notice));
      }
    }
    return events;
  }
};

ProcessExited Exit(ProcessId process, int code) {
  ProcessExited exit;
  exit.process = process;
  exit.code = code;
  return exit;
}

RunEnded End(Cause cause, int code, std::string why) {
  RunEnded end;
  end.cause = cause;
  end.exit_code = code;
  end.why = std::move(why);
  return end;
}

TEST(RunNotices, ReportOfASuccessfulRun) {
  RunSeen made;
  EXPECT_EQ(made.Saw({RunBegan{}, PhaseChanged{Phase::kPreparing, Phase::kStarting},
                      PhaseChanged{Phase::kStarting, Phase::kRunning}, Exit(0, 0),
                      PhaseChanged{Phase::kRunning, Phase::kFinishing}, End(Cause::kNone, 0, "")}),
            (EventsSeen{"started", "ended"}));
  EXPECT_EQ(made.notices.back().outcome, "ok");
  EXPECT_EQ(made.notices.back().exit_code, 0);
  EXPECT_EQ(made.notices.back().what, "succeeded after 12.0 s");
  EXPECT_EQ(made.notices.front().exit_code, std::nullopt);
}

TEST(RunNotices, ReportOfAFailureBeforeTheEnd) {
  RunSeen made;
  EXPECT_EQ(made.Saw({PhaseChanged{Phase::kStarting, Phase::kRunning}, Exit(1, 7), FirstFailure{1, 0}}),
            (EventsSeen{"started", "failed"}));
  EXPECT_EQ(made.notices.back().why, "worker.1 exited with code 7");
  EXPECT_EQ(made.notices.back().what, "failed after 12.0 s: worker.1 exited with code 7");
  EXPECT_TRUE(made.notices.back().outcome.empty());  // it is being stopped
  EXPECT_EQ(made.Saw({StopOrdered{}, Exit(0, 15), End(Cause::kFailed, 1, "worker.1 exited with code 7")}),
            (EventsSeen{"ended"}));
  EXPECT_EQ(made.notices.back().outcome, "failed");
  EXPECT_EQ(made.notices.back().exit_code, 1);
}

TEST(RunNotices, ReportOfFailuresWithoutAProcess) {
  for (const Cause cause : {Cause::kSpawn, Cause::kUnready, Cause::kTimeLimit, Cause::kLost, Cause::kOverdue}) {
    RunSeen made;
    EXPECT_EQ(made.Saw({End(cause, 3, "n1 was lost")}), (EventsSeen{"failed", "ended"}));
    EXPECT_EQ(made.notices.front().why, "n1 was lost");
    EXPECT_EQ(made.notices.front().exit_code, 3);
  }
  RunSeen made;
  EXPECT_EQ(made.Saw({PreparationFailed{"no ports"}, End(Cause::kUnready, 3, "no ports")}),
            (EventsSeen{"failed", "ended"}));
}

TEST(RunNotices, DoNotCallAStoppedRunFailed) {
  RunSeen made;
  EXPECT_EQ(made.Saw({StopRequested{}, End(Cause::kStopped, 130, "Ctrl-C")}), (EventsSeen{"ended"}));
  EXPECT_EQ(made.notices.back().outcome, "stopped");
}

TEST(RunNotices, ReportOfRestarts) {
  RunSeen made;
  RestartPlanned restart;
  restart.process = 1;
  restart.processes = {1};
  restart.count = 2;
  restart.max = 3;
  restart.why = "worker.1 exited with code 75";
  EXPECT_EQ(made.Saw({restart}), (EventsSeen{"restarted"}));
  EXPECT_EQ(made.notices.back().restart, (NoticeRestart{{"worker.1"}, 2, 3}));
  EXPECT_EQ(made.notices.back().what, "restarts worker.1 (restart 2 of at most 3): worker.1 exited with code 75");
}

TEST(RunNotices, ReportOfTheFirstMetricsOnceAfterTheStart) {
  RunSeen made;
  const RoleReports reports = {{"worker", {{"loss", 0.5}, {"step", std::int64_t{1}}}}};
  EXPECT_FALSE(made.maker.FirstMetrics(reports, 1, false));
  made.Saw({PhaseChanged{Phase::kStarting, Phase::kRunning}});
  EXPECT_FALSE(made.maker.FirstMetrics({}, 1, false));
  const auto first = made.maker.FirstMetrics(reports, 1, false);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->metrics_of, "worker");
  EXPECT_EQ(first->what, "reports its first metrics after 1.0 s: step 1, loss 0.5");
  EXPECT_FALSE(made.maker.FirstMetrics({{"worker", {{"loss", 0.25}}}}, 2, true));
}

TEST(RunNotices, ReportOfTheFirstMetricsWithTheEndIfItNeverStarted) {
  RunSeen made;
  EXPECT_TRUE(made.maker.FirstMetrics({{"worker", {{"loss", 0.5}}}}, 1, true));
}

TEST(Notice, IsOneLineOfJson) {
  RunSeen made;
  made.Saw({Exit(1, 7), FirstFailure{1, 0}});
  Notice notice = made.notices.front();
  notice.kind = "run";
  notice.id = "4f1c";
  notice.name = "train";
  notice.dir = "/runs/x";
  notice.host = "n1";
  notice.seconds = 12;
  const std::string line = NoticeLine(notice);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto read = nlohmann::json::parse(line);
  EXPECT_EQ(read["format"], 1);
  EXPECT_EQ(read["event"], "failed");
  EXPECT_EQ(read["text"], "train failed after 12.0 s: worker.1 exited with code 7 (run 4f1c on n1)");
  EXPECT_EQ(read["why"], "worker.1 exited with code 7");
  for (const char* absent : {"exit_code", "trial", "best", "metrics", "restart", "omitted", "job"}) {
    EXPECT_FALSE(read.contains(absent)) << absent;
  }
}

TEST(Notice, IsBoundedAndHasNoSecrets) {
  HideFromNowOn("s3cret-of-the-notice");
  Notice notice;
  notice.name = "train";
  notice.what = "failed: token s3cret-of-the-notice\x1b[31m\n" + std::string(100'000, 'x');
  notice.why = notice.what;
  notice.metrics["note"] = Value("s3cret-of-the-notice");
  const std::string line = NoticeLine(notice);
  EXPECT_EQ(line.find("s3cret"), std::string::npos);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_LT(line.size(), 10'000U);
  EXPECT_TRUE(nlohmann::json::accept(line));
}

// The table of events, and their descriptions for `muster docs` and editors.
TEST(NotifyEvents, AreThoseOfTheReference) {
  const auto sections = OwnData("muster/recipe_fields.lua");
  ASSERT_TRUE(sections);
  EventsSeen described;
  for (const Value& section : *sections->AsList()) {
    const Value::Map& map = *section.AsMap();
    if (*map.at("name").AsString() != "notify.on") continue;
    for (const Value& field : *map.at("fields").AsList()) {
      const Value::Map& event = *field.AsMap();
      described.push_back(*event.at("name").AsString());
      const auto known = NotifyEventCalled(described.back());
      ASSERT_TRUE(known) << described.back();
      const NotifyEventFacts& facts = FactsOf(*known);
      const std::string& when = *event.at("type").AsString();
      EXPECT_EQ(when.starts_with("may repeat"), facts.repeats) << described.back();
      EXPECT_EQ(when.ends_with("runs only"), facts.of_runs && !facts.of_sweeps) << described.back();
      EXPECT_EQ(when.ends_with("sweeps only"), facts.of_sweeps && !facts.of_runs) << described.back();
    }
  }
  EXPECT_EQ(described, EventsSeen(kNotifyEventNames.begin(), kNotifyEventNames.end()));
}

}  // namespace
}  // namespace muster
