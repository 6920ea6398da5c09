#include "cli/command/output_terminal.h"

#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

namespace muster {

std::size_t OutputColumns(std::size_t otherwise) {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : otherwise;
}

std::size_t ErrorColumns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

PlotGlyphs OutputGlyphs() {
  return GlyphsOfLocale(std::getenv("LC_ALL"), std::getenv("LC_CTYPE"), std::getenv("LANG"));
}

}  // namespace muster
