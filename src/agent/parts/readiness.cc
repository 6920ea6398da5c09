#include "agent/parts/readiness.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "spawn/start/tcp_ports.h"
#include "wire/files/log_bytes.h"

namespace muster {
namespace {

constexpr std::chrono::milliseconds kFirstPortPause{5};
constexpr std::chrono::milliseconds kMaxPortPause{250};
constexpr std::uint32_t kFolderChanges = IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;

bool Exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

// The nearest existing folder above the path, which must change before the path can appear.
std::string NearestFolder(std::string path) {
  do {
    const std::size_t slash = path.rfind('/');
    path.resize(slash == std::string::npos || slash == 0 ? 1 : slash);
  } while (path.size() > 1 && !Exists(path));
  return path;
}

// Ports with a listener in this network namespace, over IPv4 or IPv6.
std::set<std::uint16_t> ListeningPorts() {
  std::set<std::uint16_t> ports;
  for (const TcpSocket& socket : TcpSockets()) {
    if (socket.state == TcpSocket::State::kListening) ports.insert(socket.port);
  }
  return ports;
}

}  // namespace

ReadyWatch::ReadyWatch(boost::asio::io_context& io, Observer observer)
    : io_(io), observer_(std::move(observer)), changes_(io.get_executor()), timer_(io.get_executor()) {}

void ReadyWatch::Watch(const Key& key, const ReadyWhen& when, const std::string& file) {
  Watched& watched = watched_[key];
  watched.when = when;
  watched.file = file;
  switch (when.kind) {
    case ReadyWhen::Kind::kNothing:
      watched_.erase(key);
      return;
    case ReadyWhen::Kind::kPort:
      port_pause_ = kFirstPortPause;
      ports_at_ = Clock::now();
      return SetAlarm(*ports_at_);
    case ReadyWhen::Kind::kCommand:
      return observer_.probe(key);
    case ReadyWhen::Kind::kFile:
    case ReadyWhen::Kind::kLine:
      WatchFile(watched);
      if (watched.watch >= 0) by_watch_[watched.watch].insert(key);
      // Changes between the start and the watch.
      if (IsReady(watched)) Done(key);
      return;
  }
}

void ReadyWatch::WatchFile(Watched& watched) {
  if (!changes_.is_open()) {
    UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    boost::system::error_code error;
    if (inotify) changes_.assign(inotify.get(), error);
    if (inotify && !error) {
      inotify.release();
      AwaitChanges();
    }
  }
  const bool line = watched.when.kind == ReadyWhen::Kind::kLine;
  for (;;) {
    const std::string path = line ? watched.file : NearestFolder(watched.file);
    watched.watch = ::inotify_add_watch(changes_.native_handle(), path.c_str(), line ? IN_MODIFY : kFolderChanges);
    // The kernel does not report a folder on the path that was created before the watch was set.
    if (line || watched.watch < 0 || NearestFolder(watched.file) == path) break;
    const auto sharing = by_watch_.find(watched.watch);
    if (sharing == by_watch_.end() || sharing->second.empty()) {
      ::inotify_rm_watch(changes_.native_handle(), watched.watch);
    }
  }
  // Without a watch (their number is limited) it is polled like a port.
  if (watched.watch >= 0) return;
  port_pause_ = kFirstPortPause;
  ports_at_ = Clock::now() + port_pause_;
  SetAlarm(*ports_at_);
}

void ReadyWatch::Unwatch(Watched& watched) {
  if (watched.watch < 0) return;
  const auto sharing = by_watch_.find(watched.watch);
  if (sharing != by_watch_.end() && sharing->second.empty()) {
    ::inotify_rm_watch(changes_.native_handle(), watched.watch);
    by_watch_.erase(sharing);
  }
  watched.watch = -1;
}

bool ReadyWatch::IsReady(Watched& watched) {
  if (watched.when.kind == ReadyWhen::Kind::kLine) return HasLine(watched);
  return watched.when.kind == ReadyWhen::Kind::kFile && Exists(watched.file);
}

bool ReadyWatch::HasLine(Watched& watched) {
  auto log = LogBytes::Open(AT_FDCWD, watched.file);
  if (!log) return false;
  const std::string& text = watched.when.text;
  std::array<char, 64U << 10> block;
  std::uint64_t at = watched.read;
  while (const std::size_t got = log->Read(at, block.data(), block.size())) {
    if (at != watched.read) watched.carry.clear();  // dropped before it could be searched
    watched.read = at += got;
    watched.carry.append(block.data(), got);
    if (watched.carry.find(text) != std::string::npos) return true;
    if (watched.carry.size() >= text.size()) watched.carry.erase(0, watched.carry.size() - (text.size() - 1));
  }
  return false;
}

void ReadyWatch::Done(const Key& key) {
  const auto found = watched_.find(key);
  if (found == watched_.end()) return;
  if (const auto sharing = by_watch_.find(found->second.watch); sharing != by_watch_.end()) sharing->second.erase(key);
  Unwatch(found->second);
  watched_.erase(found);
  observer_.ready(key);
}

void ReadyWatch::End(const Key& key) {
  const auto found = watched_.find(key);
  if (found == watched_.end()) return;
  if (IsReady(found->second)) return Done(key);
  if (const auto sharing = by_watch_.find(found->second.watch); sharing != by_watch_.end()) sharing->second.erase(key);
  Unwatch(found->second);
  watched_.erase(found);
}

void ReadyWatch::Replaced(const Key& key) {
  const auto found = watched_.find(key);
  if (found == watched_.end() || found->second.when.kind != ReadyWhen::Kind::kLine) return;
  Watched& watched = found->second;
  if (const auto sharing = by_watch_.find(watched.watch); sharing != by_watch_.end()) sharing->second.erase(key);
  Unwatch(watched);
  WatchFile(watched);
  if (watched.watch >= 0) by_watch_[watched.watch].insert(key);
  if (IsReady(watched)) Done(key);
}

void ReadyWatch::OnProbeEnded(const Key& key, bool succeeded) {
  const auto found = watched_.find(key);
  if (found == watched_.end()) return;
  if (succeeded) return Done(key);
  found->second.probe_at = Clock::now() + std::chrono::milliseconds(found->second.when.every_ms);
  SetAlarm(*found->second.probe_at);
}

void ReadyWatch::Clear() {
  watched_.clear();
  by_watch_.clear();
  ports_at_.reset();
  alarm_.reset();
  timer_.cancel();
  boost::system::error_code ignored;
  changes_.close(ignored);
}

void ReadyWatch::AwaitChanges() {
  changes_.async_wait(WatchedFd::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    OnChanges();
    if (changes_.is_open()) AwaitChanges();
  });
}

