#include "pods/kubectl.h"

#include <algorithm>
#include <array>

#include "base/values/shell_quote.h"

namespace muster {
namespace {

constexpr std::size_t kLongestLine = 300;
// What `exec` adds to its stderr if the program in the container failed.
constexpr std::string_view kRemoteEnd = "command terminated with exit code";
constexpr std::string_view kAgentName = "muster-agent: ";

struct Known {
  std::string_view words;
  std::string_view hint;
};

// The first that occurs in a message.
constexpr std::array kKnown = {
    Known{"no matches for kind \"JobSet\"", "the cluster has no JobSets: --as job, or install JobSet"},
    Known{"the server doesn't have a resource type \"jobset",
          "the cluster has no JobSets: --as job, or install JobSet"},
    Known{"executable file not found", "the image needs muster-agent on its PATH; --agent names another path"},
    Known{"no such file or directory", "the image needs muster-agent on its PATH; --agent names another path"},
    Known{"exceeded quota", "ask for less, or for another namespace: --kubernetes namespace=NAME"},
    Known{"(Forbidden)", "kubectl auth can-i create jobs, pods and pods/exec, get pods, delete jobs: all are needed"},
    Known{"(Unauthorized)", "log in to the cluster again; kubectl auth whoami"},
    Known{"You must be logged in", "log in to the cluster again; kubectl auth whoami"},
    Known{"was refused - did you specify the right host or port",
          "kubectl config current-context: is it the right one?"},
    Known{"context was not found", "kubectl config get-contexts lists the contexts"},
    Known{"does not exist", "kubectl config get-contexts lists the contexts"},
};

std::vector<std::string> Begin(const PodSettings& settings, std::initializer_list<std::string> words) {
  std::vector<std::string> argv = {settings.program};
  argv.insert(argv.end(), settings.options.begin(), settings.options.end());
  argv.insert(argv.end(), words);
  return argv;
}

std::string Selector(const PodSettings& settings, const std::string& run) {
  return "--selector=" + settings.label + "=" + run;
}

// The last line that is not about the exit code of the program in the container.
std::string_view LastLine(std::string_view words) {
  std::string_view last;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find('\n'), words.size());
    std::string_view line = words.substr(0, end);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (!line.empty() && line.find(kRemoteEnd) == std::string_view::npos) last = line;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return last;
}

}  // namespace

std::vector<std::string> ApplyWords(const PodSettings& settings) { return Begin(settings, {"apply", "--filename=-"}); }

std::vector<std::string> WatchWords(const PodSettings& settings, const std::string& run) {
  return Begin(settings, {"get", "pods", Selector(settings, run), "--watch", "--output-watch-events", "--output=json"});
}

std::vector<std::string> AgentWords(const PodSettings& settings, const std::string& pod) {
  std::vector<std::string> argv = Begin(settings, {"exec", "--stdin", "--container=" + settings.container, pod, "--",
                                                   settings.agent, "--stdio", "--held"});
  argv.insert(argv.end(), settings.agent_words.begin(), settings.agent_words.end());
  return argv;
}

std::vector<std::string> DeleteWords(const PodSettings& settings, const std::vector<std::string>& kinds,
                                     const std::string& run) {
  std::string all;
  for (const std::string& kind : kinds) all += (all.empty() ? "" : ",") + kind;
  return Begin(settings, {"delete", all, Selector(settings, run), "--ignore-not-found", "--wait=false"});
}

bool IsKubectlFailure(const EndedProcess& end, std::string_view words) {
  if (end.signalled) return true;
  if (end.code == 0 || words.find(kRemoteEnd) != std::string_view::npos) return false;
  return !LastLine(words).starts_with(kAgentName);
}

CommandFailure KubectlFailure(const EndedProcess& end, std::string_view words) {
  const std::string_view line = LastLine(words);
  CommandFailure failure;
  if (line.starts_with(kAgentName)) {
    failure.phrase = Printable(line.substr(0, kLongestLine));
    return failure;
  }
  failure.phrase = "kubectl " + EndText(end);
  if (!line.empty()) failure.phrase = "kubectl: " + Printable(line.substr(0, kLongestLine));
  for (const Known& known : kKnown) {
    if (words.find(known.words) == std::string_view::npos) continue;
    failure.hint = known.hint;
    break;
  }
  return failure;
}

}  // namespace muster
