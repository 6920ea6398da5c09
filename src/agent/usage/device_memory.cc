#include "agent/usage/device_memory.h"

#include <cstddef>

#include "agent/usage/tool_lines.h"
#include "base/values/parse_number.h"

namespace muster {
namespace {

constexpr std::size_t kMostDevices = 4'096;
constexpr std::uint64_t kMostMib = 1U << 30;  // a larger number is no size of a memory

std::optional<std::uint64_t> KibOf(std::string_view mib) {
  const auto number = ParseNumber<std::uint64_t>(mib);
  return number && *number <= kMostMib ? std::optional(*number * 1024) : std::nullopt;
}

// "0, GPU-5f7d…, 1234": with `nounits` in MiB; "[N/A]" if the device reports nothing.
void TakeNvidia(std::string_view line, DeviceMemory& memory) {
  const std::vector<std::string_view> words = ToolWords(line, ',');
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
  const std::vector<std::string_view> cells = ToolWords(line, '|');
  if (cells.size() != 5 || cells[2].find(':') == std::string_view::npos) return;
  const std::size_t slash = cells[3].rfind('/');
  if (slash == std::string_view::npos) return;
  std::string_view used = ToolWords(cells[3].substr(0, slash), '/').back();
  used.remove_prefix(used.find_last_of(' ') + 1);  // npos + 1 is 0
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
  for (const std::string_view line : ToolLines(output)) {
    if (memory.size() >= kMostDevices) break;
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
