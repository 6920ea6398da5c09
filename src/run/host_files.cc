#include "run/host_files.h"

#include <algorithm>
#include <array>

#include "run/start_specs.h"

namespace muster {

HostFiles::HostFiles(const Plan& plan) {
  for (const Process& process : plan.processes) host_of_.emplace(ProcessName(plan, process), process.host);
}

bool HostFiles::AreOf(std::uint32_t host, std::string_view path) const {
  constexpr std::array<std::string_view, 5> kFolders = {"logs/", "errors/", "context/", "dumps/", "metrics/"};
  if (std::none_of(kFolders.begin(), kFolders.end(),
                   [path](std::string_view folder) { return path.starts_with(folder); })) {
    return false;
  }
  // Names begin with that of their process; a role's own name may hold dots.
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    const auto found = host_of_.find(name.substr(0, dot));
    if (found != host_of_.end() && found->second == host) return true;
  }
  return false;
}

}  // namespace muster
