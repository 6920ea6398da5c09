// Tests whole runs on a machine that has only /proc besides muster's programs: no /etc, no shared
// libraries, no locale, /tmp where nothing may be executed, and a user without a name.
#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/command.h"
#include "support/file_content.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

// $1: the root; the rest is called in it by a user whom no file knows. In namespaces that end with the call.
constexpr const char* kEnter = R"sh(
set -e
root=$1
shift
mount -t proc proc "$root/proc"
mount -t tmpfs -o noexec,mode=1777 tmpfs "$root/tmp"
exec setpriv --clear-groups unshare --root "$root" --wd /home --setgid 12345 --setuid 12345 /bin/muster "$@"
)sh";

class BareMachine : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!MUSTER_IS_STATIC) GTEST_SKIP() << "sanitizers and coverage need shared libraries";
    if (::geteuid() != 0) GTEST_SKIP() << "mounting needs root";
    for (const char* folder : {"proc", "tmp", "home", "bin"}) std::filesystem::create_directory(temp_ / folder);
    for (const char* program : {"muster", "muster-evaluator", "muster-agent"}) {
      std::filesystem::copy_file(std::string(MUSTER_BIN_DIR) + "/" + program, temp_ / "bin" + "/" + program);
    }
    ASSERT_EQ(::chown((temp_ / "home").c_str(), 12345, 12345), 0);
    ASSERT_EQ(::chmod(temp_.path().c_str(), 0755), 0);
    PutContent(temp_ / "home/recipe.lua", R"lua(local muster = require "muster"
      return muster.recipe { name = "job", params = { word = muster.string { "--version" } },
        metrics = { version = "muster (.*)" },
        plan = function(p, job) job:workers { count = 2, command = { "/bin/muster", p.word } } end })lua");
  }

  // muster with these words, in the folder of the recipe.
  CommandResult Muster(const std::vector<std::string>& words) const {
    std::vector<std::string> argv = {"unshare", "--mount", "--pid", "--fork",    "/bin/sh",
                                     "-c",      kEnter,    "sh",    temp_.path()};
    argv.insert(argv.end(), words.begin(), words.end());
    return RunCommand(
        {.argv = std::move(argv),
         .env = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/home", "LC_ALL=de_DE.UTF-8", "MUSTER_HOME=/home"}});
  }

  const TempDir temp_;
};

TEST_F(BareMachine, RunsProcesses) {
  const CommandResult run = Muster({"run", "recipe.lua", "--run-dir", "/home/run"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  for (const char* log : {"worker.0.0", "worker.1.0"}) {
    EXPECT_TRUE(ContentOf(temp_ / "home/run/logs/" + log + ".log").starts_with("muster ")) << log;
  }
}

TEST_F(BareMachine, ReportsFailures) {
  const CommandResult run = Muster({"run", "recipe.lua", "word=--no-such-option"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_NE(run.err.find("exited with code 2"), std::string::npos) << run.err;
  const CommandResult report = Muster({"report"});
  EXPECT_NE(report.out.find("job failed"), std::string::npos) << report.out << report.err;
}

TEST_F(BareMachine, RunsSweeps) {
  const CommandResult sweep = Muster({"sweep", "recipe.lua", "--grid", "word=--version,--help", "-q"});
  EXPECT_EQ(sweep.exit_code, 0) << sweep.out << sweep.err;
}

TEST_F(BareMachine, NamesAUserByItsNumber) {
  ASSERT_EQ(Muster({"run", "recipe.lua", "-q", "--run-dir", "/home/run"}).exit_code, 0);
  // The run becomes one of another user that everyone can read.
  const std::string run = temp_ / "home/run";
  const CommandResult given =
      RunCommand({.argv = {"/bin/sh", "-c", R"(chmod -R a+rX "$1" && chown -R 54321:54321 "$1")", "sh", run}});
  ASSERT_EQ(given.exit_code, 0) << given.err;
  const CommandResult clean = Muster({"clean", "/home/run"});
  EXPECT_EQ(clean.exit_code, 2) << clean.out << clean.err;
  EXPECT_NE(clean.err.find("belongs to uid 54321: only uid 54321 and root can"), std::string::npos) << clean.err;
  std::filesystem::remove_all(run);  // no run that muster made looks like this
}

}  // namespace
}  // namespace muster::testing
