#include "cli/command/small_file.h"

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fcntl.h>

#include "base/system/open_below.h"
#include "base/values/shell_quote.h"

namespace muster {

tl::expected<std::string, std::string> ReadSmallFile(const std::string& name, std::uintmax_t most) {
  // Checked first: opening a FIFO would wait for a writer, and a device has no end.
  std::error_code error;
  if (!std::filesystem::is_regular_file(name, error)) return tl::unexpected("there is no file " + Quoted(name));
  if (std::filesystem::file_size(name, error) > most) {
    return tl::unexpected("the file " + Quoted(name) + " is larger than " + std::to_string(most >> 20) + " MiB");
  }
  std::ifstream file(name, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  if (!file) return tl::unexpected("the file " + Quoted(name) + " cannot be read");
  return content.str();
}

bool LeadsOutOfHere(const std::string& name) { return !OpenInside(AT_FDCWD, name, O_PATH) && errno == EXDEV; }

tl::expected<std::string, std::string> ReadSmallFileHere(const std::string& name, std::uintmax_t most) {
  if (!LeadsOutOfHere(name)) return ReadSmallFile(name, most);
  return tl::unexpected("the file " + Quoted(name) + " is a link that leads out of the folder");
}

}  // namespace muster
