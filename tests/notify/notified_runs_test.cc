// Tests the notifications of whole runs: what is sent, by recipe, site file and command line; and that commands which
// hang, fail, flood or are missing change nothing about the run. A webhook is a server of the test.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/inotify.h>
#include <sys/socket.h>

#include "base/system/unique_fd.h"
#include "supervision/started_muster.h"
#include "support/await.h"
#include "support/file_content.h"
#include "support/run_folder.h"

namespace muster::testing {
namespace {

using Events = std::vector<std::string>;

Events EventsIn(const std::string& path) {
  Events events;
  for (const std::string& line : LinesOf(path)) events.push_back(json::parse(line)["event"]);
  return events;
}

// Waits until the file, which may not exist yet, contains the text.
bool AwaitText(const std::filesystem::path& path, const std::string& text) {
  const UniqueFd watch(::inotify_init1(IN_CLOEXEC));
  ::inotify_add_watch(watch.get(), path.parent_path().c_str(), IN_CREATE | IN_MODIFY | IN_MOVED_TO);
  std::vector<char> events(4096);
  while (ContentOf(path).find(text) == std::string::npos) {
    if (!AwaitReadable(watch.get()) || ::read(watch.get(), events.data(), events.size()) < 0) return false;
  }
  return true;
}

const std::string kReports = "job:workers { count = 1, command = { 'muster', 'report-metric', 'step=1', 'loss=0.5' } }";
const std::string kFails = "job:workers { count = 1, command = { probe, 'exit', '7' } }";

std::string Keeping(const std::string& on) {
  return "notify = { command = { 'sh', '-c', 'cat >> ' .. here .. '/sent' }, on = { " + on + " } }, ";
}

class Notified : public ::testing::Test, public RunFolder {
 protected:
  CommandResult Run(const Words& more = {}) {
    Words words = RunWords(more);
    words.erase(words.begin());
    return Muster(words);
  }
  Events Sent() const { return EventsIn(Folder() + "/sent"); }
};

TEST_F(Notified, HearOfARunFromItsBeginningToItsEnd) {
  WriteRecipe(kReports, Keeping("'started', 'first_result', 'failed', 'ended'"));
  EXPECT_EQ(Run().exit_code, 0);
  EXPECT_EQ(Sent(), (Events{"started", "first_result", "ended"}));
  const json ended = json::parse(LinesOf(Folder() + "/sent").back());
  EXPECT_EQ(ended["outcome"], "ok");
  EXPECT_EQ(ended["exit_code"], 0);
  EXPECT_EQ(ended["dir"], RunDir());
}

TEST_F(Notified, HearOfAFailure) {
  WriteRecipe(kFails, Keeping("'failed', 'ended'"));
  EXPECT_EQ(Run().exit_code, 1);
  ASSERT_EQ(Sent(), (Events{"failed", "ended"}));
  const json failed = json::parse(LinesOf(Folder() + "/sent").front());
  EXPECT_EQ(failed["why"], "worker.0 exited with code 7");
}

TEST_F(Notified, HearOfARunThatCannotBePrepared) {
  WriteRecipe("job:workers { count = 1, command = { '/no/such/program' } }", Keeping("'failed', 'ended'"));
  const int code = Run().exit_code;
  EXPECT_NE(code, 0);
  ASSERT_EQ(Sent(), (Events{"failed", "ended"}));
  EXPECT_EQ(json::parse(LinesOf(Folder() + "/sent").back())["exit_code"], code);
}

TEST_F(Notified, HearOfRestarts) {
  WriteRecipe(
      "job:workers { count = 1, restart = { max = 1, backoff = 0 }, command = muster.shell 'exit $((1 - "
      "$MUSTER_ATTEMPT))' }",
      Keeping("'restarted', 'failed', 'ended'"));
  EXPECT_EQ(Run().exit_code, 0);
  EXPECT_EQ(Sent(), (Events{"restarted", "ended"}));
}

TEST_F(Notified, MayBeAFunctionOfTheParameters) {
  WriteRecipe("job:workers { count = 1, command = { 'true' } }",
              "params = { to = muster.string { 'sent' } }, notify = function(p) return { command = { 'sh', '-c', 'cat "
              ">> \"$1\"', 'x', here .. '/' .. p.to } } end, ");
  EXPECT_EQ(Run({"to=sent"}).exit_code, 0);
  EXPECT_EQ(Sent(), (Events{"ended"}));
}

TEST_F(Notified, ByTheCommandLineAndTheSiteFileBesidesTheRecipe) {
  WriteRecipe(kFails, Keeping("'ended'"));
  std::ofstream(Folder() + "/site.lua") << "return require('muster').site { notify = { command = { 'sh', '-c', 'cat >> "
                                        << Folder() << "/of_site' }, on = 'failed' } }\n";
  EXPECT_EQ(Run({"--site", "site.lua", "--notify", "failed,ended=sh -c 'cat >> of_line'"}).exit_code, 1);
  EXPECT_EQ(Sent(), (Events{"ended"}));
  EXPECT_EQ(EventsIn(Folder() + "/of_site"), (Events{"failed"}));
  EXPECT_EQ(EventsIn(Folder() + "/of_line"), (Events{"failed", "ended"}));
}

TEST_F(Notified, NoneIfTheCommandLineSaysSo) {
  WriteRecipe(kFails, Keeping("'ended'"));
  EXPECT_EQ(Run({"--notify", "none"}).exit_code, 1);
  EXPECT_TRUE(Sent().empty());
}

TEST_F(Notified, OfTheReplayedRunNotByItsFormerCommandLine) {
  WriteRecipe(kFails, Keeping("'ended'"));
  EXPECT_EQ(Run({"--notify", "sh -c 'cat >> of_line'"}).exit_code, 1);
  EXPECT_EQ(Muster({"replay", RunDir(), "--run-dir", Folder() + "/again"}).exit_code, 1);
  EXPECT_EQ(Sent(), (Events{"ended", "ended"}));
  EXPECT_EQ(EventsIn(Folder() + "/of_line"), (Events{"ended"}));
}

TEST_F(Notified, NotByARehearsal) {
  WriteRecipe("job:workers { count = 1, command = { 'true' } }", Keeping("'started', 'ended'"));
  EXPECT_EQ(Muster({"rehearse", "recipe.lua", "--run-dir", RunDir()}).exit_code, 0);
  EXPECT_TRUE(Sent().empty());
}

TEST_F(Notified, InTheBackgroundToo) {
  WriteRecipe(kFails, Keeping("'ended'"));
  Run({"--detach"});
  ASSERT_TRUE(AwaitText(Folder() + "/sent", "\"exit_code\":1"));
}

TEST_F(Notified, ByACommandThatIsMissingOrFailsChangeNothingElse) {
  WriteRecipe("job:workers { count = 1, command = { 'true' } }",
              "notify = { { command = { 'no-such-notifier' } }, { command = { 'sh', '-c', 'yes | head -c 1000000 >&2; "
              "echo no route >&2; exit 3' } } }, ");
  const CommandResult run = Run({"-q"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.err.find("no notifications to no-such-notifier (recipe)"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("notification of ended to sh (recipe): exited with code 3: no route"), std::string::npos)
      << run.err;
  EXPECT_EQ(Records("run_ended").at(0)["exit_code"], 0);
  const json line = json::parse(LinesOf(RunDir() + "/notifications.jsonl").at(0));
  EXPECT_EQ(line["outcome"], "failed");
}

TEST_F(Notified, ArgumentsThatCannotBeAreRefused) {
  WriteRecipe("job:workers { count = 1, command = { 'true' } }");
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"faild=true", "there is no event \"faild\""},
           {"ended=", "there is no command"},
           {"@no-such-file", "there is no file"},
           {"sh -c 'x", "'"},
           {"https://hooks.example/s3cret", "the address of a webhook is a secret"}}) {
    const CommandResult run = Run({"--notify", text});
    EXPECT_EQ(run.exit_code, 2) << text;
    EXPECT_NE(run.err.find(why), std::string::npos) << run.err;
    EXPECT_EQ(run.err.find("s3cret"), std::string::npos) << run.err;
  }
  EXPECT_FALSE(std::filesystem::exists(RunDir()));
}

// The examples of docs/notify.md, with programs that record how they are called.
TEST_F(Notified, AsTheGuideShows) {
  std::filesystem::create_directory(Folder() + "/bin");
  for (const char* name : {"mail", "notify-send", "curl", "jq"}) {
    const std::string path = Folder() + "/bin/" + name;
    std::ofstream(path) << "#!/bin/sh\n{ echo \"" << name << " $*\"; tee -a /dev/stderr; } 2>> " << Folder()
                        << "/called | tee -a " << Folder() << "/called\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  std::ofstream(Folder() + "/hook") << "https://hooks.example/x\n";
  const std::string guide = ContentOf(MUSTER_SOURCE_DIR "/docs/notify.md");
  std::size_t tried = 0;
  for (std::size_t at = guide.find("## Examples"); (at = guide.find("```lua\n", at)) != std::string::npos;) {
    at += 7;
    std::string text = guide.substr(at, guide.find("```", at) - at);
    if (text.starts_with("return muster.site")) continue;
    std::filesystem::remove(Folder() + "/called");
    std::filesystem::remove_all(RunDir());
    WriteRecipe(kFails, text + ", ");
    Words words = RunWords({"-q"});
    const CommandResult run =
        RunCommand({words, {"PATH=" + Folder() + "/bin:/usr/bin:/bin", "HOME=" + Folder()}, Folder()});
    EXPECT_EQ(run.exit_code, 1) << run.err;
    const std::string called = ContentOf(Folder() + "/called");
    EXPECT_TRUE(called.find("job failed after") != std::string::npos) << text << called << run.err;
    EXPECT_EQ(run.err.find("notification"), std::string::npos) << run.err;
    ++tried;
  }
  EXPECT_EQ(tried, 3U);
}

// --- commands that hang ------------------------------------------------------------------------------

TEST(NotifiedHanging, DoNotKeepARunFromItsEnd) {
  StartedMuster muster("job:workers { count = 1, command = { 'true' } }",
                       "notify = { command = { 'sh', '-c', 'echo asked > ' .. folder .. '/asked; sleep 1000' } },");
  muster.Start();
  ASSERT_TRUE(AwaitText(muster / "out", "job succeeded"));
  const auto ended = muster.Journal("run_ended");
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0]["exit_code"], 0);
  ASSERT_TRUE(AwaitText(muster / "asked", "asked"));
  SignalChild(muster.head_ref(), SIGINT);  // the user does not wait
  EXPECT_EQ(muster.End(), 0);
  EXPECT_NE(StartedMuster::Content(muster.run_dir() + "/notifications.jsonl").find("abandoned"), std::string::npos);
}

