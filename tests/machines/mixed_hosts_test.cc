// Tests whole runs on hosts of two architectures. A stand-in for ssh runs the command here; on the host `arm` uname
// prints aarch64. The agent for it is this machine's own, or the command in the variable FOREIGN_AGENT:
// tests/machines/aarch64 sets it to one that was built for aarch64.
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "spawn/leftovers/leftovers.h"
#include "support/command.h"
#include "support/file_content.h"
#include "support/places.h"
#include "support/processes.h"
#include "support/temp_dir.h"
#include "transport/local_transport.h"

namespace muster::testing {
namespace {

using nlohmann::json;
using std::filesystem::perms;

constexpr const char* kSsh = R"sh(#!/bin/sh
for last; do [ "$last" != -G ] || exit 0; host=$name; name=$last; done
echo "$host" >>"$0.calls"
[ "$host" != arm ] || PATH="${0%/*}/arm:$PATH"
exec /bin/sh -c "$last"
)sh";

// An installation of its own, with the agent of aarch64.
class MixedHosts : public ::testing::Test {
 protected:
  MixedHosts() {
    EXPECT_TRUE(BecomeSubreaper());
    std::filesystem::create_directory(temp_ / "bin");
    for (const char* program : {"muster", "muster-evaluator", "muster-agent"}) {
      std::filesystem::copy_file(std::string(MUSTER_BIN_DIR) + "/" + program, temp_ / "bin" + "/" + program);
    }
    Script("ssh", kSsh);
    Script("arm/uname", "#!/bin/sh\n[ \"$*\" = -m ] && echo aarch64\n");
    const char* agent = std::getenv("FOREIGN_AGENT");
    Script(kAgent, std::string("#!/bin/sh\necho called >>'") + (temp_ / "agent.calls") + "'\nexec " +
                       (agent != nullptr ? agent : MUSTER_BIN_DIR "/muster-agent") + " \"$@\"\n");
  }
  ~MixedHosts() override { EXPECT_EQ(KillDescendants({}).killed, 0U) << "something is left"; }

  void Script(const std::string& name, const std::string& text) const {
    PutContent(temp_ / name, text);
    std::filesystem::permissions(temp_ / name, perms::owner_all);
  }

  CommandResult Muster(std::vector<std::string> words, const std::string& body = {}) const {
    PutContent(temp_ / "recipe.lua",
               "local muster = require 'muster'\nreturn muster.recipe { name = 'job', plan = "
               "function(p, job)\n" +
                   body + "\nend }\n");
    words.insert(words.begin(), temp_ / "bin/muster");
    return RunCommand({.argv = std::move(words),
                       .env = {"PATH=/usr/bin:/bin", "MUSTER_SSH=" + temp_ / "ssh", "HOME=" + temp_.path()},
                       .cwd = temp_.path()});
  }
  CommandResult Run(const std::string& body, const std::string& hosts = "arm:2,own:2") const {
    std::vector<std::string> words = {"run", "recipe.lua", "--host", hosts, "--run-dir", RunDir()};
    return Muster(std::move(words), body);
  }
  std::string RunDir() const { return temp_ / "run"; }

  static constexpr const char* kAgent = "libexec/muster/aarch64/muster-agent";
  const TempDir temp_;
};

TEST_F(MixedHosts, SucceedWithTheAgentOfEachArchitecture) {
  const CommandResult run = Run(R"(job:workers { count = 4, command = { "/bin/sh", "-c", "echo $MUSTER_PROCESS" } })");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(ContentOf(temp_ / "agent.calls"), "called\n") << "one of the two hosts is of aarch64";
  const std::string calls = ContentOf(temp_ / "ssh.calls");
  EXPECT_TRUE(calls == "arm\nown\n" || calls == "own\narm\n") << "one connection to each: " << calls;
  for (const int rank : {0, 1, 2, 3}) {
    const std::string log = ContentOf(RunDir() + "/logs/worker." + std::to_string(rank) + ".0.log");
    EXPECT_TRUE(log.ends_with("/worker." + std::to_string(rank) + ".0\n")) << log;
  }
}

TEST_F(MixedHosts, ReportTheFirstFailureAndStopTheOtherHost) {
  const CommandResult run = Run(R"(job:workers { count = 4, each = function(process)
    process.command = process.index == 1 and { "/bin/sh", "-c", "echo broken; exit 7" } or { "/bin/sleep", "1000" }
  end })");
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_NE(run.err.find("worker.1 (rank 1) on arm exited with code 7"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("\n    broken\n"), std::string::npos) << run.err;
  EXPECT_TRUE(ProcessesWith("MUSTER_RUN_DIR=" + RunDir()).empty());
}

TEST_F(MixedHosts, EndIfTheAgentOfTheOtherArchitectureIsKilled) {
  const CommandResult run = Run(R"(job:workers { count = 4, each = function(process)
    process.command = { "/bin/sleep", "1000" }
    if process.index == 0 then process.command = { "/bin/sh", "-c", "kill -KILL $PPID; exec sleep 1000" } end
  end })");
  EXPECT_EQ(run.exit_code, 3) << run.out << run.err;
  EXPECT_TRUE(ProcessesWith("MUSTER_RUN_DIR=" + RunDir()).empty());
}

TEST_F(MixedHosts, AreRefusedWithBothArchitecturesIfThereIsNoAgent) {
  std::filesystem::remove(temp_ / kAgent);
  std::filesystem::remove(temp_ / "bin/muster-agent");
  const CommandResult run = Run("job:workers { count = 2, command = { 'true' } }", "arm:2");
  EXPECT_EQ(run.exit_code, 3) << run.out << run.err;
  EXPECT_NE(run.err.find("arm: it is aarch64, this muster " + OwnMachine() + ": there is no muster-agent\n"),
            std::string::npos)
      << run.err;
  EXPECT_NE(run.err.find("install that of aarch64 there as " + (temp_ / kAgent)), std::string::npos) << run.err;
}

TEST_F(MixedHosts, DoctorListsTheInstalledAgents) {
  const CommandResult text = Muster({"doctor", "--host", "arm,own"});
  EXPECT_NE(text.out.find("agents for other architectures: aarch64\n"), std::string::npos) << text.out << text.err;
  const CommandResult parsed = Muster({"doctor", "--json"});
  EXPECT_EQ(json::parse(parsed.out)["agents"], json::array({"aarch64"}));
  std::filesystem::remove(temp_ / kAgent);
  EXPECT_EQ(Muster({"doctor"}).out.find("agents for"), std::string::npos);
}

}  // namespace
}  // namespace muster::testing
