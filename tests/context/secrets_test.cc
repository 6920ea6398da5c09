// Tests that only the intended process of a run has its secrets. Searches every file that a run writes, and every
// process of the machine during the run.
#include <array>
#include <csignal>
#include <set>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "context/python_job.h"
#include "spawn/start/launcher.h"
#include "spawn/start/reap.h"
#include "support/await.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

// Unique to this process: two instances of the test may run at once.
const std::string kFromVariable = "canary-variable-" + std::to_string(::getpid());
const std::string kFromFile = "canary-file-" + std::to_string(::getpid());

// Returns which of the canaries a text contains.
std::set<std::string> CanariesIn(const std::string& text) {
  std::set<std::string> found;
  for (const std::string& canary : {kFromVariable, kFromFile}) {
    if (text.find(canary) != std::string::npos) found.insert(canary);
  }
  return found;
}

std::string ProcFile(pid_t pid, const std::string& name) {
  return ContentOf("/proc/" + std::to_string(pid) + "/" + name);
}

std::vector<pid_t> AllProcesses() {
  std::vector<pid_t> pids;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const int pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0) pids.push_back(pid);
  }
  return pids;
}

std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children;
  std::ifstream list("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
  for (pid_t pid = 0; list >> pid;) children.push_back(pid);
  return children;
}

// A named pipe of which the test holds both ends open.
class Gate {
 public:
  explicit Gate(const std::string& path) {
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0) << path;
    fd_.reset(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  }
  int fd() const { return fd_.get(); }
  void Open(int times) const {
    const std::string bytes(static_cast<std::size_t>(times), 'x');
    EXPECT_EQ(::write(fd_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  std::size_t Passed() const {
    std::array<char, 64> bytes = {};
    const ssize_t got = ::read(fd_.get(), bytes.data(), bytes.size());
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }

 private:
  UniqueFd fd_;
};

// A muster whose standard error is a pipe; the test controls its progress by reading from it.
class RunningMuster {
 public:
  explicit RunningMuster(const Command& command) {
    std::array<int, 2> ends = {};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    err_.reset(ends[0]);
    const UniqueFd theirs(ends[1]);
    SpawnSpec spec;
    spec.argv = command.argv;
    spec.env = EnvPointers(command.env);
    spec.cwd = command.cwd;
    spec.stdout_fd = out_.get();
    spec.stderr_fd = theirs.get();
    auto spawned = launcher_.Spawn(spec);
    EXPECT_TRUE(spawned) << (spawned ? "" : SpawnErrorText(spawned.error()));
    if (spawned) spawned_ = std::move(*spawned);
  }

  pid_t pid() const { return spawned_.pid; }
  bool AwaitFirstWord() const { return AwaitReadable(err_.get()); }
  // Reads its standard error until `other` is readable; returns false if the output ended before.
  bool ReadUntil(int other) {
    for (;;) {
      std::array<pollfd, 2> ready = {pollfd{err_.get(), POLLIN, 0}, pollfd{other, POLLIN, 0}};
      const auto deadline = std::chrono::duration_cast<std::chrono::milliseconds>(kDeadline);
      if (::poll(ready.data(), ready.size(), static_cast<int>(deadline.count())) <= 0) return false;
      if (ready[1].revents != 0) return true;
      if (!ReadSome()) return false;
    }
  }
  int AwaitEnd() {
    while (ReadSome()) {
    }
    EXPECT_TRUE(AwaitReadable(spawned_.pidfd.get()));
    const auto ended = Reap(spawned_.pidfd.get());
    return ended && !ended->signalled ? ended->code : -1;
  }
  // Returns everything printed on both streams.
  std::string Said() const {
    std::string out(static_cast<std::size_t>(::lseek(out_.get(), 0, SEEK_END)), '\0');
    EXPECT_EQ(::pread(out_.get(), out.data(), out.size(), 0), static_cast<ssize_t>(out.size()));
    return out + said_;
  }

 private:
  bool ReadSome() {
    std::array<char, 4096> bytes = {};
    const ssize_t got = ::read(err_.get(), bytes.data(), bytes.size());
    if (got > 0) said_.append(bytes.data(), static_cast<std::size_t>(got));
    return got > 0;
  }

  Launcher launcher_;
  UniqueFd err_;
  UniqueFd out_{::memfd_create("out", MFD_CLOEXEC)};
  std::string said_;
  Spawned spawned_;
};

constexpr char kFields[] =
    "mindspore = \"1.6\", params = { password = muster.secret { from_env = \"PS_PASSWORD\" }, token = muster.secret {} "
    "},";
// Prints more than a pipe holds, so that the evaluator is blocked when its first line can be read.
constexpr char kBody[] = R"lua(
    for _ = 1, 200 do print(string.rep("x", 1000)) end
    context.set_context { device_target = "CPU", mode = 0 }
    context.set_ps_context { enable_ssl = true, client_password = p.password, server_password = p.token }
    job:scheduler { command = { "true" } }
    job:workers { count = 2, command = { "python3", "train.py" } }
    job:role "given" { command = { "python3", "wait.py" }, env = { HUB_TOKEN = p.token, PS_PASSWORD = p.password } }
)lua";
constexpr char kWait[] =
    "import os\nos.write(os.open('ready', os.O_WRONLY), b'x')\nos.read(os.open('go', os.O_RDONLY), 1)\n";

class Secrets : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasPython()) GTEST_SKIP() << "python3 is missing";
  }

  // Runs the job; its workers exit with `code`.
  void RunAndSearch(int code) {
    PythonJob job("old", kBody, kFields);
    job.Put("token", kFromFile + "\n");
    job.Put("wait.py", kWait);
    job.Put("train.py", "import mindspore\n" + std::string(kWait) + "raise SystemExit(" + std::to_string(code) + ")\n");
    const Gate ready(job / "ready");
    const Gate go(job / "go");
    RunningMuster muster(job.RunCommandOf({"token@=token"}, {"PS_PASSWORD=" + kFromVariable}));
    ASSERT_TRUE(muster.AwaitFirstWord());
    SearchEvaluator(muster.pid());
    for (std::size_t waiting = 0; waiting < 3;) {
      ASSERT_TRUE(muster.ReadUntil(ready.fd())) << muster.Said();
      waiting += ready.Passed();
    }
    SearchProcesses(muster.pid(), job.run_dir());
    SearchFiles(job);
    go.Open(3);
    EXPECT_EQ(muster.AwaitEnd(), code == 0 ? 0 : 1) << muster.Said();
    SearchFiles(job);
    EXPECT_EQ(CanariesIn(muster.Said()), (std::set<std::string>{}));
    // The secrets did reach MindSpore.
    const std::string calls = ContentOf(job / "calls");
    EXPECT_NE(calls.find("\"client_password\": \"'" + kFromVariable + "'\""), std::string::npos);
    EXPECT_NE(calls.find("\"server_password\": \"'" + kFromFile + "'\""), std::string::npos);
  }

  static void SearchEvaluator(pid_t head) {
    const std::vector<pid_t> children = ChildrenOf(head);
    ASSERT_EQ(children.size(), 1U);
    EXPECT_FALSE(ProcFile(children[0], "cmdline").empty());
    EXPECT_EQ(CanariesIn(ProcFile(children[0], "environ") + ProcFile(children[0], "cmdline")),
              (std::set<std::string>{}));
  }

  // Searches every process of the machine: only the intended one may have the secrets in its environment.
  static void SearchProcesses(pid_t head, const std::string& run_dir) {
    std::size_t given = 0;
    for (const pid_t pid : AllProcesses()) {
      EXPECT_EQ(CanariesIn(ProcFile(pid, "cmdline")), (std::set<std::string>{})) << pid;
      const std::string environment = ProcFile(pid, "environ");
      if (environment.find("MUSTER_ROLE=given") != std::string::npos &&
          environment.find("MUSTER_RUN_DIR=" + run_dir) != std::string::npos) {
        ++given;
        EXPECT_EQ(CanariesIn(environment).size(), 2U);
      } else {
        EXPECT_EQ(CanariesIn(environment), (std::set<std::string>{})) << pid << " " << ProcFile(pid, "cmdline");
      }
    }
    EXPECT_EQ(given, 1U);
    // muster's own processes were among those searched.
    EXPECT_NE(ProcFile(head, "environ").find("PATH="), std::string::npos);
    const std::vector<pid_t> agents = ChildrenOf(head);
    ASSERT_EQ(agents.size(), 1U);
    EXPECT_NE(ProcFile(agents[0], "cmdline").find("muster-agent"), std::string::npos);
    EXPECT_NE(ProcFile(agents[0], "environ").find("PATH="), std::string::npos);
  }

  static void SearchFiles(const PythonJob& job) {
    std::size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(job.run_dir())) {
      if (!entry.is_regular_file()) continue;
      ++files;
      EXPECT_EQ(CanariesIn(ContentOf(entry.path())), (std::set<std::string>{})) << entry.path();
    }
    EXPECT_GT(files, 15U) << "plan, journal, contexts, logs, …";
  }
};

