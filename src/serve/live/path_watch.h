// Changes below many folders, from one inotify(7) descriptor on the loop.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "muster/result.h"

namespace muster {

class PathWatch {
 public:
  // `name`: of the entry of the folder that has changed; empty if the folder itself has, or if changes were lost: then
  // anything may be different.
  using Changed = std::function<void(std::string_view name, std::uint32_t mask)>;

  explicit PathWatch(boost::asio::io_context& io);
  ~PathWatch();
  PathWatch(const PathWatch&) = delete;
  PathWatch& operator=(const PathWatch&) = delete;

  // Kind "inotify": the machine allows no inotify descriptor.
  Result<void> Start();
  // Watches a folder; links are not followed. Returns a number for Remove(), or 0 if it cannot be watched. The calls
  // come from the loop, and may add and remove watches.
  int Add(const std::string& folder, std::uint32_t mask, Changed changed);
  void Remove(int number);
  // Calls `exists` once this folder exists; immediately if it does. Returns a number for Remove(), 0 if it exists. Its
  // parents need not exist; a folder whose parents cannot be watched is never reported.
  int AwaitFolder(const std::string& folder, std::function<void()> exists);

 private:
  struct Watcher {
    int number = 0;
    std::uint32_t mask = 0;
    Changed changed;
  };

  void Await();
  void Tell(int watch, std::string_view name, std::uint32_t mask);
  int AddWatcher(int number, const std::string& folder, std::uint32_t mask, Changed changed);
  void LookFor(int number, const std::string& folder, const std::shared_ptr<std::function<void()>>& exists);

  boost::asio::posix::stream_descriptor changes_;
  std::map<int, std::vector<Watcher>> watchers_;  // by watch descriptor
  std::map<int, int> watches_;                    // watch descriptor, by number
  int last_number_ = 0;
};

}  // namespace muster
