// Collects the data of pages in copies of this process: one at a time for each directory, and a few altogether. The
// loop is free meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "serve/http/http_answer.h"

namespace muster {

class ForkedFunction;

class CollectedPages {
 public:
  static constexpr std::size_t kMostAtOnce = 2;

  using Reply = std::function<void(HttpAnswer)>;

  explicit CollectedPages(boost::asio::io_context& io);
  ~CollectedPages();
  CollectedPages(const CollectedPages&) = delete;
  CollectedPages& operator=(const CollectedPages&) = delete;

  // Replies once, from the loop, with the data of the page of a run or sweep. `version` is that of the directory's last
  // patch; the page applies later patches to this data. A request that arrives while the data is being collected gets
  // the same answer, with the version of the first request.
  void Collect(const std::string& dir, bool is_sweep, std::uint64_t version, Reply reply);

 private:
  struct Collection {
    bool is_sweep = false;
    std::uint64_t version = 0;
    std::vector<Reply> replies;
    std::unique_ptr<ForkedFunction> copy;  // null: it waits for its turn
  };

  void Begin(const std::string& dir);
  void End(const std::string& dir, const HttpAnswer& answer);

  boost::asio::io_context& io_;
  std::map<std::string, Collection> collections_;  // by directory
  std::deque<std::string> waiting_;
  std::size_t running_ = 0;
};

}  // namespace muster
