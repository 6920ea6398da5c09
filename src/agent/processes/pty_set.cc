#include "agent/processes/pty_set.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <unistd.h>

#include "base/system/clock.h"

namespace muster {
namespace {

constexpr std::size_t kPiece = 16U << 10;

}  // namespace

PtySet::PtySet(boost::asio::io_context& io, Tell tell) : io_(io), tell_(std::move(tell)), disk_(io.get_executor()) {}

tl::expected<int, SpawnError> PtySet::Open(const Key& key, const PtySize& size, UniqueFd log) {
  auto terminal = OpenPseudoTerminal({size.rows, size.columns, 0, 0});
  if (!terminal) return tl::unexpected<SpawnError>(std::move(terminal.error()));
  Pty& pty = ptys_.try_emplace(key, io_.get_executor()).first->second;
  boost::system::error_code error;
  pty.master.assign(terminal->master.get(), error);
  if (error) {
    Drop(key);
    return tl::unexpected<SpawnError>(
        SpawnError{SpawnStage::kDescriptors, error.value(), "to watch a pseudo-terminal"});
  }
  terminal->master.release();
  pty.slave = std::move(terminal->slave);
  pty.log = std::move(log);
  return pty.slave.get();
}

void PtySet::Began(const Key& key) {
  Pty* const pty = Find(key.first, key.second);
  if (pty == nullptr) return;
  tell_(PtyOpened{key.first, key.second, MonotonicNowNs()});
  AwaitWritten(key, *pty);
}

PtySet::Pty* PtySet::Find(ProcessId process, std::uint32_t attempt) {
  const auto found = ptys_.find({process, attempt});
  return found == ptys_.end() ? nullptr : &found->second;
}

void PtySet::AwaitWritten(const Key& key, Pty& pty) {
  if (pty.reading || pty.granted == 0 || !pty.unlogged.empty()) return;
  pty.reading = true;
  pty.master.async_wait(WatchedFd::wait_read, [this, key](const boost::system::error_code& error) {
    Pty* const waited = error ? nullptr : Find(key.first, key.second);
    if (waited == nullptr) return;
    waited->reading = false;
    Copy(key, *waited, waited->granted);
    AwaitWritten(key, *waited);
  });
}

std::size_t PtySet::Copy(const Key& key, Pty& pty, std::size_t most) {
  std::array<char, kPiece> buffer;
  ssize_t got = 0;
  do {
    got = ::read(pty.master.native_handle(), buffer.data(), std::min(most, buffer.size()));
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return 0;
  const auto size = static_cast<std::size_t>(got);
  pty.bytes += size;
  pty.granted -= std::min(pty.granted, size);
  pty.unlogged.append(buffer.data(), size);
  WriteDown(pty);
  if (!pty.unlogged.empty()) TryDiskAgain();
  tell_(PtyBytes{key.first, key.second, std::string(buffer.data(), size)});
  return size;
}

void PtySet::WriteDown(Pty& pty) {
  while (!pty.unlogged.empty()) {
    const ssize_t wrote = ::write(pty.log.get(), pty.unlogged.data(), pty.unlogged.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    pty.unlogged.erase(0, static_cast<std::size_t>(wrote));
  }
}

// A full disk does not report when space becomes available, so try again after a pause.
void PtySet::TryDiskAgain() {
  if (std::exchange(disk_waits_, true)) return;
  disk_.expires_after(kDiskPause);
  disk_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    disk_waits_ = false;
    bool full = false;
    for (auto& [key, pty] : ptys_) {
      WriteDown(pty);
      full = full || !pty.unlogged.empty();
      AwaitWritten(key, pty);
    }
    if (full) TryDiskAgain();
  });
}

bool PtySet::Typed(const PtyBytes& typed) {
  Pty* const pty = Find(typed.process, typed.attempt);
  if (pty == nullptr) return true;
  if (pty->typed.size() + typed.bytes.size() > kPtyWindow) return false;
  pty->typed += typed.bytes;
  if (!pty->writing) PassTyped({typed.process, typed.attempt}, *pty);
  return true;
}

void PtySet::PassTyped(const Key& key, Pty& pty) {
  std::size_t passed = 0;
  while (passed < pty.typed.size()) {
    const ssize_t wrote = ::write(pty.master.native_handle(), pty.typed.data() + passed, pty.typed.size() - passed);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) break;
    passed += static_cast<std::size_t>(wrote);
  }
  pty.typed.erase(0, passed);
  if (passed > 0) tell_(PtyTaken{key.first, key.second, static_cast<std::uint32_t>(passed)});
  if (pty.typed.empty()) return;
  pty.writing = true;
  pty.master.async_wait(WatchedFd::wait_write, [this, key](const boost::system::error_code& error) {
    Pty* const waited = error ? nullptr : Find(key.first, key.second);
    if (waited == nullptr) return;
    waited->writing = false;
    PassTyped(key, *waited);
  });
}

void PtySet::Taken(const PtyTaken& taken) {
  Pty* const pty = Find(taken.process, taken.attempt);
  if (pty == nullptr) return;
  pty->granted = std::min(pty->granted + taken.count, kPtyWindow);
  AwaitWritten({taken.process, taken.attempt}, *pty);
}

void PtySet::Resized(const PtyResized& resized) {
  Pty* const pty = Find(resized.process, resized.attempt);
  if (pty == nullptr) return;
  const winsize size{resized.size.rows, resized.size.columns, 0, 0};
  ::ioctl(pty->master.native_handle(), TIOCSWINSZ, &size);
}

void PtySet::Ended(const Key& key) {
  const auto found = ptys_.find(key);
  if (found == ptys_.end()) return;
  Pty& pty = found->second;
  // The kernel buffers less than this; a descendant that continues to write is not waited for.
  for (std::size_t rest = 0; rest < kMaxPtyRest;) {
    const std::size_t size = Copy(key, pty, kMaxPtyRest - rest);
    if (size == 0) break;
    rest += size;
  }
  WriteDown(pty);
  tell_(PtyClosed{key.first, key.second, pty.bytes, pty.unlogged.size(), MonotonicNowNs()});
  ptys_.erase(found);
}

void PtySet::EndAll() {
  while (!ptys_.empty()) Ended(Key(ptys_.begin()->first));
}

}  // namespace muster
