#include "settings/check/written_paths.h"

#include <algorithm>
#include <map>
#include <utility>

#include "muster/plan.h"
#include "settings/schema/word_list.h"

namespace muster {
namespace {

bool IsOn(const Setting* setting) {
  if (setting == nullptr) return false;
  if (const bool* on = setting->value.AsBool()) return *on;
  return setting->value.IsNumber() && setting->value.Number() > 0;
}

// Without empty and "." components. ".." stays: it can only be resolved on the host.
std::string Joined(std::initializer_list<std::string_view> parts) {
  std::string path;
  for (std::string_view part : parts) {
    if (path.empty() && part.starts_with('/')) path = "/";
    while (!part.empty()) {
      const std::string_view name = part.substr(0, part.find('/'));
      part.remove_prefix(std::min(name.size() + 1, part.size()));
      if (name.empty() || name == ".") continue;
      if (!path.empty() && path != "/") path += '/';
      path += name;
    }
  }
  return path.empty() ? "." : path;
}

bool IsAbsolute(std::string_view path) {
  return path.starts_with('/') || path.starts_with(std::string(kPlaceholderOpen) + "run_dir}");
}

// The reason why the process writes there: the path setting, else the setting that enabled writing.
const Setting* Cause(const Attribute& attribute, const Context& context) {
  const Setting* path = context.Find(attribute.api, attribute.name);
  return path != nullptr ? path : context.Find(attribute.api, attribute.written_if);
}

std::string PathOf(const Attribute& attribute, const WritingProcess& process) {
  const Setting* setting = process.context->Find(attribute.api, attribute.name);
  if (attribute.written_if.empty() ? setting == nullptr
                                   : !IsOn(process.context->Find(attribute.api, attribute.written_if)))
    return "";
  const Value& value = setting != nullptr ? setting->value : attribute.default_value;
  const std::string* text = value.AsString();
  if (text == nullptr || (text->empty() && attribute.written_if.empty())) return "";
  std::string below;
  if (!attribute.rank_from.empty()) {
    const std::string rank = process.variable(attribute.rank_from);
    below = "rank_" + (rank.empty() ? "0" : rank);
  }
  return Joined({IsAbsolute(*text) ? std::string_view() : process.cwd, *text, below});
}

struct Shared {
  std::vector<std::size_t> processes;
  std::string path;
};

Diagnostic SharedPath(const Attribute& attribute, const Setting& cause, const std::vector<const Shared*>& shared,
                      std::span<const WritingProcess> processes) {
  const Shared& first = *shared.front();
  constexpr std::size_t kNamed = 4;
  std::vector<std::string> names;
  for (const std::size_t process : first.processes) {
    if (names.size() < kNamed) names.push_back(processes[process].name);
  }
  if (first.processes.size() > kNamed) names.push_back(std::to_string(first.processes.size() - kNamed) + " more");
  std::string message = attribute.name + ": " + WordList(names) + " of one host would write to the same " +
                        attribute.writes + ", " + first.path;
  if (shared.size() > 1) {
    message += ", and so for " + std::to_string(shared.size() - 1) + " other " + attribute.writes +
               (shared.size() == 2 ? "" : "s");
  }
  Diagnostic warning =
      Warning("shared_path", cause.source.place, std::move(message), "set " + attribute.name + " inside each");
  if (attribute.rank_from.empty()) return warning;
  for (const std::size_t process : first.processes) {
    if (!processes[process].variable(attribute.rank_from).empty()) continue;
    warning.notes.push_back({"MindSpore adds rank_N below the path, and " + attribute.rank_from + " is not set for " +
                                 processes[process].name + ": N is 0",
                             {}});
    break;
  }
  return warning;
}

// Disabled for the job, unless processes may enable it for themselves.
bool IsOffForAll(const Attribute& attribute, const Context& job) {
  const std::string& name = attribute.written_if.empty() ? attribute.name : attribute.written_if;
  const Attribute* gate = job.schema().Find(attribute.api, name, job.release());
  if (gate == nullptr || gate->per_process) return false;
  const Setting* setting = job.Find(attribute.api, name);
  return attribute.written_if.empty() ? setting == nullptr : !IsOn(setting);
}

}  // namespace

std::vector<WrittenPaths> PredictWrittenPaths(const Context& job, std::span<const WritingProcess> processes) {
  std::vector<WrittenPaths> written;
  for (const std::string& api : job.schema().Functions()) {
    for (const auto& [name, unused] : job.schema().attributes(api)) {
      const Attribute* attribute = job.schema().Find(api, name, job.release());
      if (attribute == nullptr || attribute->writes.empty() || IsOffForAll(*attribute, job)) continue;
      WrittenPaths paths{attribute, {}};
      for (std::size_t i = 0; i < processes.size(); ++i) {
        if (std::string path = PathOf(*attribute, processes[i]); !path.empty())
          paths.paths.push_back({i, std::move(path)});
      }
      if (!paths.paths.empty()) written.push_back(std::move(paths));
    }
  }
  return written;
}

Diagnostics CheckWrittenPaths(const std::vector<WrittenPaths>& written, std::span<const WritingProcess> processes) {
  Diagnostics warnings;
  for (const auto& [attribute, paths] : written) {
    std::map<std::pair<std::uint32_t, std::string_view>, Shared> by_path;
    for (const WrittenPath& path : paths) {
      Shared& shared = by_path[{processes[path.process].host, path.path}];
      shared.processes.push_back(path.process);
      shared.path = path.path;
    }
    std::map<std::pair<std::string, std::uint32_t>, std::vector<const Shared*>> by_line;
    for (const auto& [where, shared] : by_path) {
      if (shared.processes.size() < 2) continue;
      const Place& place = Cause(*attribute, *processes[shared.processes.front()].context)->source.place;
      by_line[{place.file, place.line}].push_back(&shared);
    }
    for (const auto& [place, shared] : by_line) {
      const Setting* cause = Cause(*attribute, *processes[shared.front()->processes.front()].context);
      warnings.push_back(SharedPath(*attribute, *cause, shared, processes));
    }
  }
  return warnings;
}

}  // namespace muster
