#include "agent/usage/device_memory.h"

#include <algorithm>
#include <cstddef>

#include "base/values/parse_number.h"

namespace muster {
namespace {

constexpr std::size_t kMostDevices = 4'096;
constexpr std::uint64_t kMostMib = 1U << 30;  // a larger number is no size of a memory

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    parts.push_back(Trimmed(text.substr(0, end)));
    text.remove_prefix(end + 1);
  }
  parts.push_back(Trimmed(text));
  return parts;
}

std::optional<std::uint64_t> KibOf(std::string_view mib) {
  const auto number = ParseNumber<std::uint64_t>(mib);
  return number && *number <= kMostMib ? std::optional(*number * 1024) : std::nullopt;
}

// "0, GPU-5f7d…, 1234": with `nounits` in MiB; "[N/A]" if the device reports nothing.
void TakeNvidia(std::string_view line, DeviceMemory& memory) {
  const std::vector<std::string_view> words = Split(line, ',');
  const auto kib = words.size() == 3 ? KibOf(words[2]) : std::nullopt;
  if (!kib || !ParseNumber<std::uint32_t>(words[0])) return;
  memory.emplace(words[0], *kib);
  memory.emplace(words[1], *kib);
}

// A device has two rows, and the second one its memory, of several the last:
//   | 0     910B3         | OK            | 95.3        38                0    / 0             |
//   | 0                   | 0000:C1:00.0  | 0           0    / 0          3162 / 65536         |
// Processes number devices in this order, whatever the numbers of cards and chips are.
void TakeAscend(std::string_view line, DeviceMemory& memory) {
  const std::vector<std::string_view> cells = Split(line, '|');
  if (cells.size() != 5 || cells[2].find(':') == std::string_view::npos) return;
  const std::size_t slash = cells[3].rfind('/');
  if (slash == std::string_view::npos) return;
  std::string_view used = Trimmed(cells[3].substr(0, slash));
  used.remove_prefix(used.find_last_of(" /") + 1);  // npos + 1 is 0
  if (const auto kib = KibOf(used)) memory.emplace(std::to_string(memory.size()), *kib);
}

}  // namespace

std::vector<std::string> DeviceMemoryCommand(std::string_view kind) {
  if (kind == "cuda") return {"nvidia-smi", "--query-gpu=index,uuid,memory.used", "--format=csv,noheader,nounits"};
  if (kind == "ascend") return {"npu-smi", "info"};
  return {};
}

DeviceMemory ParseDeviceMemory(std::string_view kind, std::string_view output) {
  DeviceMemory memory;
  while (!output.empty() && memory.size() < kMostDevices) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    const std::string_view line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    if (kind == "cuda") TakeNvidia(line, memory);
    if (kind == "ascend") TakeAscend(line, memory);
  }
  return memory;
}

std::optional<std::uint64_t> MemoryOf(const std::vector<std::string>& devices, const DeviceMemory& memory) {
  std::uint64_t sum = 0;
  for (const std::string& device : devices) {
    const auto found = memory.find(device);
    if (found == memory.end()) return std::nullopt;
    sum += found->second;
  }
  return devices.empty() ? std::nullopt : std::optional(sum);
}

}  // namespace muster