void ReadyWatch::OnChanges() {
  std::set<Key> concerned;
  ReadFileChanges(changes_.native_handle(), [&](const FileChange& change) {
    if ((change.mask & IN_Q_OVERFLOW) != 0) {
      for (const auto& [watch, keys] : by_watch_) concerned.insert(keys.begin(), keys.end());
    } else if (const auto found = by_watch_.find(change.watch); found != by_watch_.end()) {
      concerned.insert(found->second.begin(), found->second.end());
    }
  });
  for (const Key& key : concerned) {
    const auto found = watched_.find(key);
    if (found == watched_.end()) continue;
    Watched& watched = found->second;
    if (watched.when.kind == ReadyWhen::Kind::kFile) {
      // A folder on the path may have appeared, and is now the nearest one.
      const int before = watched.watch;
      by_watch_[before].erase(key);
      WatchFile(watched);
      if (before != watched.watch) {
        Watched old;
        old.watch = before;
        Unwatch(old);
      }
      if (watched.watch >= 0) by_watch_[watched.watch].insert(key);
    }
    if (IsReady(watched)) Done(key);
  }
}

void ReadyWatch::CheckPorts() {
  std::vector<Key> ready;
  bool waiting = false;
  const std::set<std::uint16_t> listening = ListeningPorts();
  for (auto& [key, watched] : watched_) {
    const bool port = watched.when.kind == ReadyWhen::Kind::kPort;
    if (!port && (watched.watch >= 0 || watched.when.kind == ReadyWhen::Kind::kCommand)) continue;
    if (port ? listening.contains(watched.when.port) && observer_.listens(key, watched.when.port) : IsReady(watched)) {
      ready.push_back(key);
    } else {
      waiting = true;
    }
  }
  ports_at_.reset();
  if (waiting) {
    ports_at_ = Clock::now() + port_pause_;
    port_pause_ = std::min(port_pause_ + port_pause_ / 2, kMaxPortPause);
  }
  for (const Key& key : ready) Done(key);
}

