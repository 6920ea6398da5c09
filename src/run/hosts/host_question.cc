#include "run/hosts/host_question.h"

#include <algorithm>
#include <filesystem>

#include "plan/environment/inherited_environment.h"
#include "run/directory/environment_record.h"
#include "run/directory/run_directory.h"
#include "run/start/activation.h"

namespace muster {
namespace {

// The distribution names of the frameworks in package managers.
const std::vector<std::string> kPackages = {"torch",         "torch-npu",        "mindspore",
                                            "mindspore-gpu", "mindspore-ascend", "numpy"};

bool IsPython(const std::string& program) {
  return std::filesystem::path(program).filename().string().starts_with("python");
}

}  // namespace

std::string ValueOf(const std::vector<std::string>& environment, const std::string& name) {
  const auto found = std::find_if(environment.begin(), environment.end(),
                                  [&](const std::string& entry) { return entry.starts_with(name + '='); });
  return found == environment.end() ? std::string() : found->substr(name.size() + 1);
}

Inspect QuestionFor(const Plan& plan, std::span<const HostNeeds> needs, const HostQuestion& wanted) {
  Inspect question;
  const std::string home = ValueOf(wanted.environment, "MUSTER_HOME");
  const std::string run_dir = wanted.run_dir.empty() ? RunsFolder(wanted.cwd, home) : wanted.run_dir;
  question.places = {{"run directory", run_dir}, {"/tmp", "/tmp"}, {"/dev/shm", "/dev/shm"}};
  if (wanted.trials) {  // doctor: nobody has said yet whether code will be shipped
    const std::string cache = ValueOf(wanted.environment, "XDG_CACHE_HOME");
    const std::string user = ValueOf(wanted.environment, "HOME");
    const std::string folder = cache.starts_with('/')  ? cache
                               : user.starts_with('/') ? user + "/.cache"
                                                       : std::string();
    if (!folder.empty()) question.places.push_back({"folder of shipped code", folder + "/muster/code"});
  }
  question.environment = BeginningEnvironment(plan, InheritedAtSite(plan.site_environment, wanted.environment));
  const std::string search_path = ValueOf(question.environment, "PATH");
  const auto add = [&](const std::string& program) {
    const bool known = std::any_of(question.programs.begin(), question.programs.end(),
                                   [&](const ProgramQuery& sought) { return sought.name == program; });
    if (known) return;
    question.programs.push_back({program, search_path});
    if (IsPython(program)) question.pythons.push_back(program);
  };
  for (const HostNeeds& host : needs) std::for_each(host.programs.begin(), host.programs.end(), add);
  if (question.pythons.empty() && wanted.any_python) add("python3");
  question.packages = kPackages;
  for (const std::string_view pattern : RecordedVariablePatterns()) question.variables.emplace_back(pattern);
  question.search_dirs = wanted.search_dirs;
  question.cwd = wanted.cwd;
  question.trials = wanted.trials;
  question.within_ms = wanted.within_ms;
  return question;
}

}  // namespace muster
