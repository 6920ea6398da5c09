// The paths that processes will write because of their contexts, derived during the evaluation, and a warning if two
// processes of a host share one. The rules are in settings (written_paths.h); this file converts the plan's processes
// to their arguments.
#include <string>
#include <vector>

#include "lua/bind/bind.h"
#include "lua/host/host.h"
#include "settings/check/written_paths.h"

namespace muster {
namespace {

// The paths in order without duplicates; if there are many, the first and the last.
Value Shown(const WrittenPaths& written) {
  constexpr std::size_t kMost = 8;
  constexpr std::size_t kFirst = 3;
  Value::List paths;
  std::set<std::string_view> seen;
  for (const WrittenPath& written_path : written.paths) {
    if (seen.insert(written_path.path).second) paths.emplace_back(written_path.path);
  }
  if (paths.size() <= kMost) return Value(std::move(paths));
  return Value(Value::List{paths[0], paths[1], paths[kFirst - 1], "…", paths.back()});
}

}  // namespace

void ReportWrittenPaths(Host& host) {
  if (!host.context) return;
  std::vector<WritingProcess> processes;
  for (const Process& process : host.plan.processes) {
    const Role& role = host.plan.roles[process.role];
    // A scheduler compiles nothing, and the behaviour of other roles is unknown.
    if (role.plays != "worker" && role.plays != "server") continue;
    WritingProcess& writing = processes.emplace_back();
    writing.name = ProcessName(host.plan, process);
    const auto overlay = host.overlay_of.find(writing.name);
    writing.context = overlay == host.overlay_of.end() ? &*host.context : overlay->second;
    writing.host = process.host;
    writing.cwd = process.cwd ? process.cwd->marked : role.cwd.marked;
    writing.variable = [&process, &role](const std::string& name) {
      const auto own = process.env.find(name);
      if (own != process.env.end()) return own->second.marked;
      const auto shared = role.env.find(name);
      return shared == role.env.end() ? std::string() : shared->second.marked;
    };
  }
  const std::vector<WrittenPaths> written = PredictWrittenPaths(*host.context, processes);
  host.Report(CheckWrittenPaths(written, processes));
  for (const WrittenPaths& paths : written) host.plan.derived.emplace(paths.attribute->name, Shown(paths));
}

}  // namespace muster
