#include "agent/devices/device_users.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/values/parse_number.h"
#include "base/values/shell_quote.h"

namespace muster {
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

std::string NameOf(const fs::path& process) {
  std::ifstream file(process / "comm");
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace

std::optional<std::string> DeviceUserText(std::int32_t pid, std::int32_t self, const std::string& name) {
  if (pid == self) return std::nullopt;
  const fs::path process = fmt::format("/proc/{}", pid);
  std::string known = NameOf(process);
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
