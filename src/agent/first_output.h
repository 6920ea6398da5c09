// When processes write their first byte, told by the kernel: one watch per log (inotify(7)), set before the process
// starts and gone with its first event (IN_ONESHOT), so that what is written later costs nothing.
//
// Knows files and attempts, no process. Where the kernel allows no more watches, nothing is told.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "muster/event.h"
#include "spawn/boost_launcher.h"

namespace muster {

class FirstOutputWatch {
 public:
  using Key = std::pair<ProcessId, std::uint32_t>;  // process and attempt

  // `seen` is called at most once for a watched attempt.
  FirstOutputWatch(boost::asio::io_context& io, std::function<void(const Key&)> seen);
  FirstOutputWatch(const FirstOutputWatch&) = delete;
  FirstOutputWatch& operator=(const FirstOutputWatch&) = delete;

  // The log exists and is empty.
  void Watch(const Key& key, const std::string& log);
  // The attempt could not be started.
  void Forget(const Key& key);
  // The attempt has ended: `seen` is called now if it has written and that was not told yet.
  void End(const Key& key);

 private:
  struct Watched {
    int watch = -1;
    std::string log;
  };

  bool Open();
  void AwaitChanges();
  void OnChanges();

  std::function<void(const Key&)> seen_;
  WatchedFd changes_;
  std::map<Key, Watched> watched_;
  std::map<int, Key> by_watch_;
};

}  // namespace muster
