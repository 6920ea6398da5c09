// Keeps logs within their limits while processes write to them: a separate process makes each cut (muster-agent
// --collapse LOG), because the kernel may wait long for the disk before it cuts.
//
// Tracks which logs are being cut; agent/logs/log_collapse.h makes the cut.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "agent/processes/child_set.h"
#include "base/system/open_below.h"
#include "muster/event.h"

namespace muster {

class LogTrims {
 public:
  using Key = std::pair<ProcessId, std::uint32_t>;  // process and attempt

  // `program`: path of muster-agent. `idle` is called when no log is being cut any more.
  LogTrims(boost::asio::io_context& io, Launcher& launcher, std::string program, std::function<void()> idle);

  // The log exceeds its limit. If it is already being cut, it is checked again after that.
  void TooLong(const Key& key, const FileBelow& log);

  bool Owns(pid_t pid) const { return cutters_.Owns(pid); }
  bool Ended(pid_t pid) { return cutters_.Ended(pid); }
  bool empty() const { return cutters_.empty(); }
  std::size_t size() const { return cutters_.size(); }
  void Abandon() { cutters_.Abandon(); }

 private:
  void Cut(const Key& key, const FileBelow& log);

  std::string program_;
  std::map<Key, FileBelow> again_;
  ChildSet cutters_;
};

}  // namespace muster
