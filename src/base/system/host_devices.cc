#include "base/system/host_devices.h"

#include <algorithm>
#include <fstream>
#include <memory>

#include <dirent.h>

#include "base/values/parse_number.h"

namespace muster {
namespace {

// Counts the entries of the folder whose name is `prefix` and a number.
std::uint32_t CountNumbered(const std::string& folder, std::string_view prefix) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), ::closedir);
  std::uint32_t count = 0;
  while (const dirent* entry = directory ? ::readdir(directory.get()) : nullptr) {
    std::string_view name = entry->d_name;
    if (!name.starts_with(prefix) || name.size() == prefix.size()) continue;
    name.remove_prefix(prefix.size());
    if (std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) ++count;
  }
  return count;
}

// The topology lists CPUs as nodes too; nodes with SIMD units are GPUs.
std::uint32_t CountKfd(const std::string& root) {
  const std::string nodes = root + "sys/class/kfd/kfd/topology/nodes";
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(nodes.c_str()), ::closedir);
  std::uint32_t count = 0;
  while (const dirent* entry = directory ? ::readdir(directory.get()) : nullptr) {
    if (entry->d_name[0] == '.') continue;
    std::ifstream properties(nodes + '/' + entry->d_name + "/properties");
    std::string name;
    std::uint64_t value = 0;
    while (properties >> name >> value) {
      if (name == "simd_count" && value > 0) ++count;
    }
  }
  return count;
}

std::uint32_t CountOf(std::string_view kind, const std::string& root) {
  if (kind == "ascend") return CountNumbered(root + "dev", "davinci");
  if (kind == "cuda") return CountNumbered(root + "dev", "nvidia");
  if (kind == "hip") return CountKfd(root);
  return 0;
}

}  // namespace

const DeviceKind* DeviceKindNamed(std::string_view name) {
  const auto* const found =
      std::find_if(kDeviceKinds.begin(), kDeviceKinds.end(), [&](const DeviceKind& kind) { return kind.name == name; });
  return found == kDeviceKinds.end() ? nullptr : found;
}

HostDeviceCount CountDevices(std::string_view kind, const std::string& root) {
  for (const DeviceKind& each : kDeviceKinds) {
    if (!kind.empty() && each.name != kind) continue;
    if (const std::uint32_t count = CountOf(each.name, root); count > 0) return {std::string(each.name), count};
  }
  return {};
}

std::optional<std::uint32_t> ParseDeviceCount(std::string_view text) {
  constexpr std::uint32_t kMost = 4096;
  const auto count = ParseNumber<std::uint32_t>(text);
  return count && *count <= kMost ? count : std::nullopt;
}

}  // namespace muster
