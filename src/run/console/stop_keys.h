// The keys by which the user of a process's terminal asks muster, not the process, for the end of the run: Ctrl-] three
// times in a row. A pure function of what is typed: no clock, and no key is kept back.
#pragma once

#include <string>
#include <string_view>

namespace muster {

class StopKeys {
 public:
  static constexpr char kKey = '\x1d';
  static constexpr int kTimes = 3;

  struct Typed {
    std::string passed;  // for the process: everything but each third of the keys
    int stops = 0;       // how often the end was asked for
  };
  Typed Feed(std::string_view typed);

 private:
  int in_a_row_ = 0;
};

}  // namespace muster