void ReadyWatch::SetAlarm(Clock::time_point at) {
  if (alarm_ && *alarm_ <= at) return;
  alarm_ = at;
  timer_.expires_at(at);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) OnAlarm();
  });
}

void ReadyWatch::OnAlarm() {
  alarm_.reset();
  const auto now = Clock::now();
  std::vector<Key> due;
  for (auto& [key, watched] : watched_) {
    if (!watched.probe_at || *watched.probe_at > now) continue;
    watched.probe_at.reset();
    due.push_back(key);
  }
  if (ports_at_ && *ports_at_ <= now) CheckPorts();
  for (const Key& key : due) {
    if (watched_.contains(key)) observer_.probe(key);
  }
  std::optional<Clock::time_point> next = ports_at_;
  for (const auto& [key, watched] : watched_) {
    if (watched.probe_at && (!next || *watched.probe_at < *next)) next = watched.probe_at;
  }
  if (next) SetAlarm(*next);
}

Readiness::Readiness(AgentState& state, GivenPorts& ports)
    : state_(state),
      ports_(ports),
      watch_(state.io, {.ready = [this](const Key& key) { OnReady(key); },
                        .probe = [this](const Key& key) { StartProbe(key); },
                        .listens = [this](const Key& key, std::uint16_t port) { return MayCount(key, port); }}),
      probes_(state.io, state.process.launcher,
              {.exited = [this](const ProcessExited& event) { OnProbeExited(event); },
               .signalled = [](const SignalSent&) {}}) {}

void Readiness::Watch(const StartProcess& command, const EnvironmentBlock& block) {
  if (command.ready.kind == ReadyWhen::Kind::kNothing) return;
  const Key key(command.process, command.attempt);
  std::string file = state_.run_folder.At(command.log_path).ThroughDescriptor();
  if (command.ready.kind == ReadyWhen::Kind::kFile) {
    file = command.ready.text.starts_with('/') ? command.ready.text : command.cwd + '/' + command.ready.text;
  }
  if (command.ready.kind == ReadyWhen::Kind::kCommand) {
    const EnvironmentBlock own = ByName(command.env);
    const std::vector<const char*> variables = Overlaid(block, own);
    starts_.insert_or_assign(
        key, Probe{command.ready.argv, command.search_dirs, command.cwd, {variables.begin(), variables.end()}});
  }
  watch_.Watch(key, command.ready, file);
}

void Readiness::OnReady(const Key& key) {
  starts_.erase(key);
  state_.send(ProcessReady{key.first, key.second, MonotonicNowNs()});
}

bool Readiness::MayCount(const Key& key, std::uint16_t port) {
  std::optional<PortTaken> taken;
  const bool ours = ports_.IsOurs(key, port, taken);
  if (taken) state_.send(*taken);
  return ours;
}

void Readiness::StartProbe(const Key& key) {
  const auto found = starts_.find(key);
  if (found == starts_.end() || !state_.serving()) return;
  SpawnSpec spec;
  spec.argv = found->second.argv;
  spec.search_dirs = found->second.search_dirs;
  spec.cwd = found->second.cwd;
  spec.env = EnvPointers(found->second.env);
  // A command that cannot be started counts as failed: the process misses its readiness timeout.
  if (!probes_.Start(key.first, key.second, std::move(spec))) watch_.OnProbeEnded(key, false);
}

void Readiness::OnProbeExited(const ProcessExited& event) {
  watch_.OnProbeEnded({event.process, event.attempt}, !event.signalled && event.code == 0);
  state_.emptied();
}

void Readiness::AttemptEnded(const Key& key) {
  watch_.End(key);
  starts_.erase(key);
  probes_.Stop(key.first, key.second, SIGKILL, std::chrono::milliseconds(0));
}

void Readiness::Finish() {
  watch_.Clear();
  probes_.KillAll();
}

void Readiness::Abandon() {
  watch_.Clear();
  probes_.Abandon();
}

}  // namespace muster
