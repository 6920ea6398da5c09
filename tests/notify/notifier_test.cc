// Tests what is sent to which command, and that commands which hang, fail, flood or are missing neither delay nor
// disturb.
#include "run/notify/notifier.h"

#include <algorithm>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/await.h"
#include "support/file_content.h"
#include "support/processes.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

using std::chrono::milliseconds;
using Names = std::vector<std::string>;
using nlohmann::json;

constexpr milliseconds kNever = std::chrono::hours(1);

Notification Notifying(const std::vector<std::string>& command, Names on = {"ended"}) {
  Notification sent;
  for (const std::string& word : command) sent.command.emplace_back(word);
  sent.on = std::move(on);
  sent.source = "recipe";
  return sent;
}

Notice Of(NotifyEvent event, std::string what = "did it") {
  Notice notice;
  notice.event = event;
  notice.kind = "run";
  notice.name = "train";
  notice.what = std::move(what);
  return notice;
}

class NotifierTest : public ::testing::Test {
 protected:
  void Make(std::vector<Notification> notifications, NotifierTimes times = {kNever, kNever, kNever, kNever}) {
    NotifierSetting setting;
    setting.notifications = std::move(notifications);
    setting.environment = {"PATH=/usr/bin:/bin", "MUSTER_NOTIFY_TEXT=of another run", "KEPT=1", "OF=" + folder.path()};
    setting.sources = {"HOME=" + folder.path(), "HOOK=http://127.0.0.1:9/s3cret-hook", "TOKEN=s3cret-token"};
    setting.cwd = folder.path();
    opened.reset(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    setting.folder = opened.get();
    setting.warn = [this](const std::string& text) { warnings.push_back(text); };
    setting.times = times;
    notifier.emplace(io, std::move(setting));
  }
  void Finish() {
    bool done = false;
    notifier->Finish([&] { done = true; });
    while (!done && io.run_one() > 0) continue;
    EXPECT_TRUE(done);
  }
  // What was killed may not have exited yet.
  void ExpectNothingLeft() const {
    for (const pid_t left : ProcessesWith("OF=" + folder.path())) EXPECT_TRUE(AwaitEnd(left)) << left;
  }
  std::string In(const std::string& name) const { return ContentOf(folder / name); }
  std::vector<json> Lines() const {
    std::vector<json> lines;
    for (const std::string& line : LinesOf(folder / "notifications.jsonl")) lines.push_back(json::parse(line));
    return lines;
  }
  // Appends the input, in one line for each call.
  std::vector<std::string> Keeps(const std::string& name) const { return {"sh", "-c", "cat >> " + (folder / name)}; }

  const TempDir folder;
  UniqueFd opened;
  boost::asio::io_context io;
  std::vector<std::string> warnings;
  std::optional<Notifier> notifier;
};

TEST_F(NotifierTest, GivesEachCommandItsEventsAsJson) {
  Make({Notifying(Keeps("a"), {"started", "ended"}), Notifying(Keeps("b"))});
  EXPECT_TRUE(notifier->Wants(NotifyEvent::kStarted));
  EXPECT_FALSE(notifier->Wants(NotifyEvent::kFailed));
  for (const NotifyEvent event : {NotifyEvent::kStarted, NotifyEvent::kFailed, NotifyEvent::kEnded}) {
    notifier->Send(Of(event));
  }
  Finish();
  const Names a = LinesOf(folder / "a");
  ASSERT_EQ(a.size(), 2U);
  EXPECT_EQ(json::parse(a[0])["event"], "started");
  EXPECT_EQ(json::parse(a[1])["event"], "ended");
  EXPECT_EQ(LinesOf(folder / "b").size(), 1U);
  EXPECT_TRUE(warnings.empty());
  ASSERT_EQ(Lines().size(), 3U);
  for (const json& line : Lines()) EXPECT_EQ(line["outcome"], "sent");
}

TEST_F(NotifierTest, SetsVariablesOfTheCommand) {
  Notification sent =
      Notifying({"sh", "-c", "echo \"$MUSTER_NOTIFY_EVENT|$MUSTER_NOTIFY_TEXT|$TO|$KEPT|$TOKEN\" > out"});
  sent.env = {{"TO", "ann"}, {"TOKEN", "${muster:secret:TOKEN}"}};
  sent.secrets["TOKEN"] = {"TOKEN", {}};
  Make({sent});
  notifier->Send(Of(NotifyEvent::kEnded));
  Finish();
  EXPECT_EQ(In("out"), "ended|train did it (run  on )|ann|1|s3cret-token\n");
  EXPECT_EQ(In("notifications.jsonl").find("s3cret"), std::string::npos);
}

TEST_F(NotifierTest, SaysWhatFailed) {
  Make({Notifying({"sh", "-c", "echo no such user >&2; exit 3"}), Notifying({"sh", "-c", "kill -9 $$"})});
  notifier->Send(Of(NotifyEvent::kEnded));
  Finish();
  std::sort(warnings.begin(), warnings.end());
  EXPECT_EQ(warnings, (Names{"warning: notification of ended to sh (recipe): ended by signal 9 (SIGKILL)",
                             "warning: notification of ended to sh (recipe): exited with code 3: no such user"}));
  for (const json& line : Lines()) EXPECT_EQ(line["outcome"], "failed");
}

TEST_F(NotifierTest, WarnsAtTheBeginningOfAMissingProgram) {
  Make({Notifying({"no-such-notifier"}), Notifying(Keeps("a"))});
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("no notifications to no-such-notifier (recipe): "), std::string::npos) << warnings[0];
  notifier->Send(Of(NotifyEvent::kEnded));
  Finish();
  EXPECT_EQ(LinesOf(folder / "a").size(), 1U);
  EXPECT_EQ(warnings.size(), 1U);
}

