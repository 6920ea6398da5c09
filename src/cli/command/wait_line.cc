#include "cli/command/wait_line.h"

#include <cstdio>
#include <utility>

#include <unistd.h>

#include "base/values/shell_quote.h"

namespace muster {

WaitLine::WaitLine(const std::string& what) : what_(Printable(what)), shown_(isatty(STDERR_FILENO) == 1) {}

void WaitLine::Clear() {
  if (std::exchange(written_, false)) std::fputs("\r\x1b[K", stderr);
}

void WaitLine::Show(unsigned seconds, const std::string& detail) {
  if (!shown_) return;
  const std::string text = detail.empty() ? what_ : what_ + ", " + Printable(detail);
  std::fprintf(stderr, "\r%s, %u s …\x1b[K", text.c_str(), seconds);
  std::fflush(stderr);
  written_ = true;
}

}  // namespace muster
