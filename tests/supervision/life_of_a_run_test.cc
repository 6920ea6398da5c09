// Tests runs in the background with real processes, and the commands that control them: stop, ps, ls, watch.
#include <filesystem>

#include <sys/stat.h>

#include "supervision/background_run.h"

namespace muster::testing {
namespace {

class LifeOfARun : public BackgroundRun {};

constexpr const char* kWaits = "job:workers { count = 2, stop = { grace = '20s' }, command = { probe, 'wait' } }";

TEST_F(LifeOfARun, ContinuesInTheBackgroundUntilStopped) {
  const CommandResult begun = Detach(kWaits);
  ASSERT_EQ(begun.exit_code, 0) << begun.err;
  const json first = Record("run_began");
  EXPECT_EQ(begun.out, first.value("run", "") + " " + RunDir() + "\n");
  EXPECT_EQ(begun.err, "");
  struct stat status = {};
  ASSERT_EQ(::stat((RunDir() + "/control").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode, static_cast<mode_t>(S_IFSOCK | 0600));
  const pid_t head = first["pid"];
  EXPECT_EQ(::getsid(head), head);
  for (int fd = 0; fd < 3; ++fd) {
    const std::string leads_to =
        std::filesystem::read_symlink("/proc/" + std::to_string(head) + "/fd/" + std::to_string(fd));
    EXPECT_EQ(leads_to, fd == 2 ? RunDir() + "/head.log" : "/dev/null");
  }

  const CommandResult stopped = Muster({"stop", RunDir(), "--wait"});
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  EXPECT_NE(stopped.out.find("has ended (stopped)"), std::string::npos) << stopped.out;
  EXPECT_EQ(Record("stop_requested").value("signal", -1), 0);
  EXPECT_EQ(Record("stop_requested").value("times", -1), 1);
  const json report = json::parse(ContentOf(RunDir() + "/report.json"));
  EXPECT_EQ(report["outcome"], "stopped");
  EXPECT_EQ(report["why"], "asked to stop");
  EXPECT_EQ(report["exit_code"], 143);
  EXPECT_EQ(report["receipt"]["left"], 0);
  EXPECT_NE(ContentOf(RunDir() + "/head.log").find("requested by muster stop"), std::string::npos);
  EXPECT_NE(::stat((RunDir() + "/control").c_str(), &status), 0) << "the socket goes with the head";

  const CommandResult again = Muster({"stop", RunDir()});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_NE(again.out.find("has ended already (stopped)"), std::string::npos) << again.out;
}

// `cat` exits when no process holds the pipe any more, and the shell waits for it.
TEST_F(LifeOfARun, HoldsNoPipeOfItsCaller) {
  ASSERT_EQ(Detach(kWaits).exit_code, 0);
  ASSERT_EQ(Muster({"stop", RunDir(), "--wait"}).exit_code, 0);
  run_name = "piped";
  Command command;
  command.argv = {"/bin/sh", "-c", "\"$0\" run recipe.lua --detach --run-dir \"$1\" 2>&1 7>&1 | cat", MusterProgram(),
                  RunDir()};
  command.cwd = Folder();
  EXPECT_NE(RunCommand(command).out.find(" " + RunDir() + "\n"), std::string::npos);
  EXPECT_EQ(Record("run_ended"), json());
  EXPECT_EQ(Muster({"stop", RunDir(), "--wait"}).exit_code, 0);
}

TEST_F(LifeOfARun, EndsAtOnceOnRequest) {
  ASSERT_EQ(Detach("job:workers { count = 2, ready = { line = 'up' }, stop = { grace = '10m' },"
                   "command = { probe, 'ignore-term', 'print', 'up', 'wait' } }")
                .exit_code,
            0);
  AwaitPhase("running");  // both ignore SIGTERM by now: without the kill the test would time out
  EXPECT_NE(Muster({"stop", RunDir()}).out.find("is stopping\n"), std::string::npos);
  EXPECT_NE(Muster({"stop", RunDir()}).out.find("is stopping already"), std::string::npos);
  EXPECT_EQ(Muster({"stop", RunDir(), "--now", "--wait"}).exit_code, 0);
  EXPECT_EQ(json::parse(ContentOf(RunDir() + "/report.json"))["outcome"], "stopped");
}

TEST_F(LifeOfARun, ReportsWhyItDidNotStart) {
  const CommandResult lost =
      Detach("job:workers { count = 1, command = { probe, 'wait' } }", {"--wrap", "worker:4=gdb"});
  EXPECT_EQ(lost.exit_code, 2);
  EXPECT_EQ(Detach("job:port('p', { number = 1 }); job:workers { count = 1, command = { probe, 'wait' }, "
                   "env = { P = job:port 'p' } } job:check(false, 'no')")
                .exit_code,
            2);
  // Another process listens on the port.
  const UniqueFd taken(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::listen(taken.get(), 1), 0);
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  ASSERT_EQ(::getsockname(taken.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&address);
  const std::string port = std::to_string(bytes[2] * 256 + bytes[3]);
  const CommandResult busy = Detach(
      "job:workers { count = 1, command = { probe, 'wait' }, env = { P = job:port('p', { number = " + port + " }) } }");
  EXPECT_EQ(busy.exit_code, 3) << busy.err;
  EXPECT_EQ(busy.out, "");
  EXPECT_NE(busy.err.find("the run did not begin"), std::string::npos) << busy.err;
  EXPECT_NE(busy.err.find(port), std::string::npos) << busy.err;
}

TEST_F(LifeOfARun, RefusesASecondHeadAtOnce) {
  ASSERT_EQ(Detach(kWaits).exit_code, 0);
  for (const bool detached : {false, true}) {
    Words words = {"run", "recipe.lua", "--run-dir", RunDir()};
    if (detached) words.push_back("--detach");
    const CommandResult second = Muster(words);
    EXPECT_EQ(second.exit_code, 75) << second.err;
    EXPECT_NE(second.err.find("is in use by pid " + Record("run_began")["pid"].dump()), std::string::npos)
        << second.err;
  }
  EXPECT_EQ(Muster({"stop", RunDir(), "--wait"}).exit_code, 0);
}

TEST_F(LifeOfARun, IsListedWhileItRunsAndAfterwards) {
  run_name = "runs/job/20261120-120616-3f9a1c2b4d5e";
  std::filesystem::create_directories(Folder() + "/runs/job");
  ASSERT_EQ(Detach(kWaits).exit_code, 0);
  AwaitPhase("running");
  const auto runs = [this](const char* command) { return json::parse(Muster({command, "--json"}).out)["runs"]; };
  const json live = runs("ps");
  ASSERT_EQ(live.size(), 1U);
  EXPECT_EQ(live[0]["name"], "job");
  EXPECT_EQ(live[0]["outcome"], "running");
  EXPECT_EQ(live[0]["exit_code"], nullptr);
  EXPECT_EQ(live[0]["phase"], "running");
  EXPECT_EQ(live[0]["running"], 2);
  EXPECT_EQ(live[0]["restarts"], 0);
  EXPECT_NE(Muster({"ps"}).out.find("\njob   "), std::string::npos);
  EXPECT_EQ(runs("ls")[0]["outcome"], "running");
  // By name, without a folder.
  EXPECT_EQ(Muster({"stop", "job", "--wait"}).exit_code, 0);
  EXPECT_EQ(runs("ps").size(), 0U);
  const json past = runs("ls");
  ASSERT_EQ(past.size(), 1U);
  EXPECT_EQ(past[0]["outcome"], "stopped");
  EXPECT_EQ(past[0]["exit_code"], 143);
  const json all = json::parse(Muster({"ps", "--all", "--json", Folder() + "/runs"}).out)["runs"];
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["running"], 0);
  EXPECT_EQ(all[0]["ended"], 2);
}

TEST_F(LifeOfARun, IsWatchedToItsEndAndExitCode) {
  ASSERT_EQ(Detach("job:workers { count = 1, command = { probe, 'await', '" + (Folder() + "/go") + "', 'exit', '7' } }")
                .exit_code,
            0);
  const UniqueFd watcher = Connect();
  Say(watcher, "{\"format\":1,\"ask\":\"watch\"}\n");
  const json answer = json::parse(Hear(watcher));
  EXPECT_EQ(answer["ok"], true);
  std::ofstream(Folder() + "/go") << "x";
  const CommandResult watched = Muster({"watch", RunDir()});
  EXPECT_EQ(watched.exit_code, 1) << watched.err;
  EXPECT_NE(watched.err.find("worker.0 exited with code 7"), std::string::npos) << watched.err;
  EXPECT_NE(watched.err.find("1 failed first"), std::string::npos) << watched.err;
  // The connection delivers every record after the answer, and closes with the head.
  std::vector<json> heard;
  for (std::string line = Hear(watcher); !line.empty(); line = Hear(watcher)) heard.push_back(json::parse(line));
  ASSERT_FALSE(heard.empty());
  EXPECT_EQ(heard.front()["seq"].get<std::uint64_t>(), answer["status"]["records"].get<std::uint64_t>() + 1);
  EXPECT_EQ(heard.back()["event"], "run_ended");
  EXPECT_EQ(heard.back()["seq"], Journal().back()["seq"]);

  // For a finished run, --json prints the journal itself.
  const CommandResult lines = Muster({"watch", RunDir(), "--json"});
  EXPECT_EQ(lines.exit_code, 1);
  EXPECT_EQ(lines.out, ContentOf(RunDir() + "/journal.jsonl"));
}

TEST_F(LifeOfARun, AnswersAtALongSocketPathAndRefusesInvalidRequests) {
  run_name = std::string(200, 'x');
  ASSERT_EQ(Detach(kWaits).exit_code, 0);
  AwaitPhase("running");
  const UniqueFd client = Connect();
  Say(client, "{\"format\":1,\"ask\":\"status\"}\n{\"format\":1,\"ask\":\"dance\"}\nrubbish\n");
  const json status = json::parse(Hear(client))["status"];
  EXPECT_EQ(status["name"], "job");
  EXPECT_EQ(status["stops"], 0);
  EXPECT_EQ(status["roles"][0]["role"], "worker");
  EXPECT_EQ(status["roles"][0]["running"], 2);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(json::parse(Hear(client))["ok"], false);
  Say(client, std::string(5000, ' '));
  EXPECT_NE(Hear(client).find("at most 4096 bytes"), std::string::npos);
  EXPECT_EQ(Hear(client), "") << "the connection is closed";
  // Many silent clients must not block others: those beyond the limit are refused.
  std::vector<UniqueFd> idle;
  for (int i = 0; i < 64; ++i) idle.push_back(Connect());
  EXPECT_NE(Hear(Connect()).find("too many"), std::string::npos);
  idle.clear();
  // The head handles each disconnect in turn.
  const auto answered = [this] {
    const UniqueFd one = Connect();
    ::send(one.get(), "{\"format\":1,\"ask\":\"status\"}\n", 28, MSG_NOSIGNAL);
    return Hear(one).find("\"ok\":true") != std::string::npos;
  };
  for (int tries = 0; !answered(); ++tries) ASSERT_LT(tries, 1'000);
  EXPECT_EQ(Muster({"stop", RunDir(), "--wait"}).exit_code, 0);
}

TEST_F(LifeOfARun, ReportsThatItsHeadIsGone) {
  ASSERT_EQ(Detach(kWaits).exit_code, 0);
  AwaitPhase("running");
  const pid_t head = Record("run_began")["pid"];
  const UniqueFd gone = PidFd(head);
  ASSERT_EQ(::kill(head, SIGKILL), 0);
  ASSERT_TRUE(AwaitReadable(gone.get()));
  const CommandResult stop = Muster({"stop", RunDir()});
  EXPECT_EQ(stop.exit_code, 3);
  EXPECT_NE(stop.err.find("is no longer running: muster itself exited before the run ended"), std::string::npos)
      << stop.err;
  EXPECT_EQ(Muster({"watch", RunDir()}).exit_code, 3);
  EXPECT_EQ(json::parse(Muster({"ls", RunDir(), "--json"}).out)["runs"][0]["outcome"], "lost");
  // The agent stops its processes by itself; the fixture waits for that.
}

TEST_F(LifeOfARun, WrapsTheNamedProcess) {
  ASSERT_EQ(
      Detach("job:workers { count = 2, command = { probe, 'args' } }", {"--wrap", "worker:1=env A='b c'"}).exit_code,
      0);
  EXPECT_EQ(Muster({"watch", RunDir()}).exit_code, 0);
  const json plan = json::parse(ContentOf(RunDir() + "/plan.json"));
  EXPECT_NE(plan.dump().find("[\"env\",\"A=b c\",\"" + std::string(MUSTER_TESTS_DIR)), std::string::npos)
      << plan.dump();
}

}  // namespace
}  // namespace muster::testing
