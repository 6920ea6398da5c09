// Runs a function in a copy of this process, and delivers the text that it returns through the loop, which stays free
// meanwhile.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <tl/expected.hpp>

namespace muster {

class ForkedFunction {
 public:
  // `compute` runs in the copy, which has of this process's descriptors only 0 to 2, default actions for signals, and
  // is killed with this process; it must not use the loop. `done` is called once from the loop: with the text, or
  // without one if the copy did not complete it. It may destroy this object. The error is an errno. Call it with one
  // thread.
  static tl::expected<std::unique_ptr<ForkedFunction>, int> Start(
      boost::asio::io_context& io, const std::function<std::string()>& compute,
      std::function<void(std::optional<std::string> text)> done);
  // Kills the copy if it still runs; `done` is not called any more.
  ~ForkedFunction();
  ForkedFunction(const ForkedFunction&) = delete;
  ForkedFunction& operator=(const ForkedFunction&) = delete;

 private:
  struct Copy;
  explicit ForkedFunction(std::shared_ptr<Copy> copy);
  std::shared_ptr<Copy> copy_;
};

}  // namespace muster
