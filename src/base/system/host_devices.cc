#include "base/system/host_devices.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <utility>

#include <dirent.h>
#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"

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
    if (std::all_of(name.begin(), name.end(), IsDigit)) ++count;
  }
  return count;
}

}  // namespace

const DeviceKind* DeviceKindNamed(std::string_view name) {
  const auto* const found =
      std::find_if(kDeviceKinds.begin(), kDeviceKinds.end(), [&](const DeviceKind& kind) { return kind.name == name; });
  return found == kDeviceKinds.end() ? nullptr : found;
}

std::optional<std::uint32_t> ParseDeviceCount(std::string_view text) {
  constexpr std::uint32_t kMax = 4096;
  const auto count = ParseNumber<std::uint32_t>(text);
  return count && *count <= kMax ? count : std::nullopt;
}

namespace {

namespace fs = std::filesystem;

// What the kernel and its drivers report about one device.
struct Known {
  std::string uuid;  // empty: unknown
  std::optional<std::uint32_t> node;
};

std::vector<fs::path> FoldersIn(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// -1, on a machine with a single node, means none.
std::optional<std::uint32_t> NodeOfPci(const std::string& root, const std::string& address) {
  std::ifstream file(root + "sys/bus/pci/devices/" + address + "/numa_node");
  int node = -1;
  return file >> node && node >= 0 ? std::optional(static_cast<std::uint32_t>(node)) : std::nullopt;
}

// In the order of PCI addresses, which is CUDA's order when all devices are of the same model.
std::vector<Known> KnownCuda(const std::string& root) {
  std::vector<Known> known;
  for (const fs::path& folder : FoldersIn(root + "proc/driver/nvidia/gpus")) {
    Known& device = known.emplace_back();
    device.node = NodeOfPci(root, folder.filename());
    std::ifstream information(folder / "information");
    for (std::string line; std::getline(information, line);) {
      if (!line.starts_with("GPU UUID:")) continue;
      const std::size_t word = line.find_first_not_of(" \t", 9);
      if (word != std::string::npos) device.uuid = line.substr(word);
    }
  }
  return known;
}

// The topology lists CPUs as nodes too; nodes with SIMD units are GPUs.
std::vector<Known> KnownHip(const std::string& root) {
  std::map<int, Known> by_number;
  for (const fs::path& folder : FoldersIn(root + "sys/class/kfd/kfd/topology/nodes")) {
    std::map<std::string, std::uint64_t> properties;
    std::ifstream file(folder / "properties");
    std::string name;
    std::uint64_t value = 0;
    while (file >> name >> value) properties[name] = value;
    if (properties["simd_count"] == 0) continue;
    // amdgpu: the upper byte is the bus, then five bits of device and three of function.
    const std::uint64_t place = properties["location_id"];
    const std::string address = fmt::format("{:04x}:{:02x}:{:02x}.{:x}", properties["domain"], (place >> 8) & 0xff,
                                            (place >> 3) & 0x1f, place & 0x7);
    Known device{{}, NodeOfPci(root, address)};
    if (properties["unique_id"] != 0) device.uuid = fmt::format("GPU-{:016x}", properties["unique_id"]);
    by_number[std::atoi(folder.filename().c_str())] = std::move(device);
  }
  std::vector<Known> known;
  for (auto& [number, device] : by_number) known.push_back(std::move(device));
  return known;
}

std::uint32_t CountOf(std::string_view kind, const std::string& root) {
  if (kind == "ascend") return CountNumbered(root + "dev", "davinci");
  if (kind == "cuda") return CountNumbered(root + "dev", "nvidia");
  if (kind == "hip") return static_cast<std::uint32_t>(KnownHip(root).size());
  return 0;
}

// For a UUID a unique prefix is enough. A part of a device (MIG) is leased under its own
// name.
std::string LeaseOfWord(std::string_view word, const std::vector<Known>& known) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i].uuid.starts_with(word)) found.push_back(i);
  }
  if (found.size() == 1) return std::to_string(found.front());
  std::string name(word);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '-'; }, '_');
  return name;
}

// `before` without a value: every number is valid.
std::vector<HostDevice> Chosen(const std::optional<std::vector<HostDevice>>& before, std::string_view list,
                               const std::vector<Known>& known) {
  std::vector<HostDevice> chosen;
  while (!list.empty()) {
    const std::string_view word = Trimmed(list.substr(0, list.find(',')));
    list.remove_prefix(
        std::min(list.size(), list.find(',') == std::string_view::npos ? list.size() : list.find(',') + 1));
    HostDevice device;
    if (const auto number = ParseNumber<std::uint32_t>(word)) {
      if (before && *number >= before->size()) break;
      device.lease = before ? (*before)[*number].lease : std::string(word);
    } else if (word.starts_with("GPU-") || word.starts_with("MIG-")) {
      device.lease = LeaseOfWord(word, known);
    } else {
      break;
    }
    device.name = word;
    chosen.push_back(std::move(device));
  }
  return chosen;
}

}  // namespace

HostDeviceCount CountDevices(std::string_view kind, const std::string& root) {
  for (const DeviceKind& each : kDeviceKinds) {
    if (!kind.empty() && each.name != kind) continue;
    if (const std::uint32_t count = CountOf(each.name, root); count > 0) return {std::string(each.name), count};
  }
  return {};
}

VisibleDevices FindVisibleDevices(std::string_view kind, std::uint32_t wanted, const VariableOf& variable,
                                  const std::string& root) {
  VisibleDevices sight;
  const char* believed_text = variable(kHostDevicesVariable);
  const auto believed = believed_text == nullptr ? std::nullopt : ParseDeviceCount(believed_text);
  const std::uint32_t count = believed ? *believed : CountDevices(kind, root).count;
  const std::vector<Known> known = kind == "cuda"  ? KnownCuda(root)
                                   : kind == "hip" ? KnownHip(root)
                                                   : std::vector<Known>();

  const bool counted = believed.has_value() || count > 0;
  const auto numbered = [](std::uint32_t devices) {
    std::vector<HostDevice> all;
    for (std::uint32_t i = 0; i < devices; ++i) all.push_back({std::to_string(i), std::to_string(i), std::nullopt});
    return all;
  };
  std::optional<std::vector<HostDevice>> seen;
  if (counted) {
    seen = numbered(count);
    sight.limit = fmt::format("this host has {}", count);
  }
  if (const DeviceKind* const of_kind = DeviceKindNamed(kind)) {
    for (const std::string_view name : {of_kind->outer, of_kind->variable}) {
      const char* list = name.empty() ? nullptr : variable(std::string(name).c_str());
      if (list == nullptr) continue;
      seen = Chosen(seen, list, known);
      sight.limit = fmt::format("{}={}", name, Printable(list));
      if (name != of_kind->outer) continue;
      for (std::size_t i = 0; i < seen->size(); ++i) (*seen)[i].name = std::to_string(i);  // renumbered
    }
  }
  sight.devices = seen ? *std::move(seen) : numbered(wanted);
  for (HostDevice& device : sight.devices) {
    if (const auto number = ParseNumber<std::uint32_t>(device.lease); number && *number < known.size())
      device.node = known[*number].node;
  }
  return sight;
}

}  // namespace muster