// --- webhooks ----------------------------------------------------------------------------------------

// Answers one request at a time.
class Hook {
 public:
  Hook() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  std::string Url(const std::string& path) const { return "http://127.0.0.1:" + std::to_string(port_) + path; }

  // Waits for a request; it is not answered yet.
  std::string Take() {
    if (!AwaitReadable(listener_.get())) return {};
    call_.reset(::accept(listener_.get(), nullptr, nullptr));
    std::string request;
    char bytes[4096];
    for (;;) {
      const std::size_t head = request.find("\r\n\r\n");
      const std::size_t length = request.find("Content-Length: ");
      if (head != std::string::npos && length != std::string::npos &&
          request.size() >= head + 4 + std::stoul(request.substr(length + 16))) {
        return request;
      }
      const ssize_t got = ::read(call_.get(), bytes, sizeof bytes);
      if (got <= 0) return request;
      request.append(bytes, static_cast<std::size_t>(got));
    }
  }
  void Answer(const std::string& status) {
    const std::string answer = "HTTP/1.1 " + status + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    EXPECT_EQ(::write(call_.get(), answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
    call_.reset();
  }

 private:
  UniqueFd listener_;
  UniqueFd call_;
  int port_ = 0;
};

std::string Body(const std::string& request) { return request.substr(request.find("\r\n\r\n") + 4); }

// Command line and environment of every process of this machine.
std::string AllProcesses() {
  std::string text;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos || pid == std::to_string(::getpid())) continue;
    for (const char* name : {"/cmdline", "/environ"}) text += ContentOf(entry.path().string() + name) + "\n";
  }
  return text;
}

