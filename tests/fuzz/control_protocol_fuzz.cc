// Fuzzes lines at the control socket, in both directions: a parsed line must round-trip.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "run/control/control_protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto body = [](const std::string& text) { return std::string_view(text).substr(0, text.size() - 1); };
  if (const auto request = muster::ParseControlRequest(line)) {
    const std::string again = muster::ControlRequestLine(*request);
    const auto back = muster::ParseControlRequest(body(again));
    if (!back || *back != *request) std::abort();
  }
  if (const auto answer = muster::ParseControlAnswer(line)) {
    const std::string again = muster::ControlAnswerLine(*answer);
    if (body(again).find('\n') != std::string_view::npos) std::abort();
    if (!muster::ParseControlAnswer(body(again))) std::abort();
  }
  return 0;
}
