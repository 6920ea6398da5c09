#include "code/tar_call.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/unique_fd.h"
#include "base/system/write_all.h"
#include "base/values/shell_quote.h"
#include "spawn/start/launcher.h"
#include "spawn/start/reap.h"

namespace muster {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// The compressor; none for a plain archive. -n keeps gzip from writing a time stamp, which would change the bytes.
std::string CompressorOf(const std::string& out) {
  if (out.ends_with(".tar.gz") || out.ends_with(".tgz")) return "gzip -n";
  return out.ends_with(".tar.zst") ? "zstd -q" : std::string();
}

// "s,^,TOP/," for --transform, for any name.
std::string PutBelow(const std::string& top) {
  std::string name;
  for (const char c : top) {
    if (std::string_view(",\\&").find(c) != std::string_view::npos) name += '\\';
    name += c;
  }
  return fmt::format("s,^,{}/,rSH", name);
}

std::string FirstLine(int fd) {
  std::string text(4096, '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return Printable(text.substr(0, text.find('\n')));
}

}  // namespace

bool IsTarName(const std::string& out) { return out.ends_with(".tar") || !CompressorOf(out).empty(); }

std::string PackWithTar(const TarOrder& order, const std::function<void(unsigned seconds)>& waiting) {
  const UniqueFd names(::memfd_create("muster-tar", MFD_CLOEXEC));
  const UniqueFd words(::memfd_create("muster-tar", MFD_CLOEXEC));
  if (!names || !words) return std::strerror(errno);
  // The folder first, with its mode: the unpacked folder is as private as this one.
  std::string list(".");
  list += '\0';
  for (const std::string& path : order.paths) list += path + '\0';
  if (const int error = WriteForReader(names.get(), list); error != 0) return std::strerror(error);

  // Created here with mode 0600 and overwritten by tar, which would make it readable for others.
  const std::string half = order.out + ".part";
  ::unlink(half.c_str());
  if (!UniqueFd(::open(half.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR))) {
    return fmt::format("{}: {}", Quoted(half), std::strerror(errno));
  }
  SpawnSpec spec;
  spec.argv = {"tar", "--create", "--file", half, "--force-local", "--directory", order.folder};
  for (const char* option :
       {"--no-recursion", "--null", "--verbatim-files-from", "--files-from=-", "--owner=0", "--group=0",
        "--numeric-owner", "--format=posix", "--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime"}) {
    spec.argv.emplace_back(option);
  }
  spec.argv.push_back("--transform=" + PutBelow(order.top));
  const UniqueFd copied(::memfd_create("muster-tar", MFD_CLOEXEC));
  if (!order.copied.empty()) {
    std::string more;
    for (const std::string& path : order.copied) more += path + '\0';
    if (const int error = WriteForReader(copied.get(), more); error != 0) return std::strerror(error);
    spec.argv.insert(spec.argv.end(), {"--directory", order.copies, "--null", "--verbatim-files-from",
                                       fmt::format("--files-from=/proc/{}/fd/{}", ::getpid(), copied.get())});
  }
  if (const std::string program = CompressorOf(order.out); !program.empty()) {
    spec.argv.push_back("--use-compress-program=" + program);
  }
  std::vector<std::string> environment = {"LC_ALL=C"};
  for (const std::string& variable : order.environment) {
    if (variable.starts_with("PATH=")) environment.push_back(variable);
  }
  spec.env = EnvPointers(environment);
  spec.stdin_fd = names.get();
  spec.stderr_fd = words.get();
  spec.grouping = Grouping::kInherit;  // keyboard signals that end muster end it too
  spec.parent_death_signal = SIGKILL;
  Launcher launcher;
  auto spawned = launcher.Spawn(spec);
  if (!spawned) return "there is no tar that could be started";
  const ChildRef child = spawned->ref();
  const std::uint64_t began = MonotonicNowNs();
  for (unsigned seconds = 1; !EndsBy(child, began + seconds * kSecond); ++seconds) waiting(seconds);
  const EndedProcess end = ReapAtEnd(child);
  std::string why;
  if (end.signalled || end.code != 0) {
    why = FirstLine(words.get());
    if (why.empty()) why = "tar " + EndText(end);
  } else if (::rename(half.c_str(), order.out.c_str()) != 0) {
    why = fmt::format("{}: {}", Quoted(order.out), std::strerror(errno));
  }
  if (!why.empty()) ::unlink(half.c_str());
  return why;
}

}  // namespace muster
