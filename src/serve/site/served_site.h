// What the server answers: pages, data and streams of events about the runs and sweeps below some folders, and
// requests that steer them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "muster/result.h"
#include "serve/http/http_server.h"
#include "serve/live/folder_index.h"
#include "spawn/start/launcher.h"

namespace muster {

// Continues sweeps as `muster resume --detach` does, by calling it: the head is a process of its own in the background,
// which does not end with the server.

class LimitedCommand;

class ResumeCalls {
 public:
  using Reply = std::function<void(HttpAnswer)>;

  // `io` must outlive it.
  explicit ResumeCalls(boost::asio::io_context& io);
  ~ResumeCalls();
  ResumeCalls(const ResumeCalls&) = delete;
  ResumeCalls& operator=(const ResumeCalls&) = delete;

  // Replies once, from the loop: when a trial has begun, when the call has failed, or after a while if it is still
  // waiting, for devices or an engine.
  void Begin(const std::string& dir, Reply reply);

 private:
  struct Call;

  boost::asio::io_context& io_;
  Launcher launcher_;
  std::map<std::string, std::unique_ptr<Call>> calls_;  // by the sweep's directory
};

// The error in what a command of muster wrote: "error: …" with its hint, as one sentence; the last line if there is
// none.
std::string ErrorIn(const std::string& words);

// What the server answers: pages, data and streams of events about the runs and sweeps below some folders, and requests
// that steer them. Everything is looked up by ids; requests that change something are carried out by the heads, or are
// tags and notes of directories of this user.

struct HttpRequest;

class ServedSite {
 public:
  ServedSite(boost::asio::io_context& io, ServedFolders folders);
  ~ServedSite();
  ServedSite(const ServedSite&) = delete;
  ServedSite& operator=(const ServedSite&) = delete;

  // Reads the folders and follows them. Kind "inotify".
  Result<void> Start();
  // `path`: PathOf() of an admitted request. Replies once, possibly later.
  void Handle(const HttpRequest& request, const std::string& path, std::function<void(HttpAnswer)> reply);
  const FolderIndex& index() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster
