// Tests activations with a real bash, and with the test's own files, modules and conda.
#include "agent/host/host_activation.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/await.h"
#include "support/processes.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

using testing::TempDir;
using Set = std::map<std::string, std::string>;
using Names = std::vector<std::string>;

std::string Entries(const std::vector<std::string>& entries) {
  std::string bytes;
  for (const std::string& entry : entries) bytes += entry + '\0';
  return bytes;
}

TEST(ActivationOutput, IsTheChangeOfTheEnvironment) {
  const ActivationOutput output =
      ParseActivationOutput(Entries({"A=1", "B=2", "GONE=x", "PWD=/a", "SHLVL=1", "steps", "step", "step", "variables",
                                     "A=1", "B=3\n=3", "NEW=", "PWD=/b", "SHLVL=2", "OLDPWD=/a", "_=x", "whole"}));
  EXPECT_EQ(output.end, ActivationOutput::End::kWhole);
  EXPECT_EQ(output.reported.set, (Set{{"B", "3\n=3"}, {"NEW", ""}}));
  EXPECT_EQ(output.reported.unset, (Names{"GONE"}));
  EXPECT_EQ(output.reported.failed_step, 0U);
}

TEST(ActivationOutput, ReportsHowManyStepsWereDone) {
  using End = ActivationOutput::End;
  struct Case {
    std::vector<std::string> entries;
    End end;
    std::uint32_t step;
  };
  const Case cases[] = {
      {{}, End::kOutsideStep, 0},
      {{"A=1"}, End::kOutsideStep, 0},
      {{"A=1", "steps"}, End::kOutsideStep, 0},
      {{"A=1", "steps", "step"}, End::kInStep, 1},
      {{"A=1", "steps", "step", "step"}, End::kInStep, 2},
      {{"steps", "step", "no-modules"}, End::kNoModules, 1},
      {{"steps", "step", "step", "no-conda"}, End::kNoConda, 2},
      {{"steps", "step", "variables", "A=1"}, End::kOutsideStep, 0},
      {{"steps", "step", "what is this", "A=1", "=2"}, End::kInStep, 1},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.entries.empty() ? "" : one.entries.back());
    const ActivationOutput output = ParseActivationOutput(Entries(one.entries));
    EXPECT_EQ(output.end, one.end);
    EXPECT_EQ(output.reported.failed_step, one.step);
    EXPECT_TRUE(output.reported.set.empty());
    EXPECT_TRUE(output.reported.unset.empty());
  }
}

TEST(ActivationOutput, EndsWhereItIsTruncated) {
  const std::string whole = Entries({"A=1", "steps", "step", "variables", "A=2", "whole"});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const ActivationOutput output = ParseActivationOutput(whole.substr(0, size));
    EXPECT_NE(output.end, ActivationOutput::End::kWhole) << size;
    EXPECT_TRUE(output.reported.set.empty()) << size;
  }
}

class HostActivationTest : public ::testing::Test {
 protected:
  using Kind = ActivationStep::Kind;

  std::string File(const std::string& name, const std::string& content) {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << content;
    return path;
  }

  // Executes all steps.
  HostActivated Do(std::vector<ActivationStep> steps, std::vector<std::string> environment = {},
                   const std::string& shell = "/bin/bash", std::uint32_t within_ms = 60'000) {
    Activate command;
    command.steps = std::move(steps);
    command.environment = std::move(environment);
    command.environment.emplace_back("PATH=/usr/bin:/bin");
    command.environment.push_back(mark_);
    command.cwd = folder_.path();
    command.within_ms = within_ms;
    rlimit files = {};
    ::getrlimit(RLIMIT_NOFILE, &files);
    std::optional<HostActivated> reported;
    HostActivation activation(
        io_, launcher_, [&](HostActivated answer) { reported = std::move(answer); }, shell);
    const UniqueFd directory(::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    activation.Begin(command, {directory.get(), "log"}, {RLIMIT_NOFILE, files});
    const auto deadline = std::chrono::steady_clock::now() + testing::kDeadline;
    while (!reported && io_.run_one_until(deadline) > 0) {
    }
    EXPECT_TRUE(reported) << "it was not answered";
    EXPECT_TRUE(activation.empty());
    return reported.value_or(HostActivated{});
  }

  // Whether all processes that carry the mark have been killed; a signal takes effect a moment after kill() returns.
  bool AllEnd() const {
    const std::vector<pid_t> left = testing::ProcessesWith(mark_);
    return std::all_of(left.begin(), left.end(), testing::AwaitEnd);
  }

  std::string Log() const {
    std::ifstream file(folder_ / "log", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TempDir folder_;
  const std::string mark_ = "MUSTER_PROCESS=" + folder_.path();
  boost::asio::io_context io_;
  Launcher launcher_;
};

TEST_F(HostActivationTest, ReportsWhatAFileChanges) {
  const std::string file = File("set_env.sh", R"(export NEW='two
lines' ADDED="$ADDED:/opt/lib" SAME="$SAME"
NOT_EXPORTED=1
unset GONE
cd /
echo "hello with $# arguments"
)");
  const HostActivated reported = Do({{Kind::kSource, file}}, {"ADDED=/lib", "SAME=x", "GONE=x"});
  EXPECT_EQ(reported.error, "");
  EXPECT_EQ(reported.set, (Set{{"ADDED", "/lib:/opt/lib"}, {"NEW", "two\nlines"}}));
  EXPECT_EQ(reported.unset, (Names{"GONE"}));
  EXPECT_EQ(Log(), "muster: source " + file + "\nhello with 0 arguments\n");
}

TEST_F(HostActivationTest, ExecutesItsStepsInOneShellInOrder) {
  const HostActivated reported =
      Do({{Kind::kSource, File("a.sh", "export PATH=/a:$PATH; set -euf; shopt -s nullglob")},
          {Kind::kSource, File("b.sh", "export PATH=/b:$PATH IFS=/ ; set -a; HALF=$UNKNOWN")},
          {Kind::kSource, File("c.sh", "export PATH=/c:$PATH")}});
  EXPECT_EQ(reported.error, "");
  EXPECT_EQ(reported.set.at("PATH"), "/c:/b:/a:/usr/bin:/bin");
  EXPECT_EQ(reported.set.at("HALF"), "") << "what one file sets is on for itself only";
  EXPECT_EQ(reported.set.size(), 3U) << "IFS, PATH and HALF";
}

TEST_F(HostActivationTest, IgnoresBashEnvAndExportedFunctions) {
  const std::string file = File("env.sh", "export FROM_BASH_ENV=1");
  const HostActivated reported =
      Do({{Kind::kSource, File("a.sh", "module load x || true")}},
         {"BASH_ENV=" + file, "ENV=" + file, "BASH_FUNC_module%%=() { export FROM_FUNCTION=1; }", "odd-name=1"});
  EXPECT_EQ(reported.error, "");
  EXPECT_EQ(reported.set, Set{});
  EXPECT_EQ(reported.unset, Names{});
}

TEST_F(HostActivationTest, QuotesNamesInCommands) {
  const std::string file = File("a $(touch hit); `touch hit` \"' é.sh", "export GOOD=1");
  EXPECT_EQ(Do({{Kind::kSource, file}}).set, (Set{{"GOOD", "1"}}));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "hit"));
}

TEST_F(HostActivationTest, NamesTheStepThatFails) {
  const std::string good = File("good.sh", "export GOOD=1");
  const auto failed = [&](const std::string& content) {
    std::filesystem::remove(folder_ / "log");
    const HostActivated reported =
        Do({{Kind::kSource, good}, {Kind::kSource, File("bad.sh", content)}, {Kind::kSource, good}});
    EXPECT_EQ(reported.failed_step, 2U) << content;
    EXPECT_TRUE(reported.set.empty()) << "what failed changes nothing";
    return reported.error;
  };
  EXPECT_EQ(failed("echo no driver >&2; return 3"), "exit code 3");
  EXPECT_NE(Log().find("no driver"), std::string::npos);
  EXPECT_EQ(failed("exit 4"), "exit code 4");
  EXPECT_EQ(failed("exit"), "it exited the shell with exit code 0");
  EXPECT_EQ(failed("exec true"), "it exited the shell with exit code 0");
  EXPECT_EQ(failed("set -e; false; true"), "exit code 1");
  EXPECT_EQ(failed("kill -9 $$"), "ended by SIGKILL");
  EXPECT_EQ(failed("exec 198>&-"), "exit code 1") << "it took away what the shell tells on";
  std::filesystem::remove(folder_ / "log");
  EXPECT_EQ(Do({{Kind::kSource, folder_ / "missing.sh"}}).error, "exit code 1");
  EXPECT_NE(Log().find("missing.sh: No such file"), std::string::npos) << Log();
}

TEST_F(HostActivationTest, KillsTheProcessGroupOnTimeout) {
  const HostActivated reported = Do({{Kind::kSource, File("a.sh", "sleep 1000 & sleep 1000")}}, {}, "/bin/bash", 300);
  EXPECT_EQ(reported.error, "it took longer than 300 ms");
  EXPECT_TRUE(AllEnd());
}

TEST_F(HostActivationTest, KillsBackgroundProcessesOfAFile) {
  EXPECT_EQ(Do({{Kind::kSource, File("a.sh", "sleep 1000 & export A=1")}}).set, (Set{{"A", "1"}}));
  EXPECT_TRUE(AllEnd());
}

TEST_F(HostActivationTest, ReportsAMissingBash) {
  const HostActivated reported = Do({{Kind::kSource, "/x"}}, {}, folder_ / "no/bash");
  EXPECT_NE(reported.error.find("bash cannot be started: exec: No such file or directory"), std::string::npos)
      << reported.error;
  EXPECT_EQ(reported.failed_step, 0U);
}

TEST_F(HostActivationTest, ReportsThatItsLogCannotBeCreated) {
  File("log", "mine");
  EXPECT_NE(Do({{Kind::kSource, "/x"}}).error.find("log: File exists"), std::string::npos);
  EXPECT_EQ(Log(), "mine");
}

TEST_F(HostActivationTest, LimitsItsReplyToTheProtocolsBounds) {
  const HostActivated reported = Do({{Kind::kSource, File("a.sh", R"(
    printf -v BIG '%*s' 600000 x
    export BIG)")}});
  EXPECT_EQ(reported.error, "its changes of the environment exceed 512 KiB or 16384 variables");
  EXPECT_TRUE(reported.set.empty());
}

TEST_F(HostActivationTest, LimitsTheOutputItReads) {
  const HostActivated reported = Do({{Kind::kSource, File("a.sh", R"(
    printf -v BIG '%*s' 3000000 x
    export BIG BIG2=$BIG BIG3=$BIG)")}});
  EXPECT_NE(reported.error.find("may be larger than 4 MiB"), std::string::npos) << reported.error;
  EXPECT_TRUE(reported.set.empty());
}

TEST_F(HostActivationTest, LoadsModules) {
  File("modules/init/bash", R"(
    module() {
      [ "$1" = load ] || return 9
      case $2 in cuda/*) export CUDA_VERSION=${2#cuda/} ;; *) echo "no module $2" >&2; return 1 ;; esac
    })");
  const std::vector<std::string> home = {"MODULESHOME=" + folder_.path() + "/modules"};
  EXPECT_EQ(Do({{Kind::kModule, "cuda/12"}}, home).set, (Set{{"CUDA_VERSION", "12"}}));
  std::filesystem::remove(folder_ / "log");
  const HostActivated reported = Do({{Kind::kModule, "cuda/12"}, {Kind::kModule, "nope"}}, home);
  EXPECT_EQ(reported.failed_step, 2U);
  EXPECT_EQ(reported.error, "exit code 1");
  EXPECT_NE(Log().find("no module nope"), std::string::npos);
}

TEST_F(HostActivationTest, ReportsMissingModules) {
  // This machine may have some: the shell sees an empty folder instead.
  const std::string shell = File("bash", R"(#!/bin/sh
[ -d /etc/profile.d ] || exec /bin/bash "$@"
exec unshare --map-root-user --mount sh -c 'mount -t tmpfs tmpfs /etc/profile.d && exec /bin/bash "$@"' sh "$@"
)");
  std::filesystem::permissions(shell, std::filesystem::perms::owner_all);
  const HostActivated reported = Do({{Kind::kModule, "cuda/12"}}, {}, shell);
  EXPECT_EQ(reported.failed_step, 1U);
  EXPECT_NE(reported.error.find("no environment modules here"), std::string::npos) << reported.error << Log();
}

TEST_F(HostActivationTest, ActivatesACondaEnvironment) {
  const std::string functions = R"(
    conda() {
      [ "$1 $2" = "activate train" ] || return 1
      export CONDA_PREFIX=/conda/envs/$2 PATH="/conda/envs/$2/bin:$PATH"
    })";
  File("conda/etc/profile.d/conda.sh", functions);
  File("conda/bin/conda", "");
  const Set expected = {{"CONDA_PREFIX", "/conda/envs/train"}, {"PATH", "/conda/envs/train/bin:/usr/bin:/bin"}};
  EXPECT_EQ(Do({{Kind::kConda, "train"}}, {"CONDA_EXE=" + folder_.path() + "/conda/bin/conda"}).set, expected);

  // Without that file, conda provides a hook.
  const std::string program =
      File("other/bin/conda", "#!/bin/sh\n[ \"$1 $2\" = 'shell.bash hook' ] && cat <<'END'\n" + functions + "\nEND\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  std::filesystem::remove(folder_ / "log");
  EXPECT_EQ(Do({{Kind::kConda, "train"}}, {"CONDA_EXE=" + program}).set, expected);
  std::filesystem::remove(folder_ / "log");
  EXPECT_EQ(Do({{Kind::kConda, "other"}}, {"CONDA_EXE=" + program}).error, "exit code 1");
}

TEST_F(HostActivationTest, ReportsAMissingConda) {
  for (const std::string& variable : {std::string("X=1"), "CONDA_EXE=" + folder_.path() + "/no/bin/conda"}) {
    std::filesystem::remove(folder_ / "log");
    const HostActivated reported = Do({{Kind::kConda, "train"}}, {variable});
    EXPECT_EQ(reported.failed_step, 1U);
    EXPECT_NE(reported.error.find("there is no conda here"), std::string::npos) << reported.error;
  }
}

}  // namespace
}  // namespace muster
