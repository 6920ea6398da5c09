// What the server answers: pages, data and streams of events about the runs and sweeps below some folders, and requests
// that steer them. Everything is looked up by ids; requests that change something are carried out by the heads, or are
// tags and notes of directories of this user.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "muster/result.h"
#include "serve/http/http_answer.h"
#include "serve/live/folder_index.h"

namespace muster {

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
