// Runs that muster submits to the testbed's Slurm from the login machine, and commands about them from there.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "slurm/slurm_run.h"

namespace muster::testing {

// muster run … --on slurm on the login machine, which follows the run.
class SubmittedRun : public SlurmRun {
 public:
  // `by` are words in front of muster's, such as those of env.
  SubmittedRun(const SlurmTestbed& testbed, const RecipeFile& recipe, const Words& options, const Words& by = {})
      : SlurmRun(testbed, by, recipe, OnSlurm(options)), testbed_(testbed) {}
  SubmittedRun(const SlurmTestbed& testbed, const std::string& recipe, const Words& options, const Words& by = {})
      : SubmittedRun(testbed, RecipeIn(testbed, recipe), options, by) {}

  // Of an attempt after the first, which has number 1.
  std::string DirectoryOf(int attempt) const {
    return attempt == 1 ? run_dir() : run_dir() + "." + std::to_string(attempt);
  }
  // Waits until attempt `attempt` has that many records.
  bool AwaitOf(int attempt, const std::string& event, std::size_t count) const {
    return HostsRun::AwaitIn(DirectoryOf(attempt), event, count);
  }
  std::string JobId() const {
    std::string id = ContentOf(run_dir() + "/job_id");
    if (!id.empty()) id.pop_back();
    return id;
  }
  // Any muster command on the login machine.
  CommandResult Muster(Words words) const { return MusterOn(testbed_, std::move(words)); }
  static CommandResult MusterOn(const SlurmTestbed& testbed, Words words, const Words& env = {}) {
    words.insert(words.begin(), MusterProgram());
    Command command{.argv = testbed.Login(std::move(words)),
                    .env = {"PATH=/usr/bin:/bin", "HOME=/root", "XDG_STATE_HOME=" + testbed.folder(),
                            "MUSTER_HOME=" + testbed.folder() + "/home"}};
    command.env.insert(command.env.end(), env.begin(), env.end());
    return RunCommand(command);
  }
  json ReportNow(int attempt = 1) const {
    return json::parse(Muster({"report", "--json", DirectoryOf(attempt)}).out, nullptr, false);
  }

 private:
  static Words OnSlurm(Words options) {
    options.insert(options.begin(), {"--on", "slurm"});
    return options;
  }

  const SlurmTestbed& testbed_;
};

// Of a report: the hosts of a role's processes.
inline std::set<std::string> HostsOf(const json& report, const std::string& role) {
  std::set<std::string> hosts;
  for (const json& process : report["processes"]) {
    if (process["role"] == role) hosts.insert(process["host"].get<std::string>());
  }
  return hosts;
}

}  // namespace muster::testing
