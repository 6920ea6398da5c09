#include "run/console/stop_keys.h"

namespace muster {

StopKeys::Typed StopKeys::Feed(std::string_view typed) {
  Typed result;
  for (const char key : typed) {
    in_a_row_ = key == kKey ? in_a_row_ + 1 : 0;
    if (in_a_row_ < kTimes) {
      result.passed += key;
    } else {
      in_a_row_ = 0;
      ++result.stops;
    }
  }
  return result;
}

}  // namespace muster