TEST_F(NotifierTest, WarnsAtTheBeginningOfAMissingSecret) {
  Notification unset = Notifying({});
  unset.webhook = Text("${muster:secret:webhook}");
  unset.secrets["webhook"] = {"UNSET", {}};
  Notification no_file = unset;
  no_file.secrets["webhook"] = {{}, "~/no-such-file"};
  Make({unset, no_file});
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_EQ(warnings[0], "warning: no notifications to webhook (recipe): the variable UNSET is not set");
  EXPECT_NE(warnings[1].find("no-such-file"), std::string::npos) << warnings[1];
  EXPECT_FALSE(notifier->Wants(NotifyEvent::kEnded));
}

TEST_F(NotifierTest, KillsACommandThatHangs) {
  Make({Notifying({"sh", "-c", "sleep 1000"})}, {milliseconds(50), kNever, kNever, kNever});
  notifier->Send(Of(NotifyEvent::kEnded));
  Finish();
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0], "warning: notification of ended to sh (recipe): it was killed after 50 ms");
  ExpectNothingLeft();
}

TEST_F(NotifierTest, DoesNotDelayTheEndForLong) {
  Make({Notifying({"sh", "-c", "sleep 1000"}, {"started", "failed", "ended"})},
       {kNever, kNever, kNever, milliseconds(50)});
  for (const NotifyEvent event : {NotifyEvent::kStarted, NotifyEvent::kFailed, NotifyEvent::kEnded}) {
    notifier->Send(Of(event));
  }
  Finish();
  ExpectNothingLeft();
  ASSERT_EQ(Lines().size(), 3U);
  for (const json& line : Lines()) EXPECT_EQ(line["outcome"], "abandoned");
  EXPECT_EQ(warnings.size(), 3U);
}

TEST_F(NotifierTest, TellsOfTheEndBesidesACommandThatHangs) {
  Make({Notifying({"sh", "-c", "if grep -q 'event\":\"started'; then sleep 1000; else touch ended; fi"},
                  {"started", "ended"})},
       {kNever, milliseconds(1), kNever, std::chrono::seconds(30)});
  notifier->Send(Of(NotifyEvent::kStarted));
  notifier->Send(Of(NotifyEvent::kEnded));
  bool done = false;
  notifier->Finish([&] { done = true; });
  while (Lines().empty() && io.run_one() > 0) continue;
  ASSERT_EQ(Lines().size(), 1U);
  EXPECT_EQ(Lines()[0]["event"], "ended");
  EXPECT_EQ(Lines()[0]["outcome"], "sent");
  notifier->GiveUp();
  while (!done && io.run_one() > 0) continue;
  EXPECT_TRUE(done);
}

TEST_F(NotifierTest, CombinesEventsThatRepeat) {
  Make({Notifying(Keeps("a"), {"trial_failed", "ended"})});
  notifier->Send(Of(NotifyEvent::kTrialFailed, "first"));
  while (Lines().empty() && io.run_one() > 0) continue;
  for (int i = 2; i <= 1000; ++i) notifier->Send(Of(NotifyEvent::kTrialFailed, "number " + std::to_string(i)));
  io.poll();
  EXPECT_EQ(LinesOf(folder / "a").size(), 1U);
  notifier->Send(Of(NotifyEvent::kEnded));
  Finish();
  const Names lines = LinesOf(folder / "a");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_FALSE(json::parse(lines[0]).contains("omitted"));
  EXPECT_NE(lines[1].find("number 1000"), std::string::npos);
  EXPECT_EQ(json::parse(lines[1])["omitted"], 998);
  EXPECT_EQ(json::parse(lines[2])["event"], "ended");
}

TEST_F(NotifierTest, SendsWhatWaitsBeforeTheEnd) {
  Make({Notifying(Keeps("a"), {"best", "failed", "ended"})});
  notifier->Send(Of(NotifyEvent::kBest, "first"));
  while (Lines().empty() && io.run_one() > 0) continue;
  for (const NotifyEvent event : {NotifyEvent::kBest, NotifyEvent::kFailed, NotifyEvent::kEnded}) {
    notifier->Send(Of(event));
  }
  while (Lines().size() < 4 && io.run_one() > 0) continue;
  Names events;
  for (const std::string& line : LinesOf(folder / "a")) events.push_back(json::parse(line)["event"]);
  EXPECT_EQ(events, (Names{"best", "best", "failed", "ended"}));
}

TEST_F(NotifierTest, FinishesAtOnceIfItWasGivenUpBefore) {
  Make({Notifying({"sh", "-c", "sleep 1000"})});
  notifier->Send(Of(NotifyEvent::kEnded));
  io.poll();
  notifier->GiveUp();
  Finish();
  ExpectNothingLeft();
}

TEST_F(NotifierTest, EndsItsCommandsWithItself) {
  Make({Notifying({"sh", "-c", "sleep 1000"})});
  notifier->Send(Of(NotifyEvent::kEnded));
  io.run_one();
  notifier.reset();
  ExpectNothingLeft();
}

TEST_F(NotifierTest, IsNotHurtByAFolderThatIsGone) {
  Make({Notifying(Keeps("a"))});
  opened.reset();
  notifier->Send(Of(NotifyEvent::kEnded));
  Finish();
  EXPECT_EQ(LinesOf(folder / "a").size(), 1U);
}

}  // namespace
}  // namespace muster::testing
