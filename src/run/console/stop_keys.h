// Detects the keys by which the user of a process's terminal requests the end of the run from muster: Ctrl-] three
// times in a row. A pure function of the typed bytes: no clock, and no key is held back.
#pragma once

#include <string>
#include <string_view>

namespace muster {

class StopKeys {
 public:
  static constexpr char kKey = '\x1d';
  static constexpr int kTimes = 3;

  struct Typed {
    std::string passed;  // for the process: everything except each third of these keys
    int stops = 0;       // how often the end was requested
  };
  Typed Feed(std::string_view typed);

 private:
  int in_a_row_ = 0;
};

}  // namespace muster
