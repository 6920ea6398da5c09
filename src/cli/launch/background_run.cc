#include "cli/launch/background_run.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/values/quoting.h"
#include "cli/command/command_output.h"
#include "spawn/start/forks.h"
#include "transport/local_transport.h"
#include "wire/archive/value_archive.h"

namespace muster {
namespace {

// The message from the head to the command about the start.
struct Beginning {
  std::int32_t exit_code = 0;
  Diagnostics problems;
  std::string run_id;
  std::string run_dir;
  std::string waits;  // which devices it waits for and who holds them
};

template <class A>
void Fields(A& archive, Beginning& beginning) {
  archive(beginning.exit_code, beginning.problems, beginning.run_id, beginning.run_dir, beginning.waits);
}

// A failure is ignored: the caller may be gone.
void ReportBeginning(UniqueFd& line, const Beginning& beginning) {
  std::string bytes = Archived(const_cast<Beginning&>(beginning));
  while (!bytes.empty()) {
    const ssize_t sent = ::send(line.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) break;
    bytes.erase(0, static_cast<std::size_t>(sent));
  }
  line.reset();
}

class LineToCaller final : public BackgroundLine {
 public:
  explicit LineToCaller(UniqueFd line) : line_(std::move(line)) {}

  void Begun(const std::string& id, const std::string& folder, const std::string& waits) override {
    if (!line_) return;
    OutliveCaller();
    ReportBeginning(line_, {kExitOk, {}, id, folder, waits});
  }
  void Failed(int exit_code, Diagnostics why) override {
    if (line_) ReportBeginning(line_, {exit_code, std::move(why), {}, {}, {}});
  }

 private:
  UniqueFd line_;
};

int HeadInBackground(RunRequest request, Transport& transport, BackgroundLine& line) {
  request.keep_words = true;
  request.console.output = false;
  request.console.progress = false;
  request.on_begun = [&line](const std::string& run_id, const std::string& run_dir) {
    line.Begun(run_id, run_dir, {});
  };
  request.on_wait = [&line](const std::string& run_id, const std::string& run_dir, const std::string& waits) {
    line.Begun(run_id, run_dir, waits);
  };
  const Result<RunOutcome> outcome = RunPlan(request, transport);
  if (!outcome) {
    line.Failed(ExitCodeFor(outcome.error()), outcome.error());
    return ExitCodeFor(outcome.error());
  }
  // The first message to the caller: not all processes have started.
  if (outcome->exit_code == kExitOk) {
    line.Begun(outcome->run_id, outcome->run_dir, {});
    return outcome->exit_code;
  }
  line.Failed(outcome->exit_code,
              {MachineError("run", "the run did not begin: " + outcome->why, "its files are in " + outcome->run_dir)});
  return outcome->exit_code;
}

int AwaitBeginning(const UniqueFd& line, const std::string& what) {
  std::string bytes;
  char block[4096];
  for (;;) {
    const ssize_t got = ::read(line.get(), block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    bytes.append(block, static_cast<std::size_t>(got));
  }
  const std::optional<Beginning> beginning = Unarchived<Beginning>(bytes);
  if (!beginning) {
    PrintDiagnostics({MachineError("spawn", "the head in the background exited before the " + what + " began")});
    return kExitMachine;
  }
  PrintDiagnostics(beginning->problems);
  if (!beginning->waits.empty())
    std::fprintf(stderr, "muster: waiting for devices: %s\n", PrintableLines(beginning->waits).c_str());
  if (beginning->problems.empty())
    std::printf("%s %s\n", PrintableLines(beginning->run_id).c_str(), PrintableLines(beginning->run_dir).c_str());
  return beginning->exit_code;
}

}  // namespace

int InBackground(const std::string& what, const std::function<int(BackgroundLine& line)>& head) {
  tl::expected<Detached, int> detached = DetachFromCaller();
  if (!detached) {
    const Diagnostics problem = {
        SystemError("spawn", "the " + what + " cannot go into the background", detached.error())};
    return Refuse(problem);
  }
  if (!detached->in_background) return AwaitBeginning(detached->line, what);
  LineToCaller line(std::move(detached->line));
  return head(line);
}

int RunInBackground(RunRequest request, Transport& transport) {
  return InBackground("run",
                      [&](BackgroundLine& line) { return HeadInBackground(std::move(request), transport, line); });
}

}  // namespace muster
