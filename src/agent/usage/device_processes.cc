#include "agent/usage/device_processes.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "agent/usage/tool_lines.h"
#include "base/values/parse_number.h"

namespace muster {
namespace {

constexpr std::size_t kMostProcesses = 16'384;
constexpr std::size_t kLongestName = 64;

std::optional<std::int32_t> PidOf(std::string_view text) {
  const auto pid = ParseNumber<std::int32_t>(text);
  return pid && *pid > 0 ? pid : std::nullopt;
}

DeviceProcess ProcessOf(std::int32_t pid, std::string_view path) {
  return {pid, std::string(path.substr(path.rfind('/') + 1).substr(0, kLongestName))};
}

// "0, GPU-5f7d…" of all devices, and "GPU-5f7d…, 4711, /usr/bin/python3" of each process on one of them.
DeviceProcesses OfNvidia(std::string_view devices, std::string_view processes) {
  std::map<std::string, std::string, std::less<>> number_of;
  for (const std::string_view line : ToolLines(devices)) {
    const auto words = ToolWords(line, ',');
    if (words.size() == 2 && ParseNumber<std::uint32_t>(words[0])) number_of.emplace(words[1], words[0]);
  }
  DeviceProcesses found;
  for (const std::string_view line : ToolLines(processes)) {
    const auto words = ToolWords(line, ',');
    const auto pid = words.size() >= 2 ? PidOf(words[1]) : std::nullopt;
    if (!pid || found.size() >= kMostProcesses) continue;
    DeviceProcess process = ProcessOf(*pid, words.size() > 2 ? words[2] : std::string_view());
    const auto number = number_of.find(words[0]);
    if (number != number_of.end()) found[number->second].push_back(process);
    found[std::string(words[0])].push_back(std::move(process));
  }
  return found;
}

// First two rows for each chip, "| 0     910B3 | OK | …" of its card and "| 1     15 | 0000:C1:00.0 | …" of itself,
// then rows of processes: "| 0       1                 | 4711          | python3 | 1234 |". Processes number the chips
// in the order of the first rows.
DeviceProcesses OfAscend(std::string_view output) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> number_of;  // by card and chip
  std::optional<std::uint32_t> card;
  DeviceProcesses found;
  for (const std::string_view line : ToolLines(output)) {
    const auto cells = ToolWords(line, '|');
    if (cells.size() < 5) continue;
    const auto words = ToolWords(cells[1], ' ');
    const auto first = words.empty() ? std::nullopt : ParseNumber<std::uint32_t>(words[0]);
    if (!first) continue;
    const auto pid = PidOf(cells[2]);
    if (cells[2].find(':') != std::string_view::npos) {
      if (card) number_of.emplace(std::pair(*card, *first), std::to_string(number_of.size()));
    } else if (!pid) {
      card = first;
    } else if (const auto chip = words.size() > 1 ? ParseNumber<std::uint32_t>(words[1]) : std::nullopt) {
      const auto number = number_of.find({*first, *chip});
      if (number != number_of.end() && found[number->second].size() < kMostProcesses)
        found[number->second].push_back(ProcessOf(*pid, cells[3]));
    }
  }
  return found;
}

// "PID 4711 is using 2 DRM device(s):" and the numbers of these in the next line.
DeviceProcesses OfAmd(std::string_view output) {
  DeviceProcesses found;
  std::optional<std::int32_t> pid;
  for (const std::string_view line : ToolLines(output)) {
    const auto words = ToolWords(line, ' ');
    if (words.size() > 3 && words[0] == "PID" && words[2] == "is" && words[3] == "using") {
      pid = PidOf(words[1]);
      continue;
    }
    for (std::size_t i = 0; pid && i < words.size(); ++i) {
      if (!ParseNumber<std::uint32_t>(words[i])) break;
      if (found.size() < kMostProcesses) found[std::string(words[i])].push_back({*pid, {}});
    }
    pid.reset();
  }
  return found;
}

}  // namespace

std::vector<std::vector<std::string>> DeviceProcessCommands(std::string_view kind) {
  if (kind == "cuda") {
    return {{"nvidia-smi", "--query-gpu=index,uuid", "--format=csv,noheader"},
            {"nvidia-smi", "--query-compute-apps=gpu_uuid,pid,process_name", "--format=csv,noheader"}};
  }
  if (kind == "ascend") return {{"npu-smi", "info"}};
  if (kind == "hip") return {{"rocm-smi", "--showpidgpus"}};
  return {};
}

DeviceProcesses ParseDeviceProcesses(std::string_view kind, std::span<const std::string> outputs) {
  if (outputs.size() != DeviceProcessCommands(kind).size()) return {};
  if (kind == "cuda") return OfNvidia(outputs[0], outputs[1]);
  if (kind == "ascend") return OfAscend(outputs[0]);
  if (kind == "hip") return OfAmd(outputs[0]);
  return {};
}

}  // namespace muster
