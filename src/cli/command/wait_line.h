// A line on the terminal that shows what muster is waiting for, and for how long.
#pragma once

#include <string>

namespace muster {

// Removed by the destructor. Does nothing if stderr is no terminal.
class WaitLine {
 public:
  explicit WaitLine(const std::string& what);
  WaitLine(const WaitLine&) = delete;
  WaitLine& operator=(const WaitLine&) = delete;
  ~WaitLine() { Clear(); }

  void Clear();
  // "WHAT, DETAIL, 3 s …"; `detail` may be empty.
  void Show(unsigned seconds, const std::string& detail = {});

 private:
  std::string what_;
  bool shown_;
  bool written_ = false;
};

}  // namespace muster
