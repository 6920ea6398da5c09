#include "agent/devices/device_use.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/system/kernel_file.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"

namespace muster {
namespace {

// Lines and words of what a vendor's tool prints. Bounded, since the text is not trusted.

// The parts between separators without blanks around them; of a blank as the separator without empty parts.
std::vector<std::string_view> ToolWords(std::string_view line, char separator) {
  std::vector<std::string_view> words;
  const auto add = [&](std::string_view word) {
    const std::string_view trimmed = Trimmed(word);
    if (!trimmed.empty() || separator != ' ') words.push_back(trimmed);
  };
  for (std::size_t end = line.find(separator); end != std::string_view::npos; end = line.find(separator)) {
    add(line.substr(0, end));
    line.remove_prefix(end + 1);
  }
  add(line);
  return words;
}

constexpr std::size_t kMaxDevices = 4'096;
constexpr std::uint64_t kMaxMib = 1U << 30;  // a larger number is no size of a memory

std::optional<std::uint64_t> KibOf(std::string_view mib) {
  const auto number = ParseNumber<std::uint64_t>(mib);
  return number && *number <= kMaxMib ? std::optional(*number * 1024) : std::nullopt;
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
  for (const std::string_view line : TextLines(output)) {
    if (memory.size() >= kMaxDevices) break;
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

namespace {

constexpr std::size_t kMaxProcesses = 16'384;
constexpr std::size_t kMaxName = 64;

std::optional<std::int32_t> PidOf(std::string_view text) {
  const auto pid = ParseNumber<std::int32_t>(text);
  return pid && *pid > 0 ? pid : std::nullopt;
}

DeviceProcess ProcessOf(std::int32_t pid, std::string_view path) {
  return {pid, std::string(path.substr(path.rfind('/') + 1).substr(0, kMaxName))};
}

// "0, GPU-5f7d…" of all devices, and "GPU-5f7d…, 4711, /usr/bin/python3" of each process on one of them.
DeviceProcesses OfNvidia(std::string_view devices, std::string_view processes) {
  std::map<std::string, std::string, std::less<>> number_of;
  for (const std::string_view line : TextLines(devices)) {
    const auto words = ToolWords(line, ',');
    if (words.size() == 2 && ParseNumber<std::uint32_t>(words[0])) number_of.emplace(words[1], words[0]);
  }
  DeviceProcesses found;
  for (const std::string_view line : TextLines(processes)) {
    const auto words = ToolWords(line, ',');
    const auto pid = words.size() >= 2 ? PidOf(words[1]) : std::nullopt;
    if (!pid || found.size() >= kMaxProcesses) continue;
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
  for (const std::string_view line : TextLines(output)) {
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
      if (number != number_of.end() && found[number->second].size() < kMaxProcesses)
        found[number->second].push_back(ProcessOf(*pid, cells[3]));
    }
  }
  return found;
}

// "PID 4711 is using 2 DRM device(s):" and the numbers of these in the next line.
DeviceProcesses OfAmd(std::string_view output) {
  DeviceProcesses found;
  std::optional<std::int32_t> pid;
  for (const std::string_view line : TextLines(output)) {
    const auto words = ToolWords(line, ' ');
    if (words.size() > 3 && words[0] == "PID" && words[2] == "is" && words[3] == "using") {
      pid = PidOf(words[1]);
      continue;
    }
    for (std::size_t i = 0; pid && i < words.size(); ++i) {
      if (!ParseNumber<std::uint32_t>(words[i])) break;
      if (found.size() < kMaxProcesses) found[std::string(words[i])].push_back({*pid, {}});
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

namespace {

namespace fs = std::filesystem;

// Names as in /proc/PID/comm, which has at most 15 bytes: NVIDIA's persistence daemon and DCGM, Huawei's drivers, X.
constexpr std::array<std::string_view, 11> kNotComputing = {
    "nvidia-persiste", "nv-hostengine", "dcgm-exporter", "nvidia-smi",  "npu-smi", "npu-exporter",
    "slogd",           "dmp_daemon",    "Xorg",          "gnome-shell", "Xwayland"};

std::string_view NodePrefix(std::string_view kind) {
  if (kind == "cuda") return "nvidia";
  if (kind == "ascend") return "davinci";
  return {};
}

}  // namespace

std::optional<std::string> DeviceUserText(std::int32_t pid, std::int32_t self, const std::string& name) {
  if (pid == self) return std::nullopt;
  const fs::path process = fmt::format("/proc/{}", pid);
  std::string known = KernelLine(process / "comm");
  if (known.empty()) known = name;
  constexpr std::size_t kKept = 15;  // bytes of a name in /proc
  if (std::find(kNotComputing.begin(), kNotComputing.end(), known.substr(0, kKept)) != kNotComputing.end())
    return std::nullopt;
  struct stat status {};
  const bool there = ::stat(process.c_str(), &status) == 0;
  return fmt::format("pid {} ({}) of uid {}", pid, Printable(known), there ? std::to_string(status.st_uid) : "unknown");
}

std::map<std::uint32_t, std::string> DeviceUsers(std::string_view kind, std::int32_t self, const std::string& root) {
  std::map<std::uint32_t, std::string> users;
  const std::string_view prefix = NodePrefix(kind);
  if (prefix.empty()) return users;
  const std::string node = fmt::format("{}dev/{}", root, prefix);
  std::error_code error;
  for (fs::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
    const auto pid = ParseNumber<std::int32_t>(it->path().filename().string());
    if (!pid || *pid == self) continue;
    std::optional<std::optional<std::string>> text;
    std::error_code unreadable;  // of another user, or gone
    for (fs::directory_iterator fd(it->path() / "fd", unreadable), last; !unreadable && fd != last;
         fd.increment(unreadable)) {
      std::error_code ignored;
      const std::string target = fs::read_symlink(fd->path(), ignored).string();
      if (ignored || !target.starts_with(node)) continue;
      const auto number = ParseNumber<std::uint32_t>(std::string_view(target).substr(node.size()));
      if (!number || users.contains(*number)) continue;
      if (!text) text = DeviceUserText(*pid, self);
      if (!*text) break;
      users.emplace(*number, **text);
    }
  }
  return users;
}

}  // namespace muster
