// A line on the terminal that says what is waited for, and for how long already.
#pragma once

#include <string>

namespace muster {

// Gone when this ends. Nothing where nobody looks: stderr is no terminal.
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
