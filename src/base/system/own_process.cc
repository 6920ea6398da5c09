#include "base/system/own_process.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include <dirent.h>
#include <unistd.h>

#include "base/system/kernel_file.h"

namespace muster {

namespace {

std::optional<rlimit> limit_before;

}  // namespace

rlim_t ProcessorMargin(const rlimit& limit) {
  if (limit.rlim_max == RLIM_INFINITY || limit.rlim_cur != limit.rlim_max || limit.rlim_max < 2) return 0;
  return std::clamp<rlim_t>(limit.rlim_max / 10, 1, 5);
}

void LowerProcessorLimit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_CPU, &limit) != 0) return;
  limit_before = limit;
  limit.rlim_cur -= ProcessorMargin(limit);
  if (limit.rlim_cur != limit_before->rlim_cur) ::setrlimit(RLIMIT_CPU, &limit);
}

rlimit CallersProcessorLimit() {
  rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  if (limit_before) return *limit_before;
  ::getrlimit(RLIMIT_CPU, &limit);
  return limit;
}

SelfCount CountSelf() {
  SelfCount count;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/fd"), ::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    if (entry->d_name[0] != '.') ++count.descriptors;
  }
  if (count.descriptors > 0) --count.descriptors;  // the descriptor of this loop
  std::ifstream statm("/proc/self/statm");
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  if (statm >> total >> resident) {
    count.memory_kib = resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 1024;
  }
  return count;
}

namespace {

struct ProcessStat {
  std::string state;
  std::uint64_t start_ticks = 0;
};

ProcessStat ReadStat(const std::string& process) {
  const std::string text = KernelText("/proc/" + process + "/stat");
  ProcessStat stat;
  const std::size_t name_end = text.rfind(") ");  // the name may contain any character
  if (name_end == std::string::npos) return stat;
  std::istringstream fields(text.substr(name_end + 2));
  fields >> stat.state;
  std::string field;
  for (int number = 4; number <= 22 && fields >> field; ++number) {
    if (number == 22) stat.start_ticks = std::strtoull(field.c_str(), nullptr, 10);
  }
  return stat;
}

}  // namespace

std::uint64_t StartTicksOf(pid_t pid) {
  const ProcessStat stat = ReadStat(std::to_string(pid));
  return stat.state == "Z" || stat.state == "X" ? 0 : stat.start_ticks;
}

std::uint64_t OwnStartTicks() {
  // A fork has another pid, so the value is cached per process.
  static pid_t known_of = 0;
  static std::uint64_t ticks = 0;
  if (const pid_t pid = ::getpid(); pid != known_of) {
    ticks = ReadStat("self").start_ticks;
    known_of = pid;
  }
  return ticks;
}

std::string BootId() {
  static const std::string id = KernelLine("/proc/sys/kernel/random/boot_id");
  return id;
}

}  // namespace muster