TEST_F(Secrets, ReachOnlyTheIntendedProcesses) { RunAndSearch(0); }

TEST_F(Secrets, LeaveNoTraceOfAFailedRun) { RunAndSearch(7); }

TEST_F(Secrets, WrittenIntoARecipeAreReportedByCheckAndRefusedByRun) {
  const PythonJob job("old",
                      "context.set_ps_context { enable_ssl = true, client_password = \"" + kFromFile +
                          "\" }\njob:workers { count = 1, command = { \"true\" } }",
                      "mindspore = \"1.6\",");
  Command command = job.RunCommandOf();
  command.argv = {MusterProgram(), "check", "recipe.lua", "--json"};
  const CommandResult checked = RunCommand(command);
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  const nlohmann::json diagnostic = nlohmann::json::parse(checked.out).at("diagnostics").at(0);
  EXPECT_EQ(diagnostic.at("kind"), "secret_literal");
  EXPECT_EQ(diagnostic.at("severity"), "warning");

  const CommandResult run = job.Run();
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("error: client_password is written into the recipe"), std::string::npos) << run.err;
  EXPECT_FALSE(fs::exists(job.run_dir()));

  command.argv = {MusterProgram(), "plan", "recipe.lua", "--json"};
  const CommandResult planned = RunCommand(command);
  EXPECT_EQ(CanariesIn(checked.out + checked.err + planned.out + planned.err + run.err), (std::set<std::string>{}));
}

}  // namespace
}  // namespace muster::testing
