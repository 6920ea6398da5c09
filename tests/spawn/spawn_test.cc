#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>

#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <sys/wait.h>

#include "run_probe.h"
#include "spawn/start/launcher.h"

namespace muster::testing {
namespace {

using nlohmann::json;

std::string WriteFile(const std::string& path, const std::string& content, mode_t mode) {
  std::ofstream(path) << content;
  ::chmod(path.c_str(), mode);
  return path;
}

std::size_t OpenDescriptors() {
  std::size_t count = 0;
  for (int fd = 0; fd < 1024; ++fd) count += ::fcntl(fd, F_GETFD) >= 0 ? 1U : 0U;
  return count;
}

SpawnError ErrorOf(const SpawnSpec& spec) {
  Launcher launcher;
  auto spawned = launcher.Spawn(spec);
  EXPECT_FALSE(spawned.has_value());
  // A failed child has been waited for.
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  return spawned ? SpawnError{} : spawned.error();
}

SpawnSpec Command(std::vector<std::string> argv) {
  SpawnSpec spec;
  spec.argv = std::move(argv);
  return spec;
}

// --- a child's environment, descriptors and signals, with every kernel mechanism -----------------------

class SpawnWith : public ::testing::TestWithParam<Mechanisms> {};

std::string MechanismsName(const ::testing::TestParamInfo<Mechanisms>& info) {
  if (info.param == Mechanisms{}) return "Everything";
  if (!info.param.pidfd) return "NoPidfd";
  if (!info.param.close_range) return "ProcFd";
  return info.param.clone_pidfd ? "CopiedFiles" : "PidfdOpen";
}

INSTANTIATE_TEST_SUITE_P(Kernels, SpawnWith,
                         ::testing::Values(Mechanisms{}, Mechanisms{.pidfd = false}, Mechanisms{.clone_pidfd = false},
                                           Mechanisms{.clone_files = false},
                                           Mechanisms{
                                               .clone_pidfd = false, .close_range = false, .clone_files = false}),
                         MechanismsName);

TEST_P(SpawnWith, ReportsTheMechanismsInUse) {
  Launcher launcher(GetParam());
  ASSERT_TRUE(RunProbe(launcher, {}, {"exit", "0"}));
  const auto names = MechanismNames(launcher.mechanisms());
  const auto has = [&names](const char* name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  // Mechanisms that the kernel lacks add to those that the test switched off.
  EXPECT_TRUE(GetParam().pidfd || has("sigchld"));
  EXPECT_TRUE(!GetParam().pidfd || GetParam().clone_pidfd || has("pidfd-open"));
  EXPECT_TRUE(GetParam().close_range || has("proc-fd"));
  EXPECT_TRUE(GetParam().clone_files || has("copied-files"));
  EXPECT_EQ(names.size(), 3U);
}

TEST_P(SpawnWith, PassesArgumentsAndEnvironmentByteForByte) {
  Launcher launcher(GetParam());
  const std::vector<std::string> variables = {"EMPTY=",        "LINES=a\nb\n\nc", "QUOTES='\"`$\\", "UTF8=größe → 東京",
                                              "EQUALS==a=b==", "BLANKS=  two  "};
  SpawnSpec spec;
  spec.env = EnvPointers(variables);
  const auto run = RunProbe(launcher, spec, {"env", "args", "--", "", "a\nb", "'\"$(id)", "größe"});
  ASSERT_TRUE(run);
  ASSERT_EQ(run->lines.size(), 2U);
  EXPECT_EQ(json::parse(run->lines[0]), json(variables));
  EXPECT_EQ(json::parse(run->lines[1]), json({ProbePath(), "env", "args", "--", "", "a\nb", "'\"$(id)", "größe"}));
}

TEST_P(SpawnWith, PassesOnlyTheNamedDescriptors) {
  // Many inheritable descriptors with low and high numbers.
  std::vector<UniqueFd> foreign;
  for (int i = 0; i < 40; ++i) foreign.emplace_back(::open("/dev/zero", O_RDONLY));
  foreign.emplace_back(::fcntl(foreign.front().get(), F_DUPFD, 700));

  const TempDir folder;
  std::vector<UniqueFd> passed;
  SpawnSpec spec;
  // The launcher keeps its own descriptors at 3 to 6: targets with these numbers must not collide with them.
  for (const int target : {6, 3, 5, 4, 40}) {
    const std::string path = WriteFile(folder / std::to_string(target), "", 0600);
    passed.emplace_back(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    spec.passed.push_back({passed.back().get(), target});
  }
  Launcher launcher(GetParam());
  const auto run = RunProbe(launcher, spec, {"fds"});
  ASSERT_TRUE(run);
  ASSERT_EQ(run->lines.size(), 1U);
  json fds = json::parse(run->lines[0]);
  EXPECT_EQ(fds["0"], "/dev/null");
  EXPECT_EQ(fds["2"], "/dev/null");
  EXPECT_TRUE(fds.contains("1"));
  for (const int target : {3, 4, 5, 6, 40}) EXPECT_EQ(fds[std::to_string(target)], folder / std::to_string(target));
  EXPECT_EQ(fds.size(), 8U);
}

TEST_P(SpawnWith, ResetsSignalsThatTheParentIgnoresOrBlocks) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGCHLD, SIG_IGN);
  std::signal(SIGRTMIN + 3, SIG_IGN);
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  sigprocmask(SIG_SETMASK, &blocked, &before);

  Launcher launcher(GetParam());
  const auto run = RunProbe(launcher, {}, {"signals", "exit", "7"});

  sigset_t after;
  sigprocmask(SIG_SETMASK, &before, &after);
  EXPECT_EQ(sigismember(&after, SIGUSR1), 1) << "the parent's own mask was changed";
  for (const int signal : {SIGPIPE, SIGCHLD, SIGRTMIN + 3}) std::signal(signal, SIG_DFL);
  ASSERT_TRUE(run);
  EXPECT_EQ(json::parse(run->lines.at(0)), (json{{"SigBlk", "0000000000000000"}, {"SigIgn", "0000000000000000"}}));
  // If SIGCHLD were ignored the kernel would discard the status.
  EXPECT_EQ(run->ended.code, 7);
}

TEST_P(SpawnWith, LeaksNothingOnFailure) {
  Launcher launcher(GetParam());
  ASSERT_TRUE(RunProbe(launcher, {}, {"exit", "0"}));
  const std::size_t before = OpenDescriptors();
  const TempDir folder;
  for (int i = 0; i < 20; ++i) {
    SpawnSpec spec = Command({WriteFile(folder / "text", "no program\n", 0755)});
    ASSERT_FALSE(launcher.Spawn(spec));
    spec = Command({"/bin/true"});
    spec.cwd = "/nowhere";
    ASSERT_FALSE(launcher.Spawn(spec));
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_P(SpawnWith, StartsTheProcessInItsOwnGroupOrSession) {
  Launcher launcher(GetParam());
  SpawnSpec spec;
  spec.grouping = Grouping::kOwnGroup;
  auto run = RunProbe(launcher, spec, {"ids"});
  ASSERT_TRUE(run);
  json ids = json::parse(run->lines.at(0));
  EXPECT_EQ(ids["group"], ids["pid"]);
  EXPECT_EQ(ids["session"], ::getsid(0));
  spec.grouping = Grouping::kOwnSession;
  run = RunProbe(launcher, spec, {"ids"});
  ASSERT_TRUE(run);
  ids = json::parse(run->lines.at(0));
  EXPECT_EQ(ids["session"], ids["pid"]);
}

TEST_P(SpawnWith, KeepsNoPipeOpen) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd out(ends[0]);
  Launcher launcher(GetParam());
  SpawnSpec spec = Command({ProbePath(), "print", "hello"});
  spec.stdout_fd = ends[1];
  auto spawned = launcher.Spawn(spec);
  ::close(ends[1]);
  ASSERT_TRUE(spawned);
  std::string text;
  std::array<char, 64> buffer = {};
  // Ends only if the launcher has closed its writing end.
  while (AwaitReadable(out.get())) {
    const ssize_t size = ::read(out.get(), buffer.data(), buffer.size());
    if (size <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  EXPECT_EQ(text, "hello\n");
  EXPECT_EQ(ReapAtEnd(spawned->ref()).code, 0);
}

TEST(Spawn, WorksWhereStandardDescriptorsAreClosed) {
  const UniqueFd input(::fcntl(0, F_DUPFD_CLOEXEC, 10));
  ::close(0);
  Launcher launcher;
  const auto run = RunProbe(launcher, {}, {"fds"});
  ::dup2(input.get(), 0);
  ASSERT_TRUE(run);
  const json fds = json::parse(run->lines.at(0));
  EXPECT_EQ(fds.size(), 3U);
  EXPECT_EQ(fds["0"], "/dev/null");
}

TEST(Spawn, SetsLimitsAndFolder) {
  const TempDir folder;
  Launcher launcher;
  SpawnSpec spec;
  spec.cwd = folder.path();
  spec.limits = {{RLIMIT_NOFILE, {64, 64}}};
  const auto run = RunProbe(launcher, spec, {"cwd", "nofile"});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->lines, (std::vector<std::string>{"\"" + folder.path() + "\"", "64"}));
}

TEST(Spawn, SearchesTheChildsPathThenFurtherFolders) {
  const TempDir folder;
  std::filesystem::create_directory(folder / "first");
  std::filesystem::create_directory(folder / "last");
  std::filesystem::create_symlink(ProbePath(), folder / "last/tool");
  WriteFile(folder / "first/tool", "not executable", 0600);
  const std::string path = "PATH=" + (folder / "none") + ":" + (folder / "first");
  SpawnSpec spec = Command({"tool", "exit", "5"});
  spec.env = {path.c_str()};
  spec.search_dirs = {folder / "last"};
  Launcher launcher;
  auto spawned = launcher.Spawn(spec);
  ASSERT_TRUE(spawned) << SpawnErrorText(spawned.error());
  ASSERT_TRUE(AwaitReadable(spawned->pidfd.get()));
  EXPECT_EQ(Reap(spawned->pidfd.get())->code, 5);
  // A relative path is resolved in the child's working directory.
  spec = Command({"last/tool", "exit", "6"});
  spec.cwd = folder.path();
  spawned = launcher.Spawn(spec);
  ASSERT_TRUE(spawned) << SpawnErrorText(spawned.error());
  ASSERT_TRUE(AwaitReadable(spawned->pidfd.get()));
  EXPECT_EQ(Reap(spawned->pidfd.get())->code, 6);
}

// --- failures, each with its stage ---------------------------------------------------------------------

TEST(SpawnFailure, NamesEveryStage) {
  EXPECT_EQ(SpawnStageName(SpawnStage::kDescriptors), "descriptors");
  EXPECT_EQ(SpawnStageName(SpawnStage::kParentDeath), "parent_death");
  EXPECT_EQ(SpawnStageName(SpawnStage::kExec), "exec");
}

// Prevents: PATH, which has hundreds of bytes, is printed on each level of a report.
TEST(SpawnFailure, ReportsAMissingProgramAndASimilarOneOnThePath) {
  const TempDir folder;
  WriteFile(folder / "no-such-tools", "", 0700);
  SpawnSpec spec = Command({"no-such-tool"});
  spec.env = {"PATH=/one:/two"};
  spec.search_dirs = {"/three"};
  EXPECT_EQ(ErrorOf(spec), (SpawnError{SpawnStage::kExec, ENOENT, "\"no-such-tool\" is not on PATH"}));
  const std::string path = "PATH=/one:" + folder.path();
  spec.env = {path.c_str()};
  EXPECT_EQ(ErrorOf(spec), (SpawnError{SpawnStage::kExec, ENOENT,
                                       "\"no-such-tool\" is not on PATH (did you mean \"no-such-tools\"?)"}));
  EXPECT_EQ(ErrorOf(Command({"/no/such/tool"})), (SpawnError{SpawnStage::kExec, ENOENT, "\"/no/such/tool\""}));
}

TEST(SpawnFailure, DistinguishesNonExecutableFilesFromDirectories) {
  const TempDir folder;
  const std::string file = WriteFile(folder / "file", "", 0600);
  EXPECT_EQ(ErrorOf(Command({file})), (SpawnError{SpawnStage::kExec, EACCES, "\"" + file + "\" is not executable"}));
  EXPECT_EQ(ErrorOf(Command({folder.path()})),
            (SpawnError{SpawnStage::kExec, EISDIR, "\"" + folder.path() + "\" is a directory"}));
  const std::string path = "PATH=" + folder.path();
  SpawnSpec spec = Command({"file"});
  spec.env = {path.c_str()};
  EXPECT_EQ(ErrorOf(spec).error, EACCES);
}

TEST(SpawnFailure, DoesNotRunAScriptWithoutInterpreterInAShell) {
  const TempDir folder;
  const std::string script = WriteFile(folder / "script", "touch " + (folder / "touched") + "\n", 0755);
  const SpawnError error = ErrorOf(Command({script}));
  EXPECT_EQ(error.stage, SpawnStage::kExec);
  EXPECT_EQ(error.error, ENOEXEC);
  EXPECT_NE(error.detail.find("\"#!\""), std::string::npos) << error.detail;
  EXPECT_FALSE(std::filesystem::exists(folder / "touched"));
}

TEST(SpawnFailure, NamesAMissingInterpreter) {
  const TempDir folder;
  const std::string script = WriteFile(folder / "script", "#! /no/such/python -u\n", 0755);
  const SpawnError error = ErrorOf(Command({script}));
  EXPECT_EQ(error.error, ENOENT);
  EXPECT_NE(error.detail.find("/no/such/python\""), std::string::npos) << error.detail;
}

TEST(SpawnFailure, NamesAMissingWorkingDirectory) {
  SpawnSpec spec = Command({"/bin/true"});
  spec.cwd = "/no/such/folder";
  EXPECT_EQ(ErrorOf(spec), (SpawnError{SpawnStage::kDirectory, ENOENT, "\"/no/such/folder\""}));
  // The working directory is named as the cause even if the program would be found in it.
  spec.argv = {"./train.sh"};
  EXPECT_EQ(ErrorOf(spec), (SpawnError{SpawnStage::kDirectory, ENOENT, "\"/no/such/folder\""}));
}

TEST(SpawnFailure, ReportsTheSizeOfATooLongArgumentList) {
  SpawnSpec spec = Command({"/bin/true", std::string(131'072, 'x')});
  const SpawnError error = ErrorOf(spec);
  EXPECT_EQ(error.error, E2BIG);
  EXPECT_EQ(error.detail,
            "a word of its command or a variable has 131073 bytes, and Linux takes 128 KiB: write long texts to a file "
            "(job:file)");
  spec.argv.assign(300, std::string(100'000, 'x'));
  spec.argv.front() = "/bin/true";
  EXPECT_NE(ErrorOf(spec).detail.find("29900309 bytes of arguments"), std::string::npos) << ErrorOf(spec).detail;
}

TEST(SpawnFailure, NamesTheRefusedLimit) {
  SpawnSpec spec = Command({"/bin/true"});
  spec.limits = {{RLIMIT_CORE, {0, 0}}, {RLIMIT_NOFILE, {20, 10}}};
  const SpawnError error = ErrorOf(spec);
  EXPECT_EQ(error.stage, SpawnStage::kLimits);
  EXPECT_EQ(error.error, EINVAL);
  EXPECT_EQ(error.detail, "resource " + std::to_string(RLIMIT_NOFILE) + " to 20 (hard 10)");
}

TEST(SpawnFailure, NamesNonexistentCores) {
  SpawnSpec spec = Command({"/bin/true"});
  spec.cores = {60'000, 60'001};
  EXPECT_EQ(ErrorOf(spec), (SpawnError{SpawnStage::kAffinity, EINVAL, "cores 60000-60001"}));
}

TEST(SpawnFailure, NamesAClosedDescriptor) {
  SpawnSpec spec = Command({"/bin/true"});
  spec.stdout_fd = 999;
  EXPECT_EQ(ErrorOf(spec), (SpawnError{SpawnStage::kDescriptors, EBADF, "descriptor 999"}));
  spec = Command({"/bin/true"});
  spec.passed = {{0, 5}, {0, 5}};
  EXPECT_EQ(ErrorOf(spec), (SpawnError{SpawnStage::kDescriptors, EINVAL, "descriptor 0 as 5"}));
}

TEST(SpawnFailure, NamesAnInvalidParentDeathSignal) {
  SpawnSpec spec = Command({"/bin/true"});
  spec.parent_death_signal = 65;
  EXPECT_EQ(ErrorOf(spec), (SpawnError{SpawnStage::kParentDeath, EINVAL, "signal 65"}));
}

TEST(SpawnFailure, ReportsTheDescriptorLimitWhenItIsReached) {
  rlimit before = {};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit few = before;
  few.rlim_cur = 3;
  ::setrlimit(RLIMIT_NOFILE, &few);
  Launcher launcher;
  const auto spawned = launcher.Spawn(Command({"/bin/true"}));
  ::setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_FALSE(spawned);
  EXPECT_EQ(spawned.error(), (SpawnError{SpawnStage::kDescriptors, EMFILE, "RLIMIT_NOFILE is 3"}));
}

TEST(SpawnFailure, RefusesZeroBytesInStrings) {
  const SpawnError error = ErrorOf(Command({"/bin/true", std::string("a\0b", 3)}));
  EXPECT_EQ(error.stage, SpawnStage::kExec);
  EXPECT_EQ(error.error, EINVAL);
  EXPECT_EQ(ErrorOf(Command({})).detail, "the command is empty");
}

}  // namespace
}  // namespace muster::testing