std::string AllFilesBelow(const std::string& folder) {
  std::string text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) text += entry.path().string() + "\n" + ContentOf(entry.path()) + "\n";
  }
  return text;
}

class NotifiedHook : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::access("/usr/bin/curl", X_OK) != 0) GTEST_SKIP() << "no curl";
  }
  Hook hook;
};

TEST_F(NotifiedHook, GetsTheJsonAndItsAddressStaysSecret) {
  const std::string secret = "/T0/B0/s3cret-of-hook";
  StartedMuster muster("job:workers { count = 1, command = { 'true' } }",
                       "params = { of_env = muster.secret { from_env = 'HOOK' } }, notify = function(p) return { "
                       "{ webhook = p.of_env }, { webhook = muster.secret { from_env = 'HOOK' } }, "
                       "{ webhook = { from_file = folder .. '/hook.url' } } } end, ");
  std::ofstream(muster / "hook.url") << hook.Url(secret) << "\n";
  // The shell's own environment would hold the address.
  std::ofstream(muster / "start.sh") << "export HOOK=" << hook.Url(secret) << "\nexec \"$@\"\n";
  muster.Start({}, {"/bin/sh", muster / "start.sh"});
  for (int i = 0; i < 3; ++i) {
    const std::string request = hook.Take();
    EXPECT_TRUE(request.starts_with("POST " + secret + " HTTP/1.1\r\n")) << request;
    EXPECT_NE(request.find("Content-Type: application/json\r\n"), std::string::npos) << request;
    const json body = json::parse(Body(request), nullptr, false);
    EXPECT_EQ(body.value("event", ""), "ended") << request;
    EXPECT_TRUE(body.value("text", "").starts_with("job succeeded after ")) << request;
    EXPECT_EQ(AllProcesses().find("s3cret-of-hook"), std::string::npos);
    hook.Answer("200 OK");
  }
  EXPECT_EQ(muster.End(), 0);
  EXPECT_EQ(AllFilesBelow(muster.run_dir()).find("s3cret-of-hook"), std::string::npos);
  EXPECT_EQ(muster.Output().find("s3cret-of-hook"), std::string::npos) << muster.Output();
}

TEST_F(NotifiedHook, ThatRefusesIsAWarning) {
  StartedMuster muster("job:workers { count = 1, command = { probe, 'exit', '7' } }",
                       "notify = { webhook = '" + hook.Url("/x") + "' },");
  muster.Start();
  hook.Take();
  hook.Answer("500 Internal Server Error");
  EXPECT_EQ(muster.End(), 1);
  EXPECT_NE(muster.Output().find("notification of ended to webhook (recipe): exited with code 22: curl: (22) The "
                                 "requested URL returned error: 500"),
            std::string::npos)
      << muster.Output();
}

TEST_F(NotifiedHook, OfTheCommandLineIsInAFile) {
  StartedMuster muster("job:workers { count = 1, command = { 'true' } }");
  std::ofstream(muster / "hook.url") << hook.Url("/x") << "\n";
  muster.Start({"--notify", "started=@hook.url"});
  EXPECT_EQ(json::parse(Body(hook.Take()), nullptr, false).value("event", ""), "started");
  hook.Answer("204 No Content");
  EXPECT_EQ(muster.End(), 0);
}

}  // namespace
}  // namespace muster::testing
