// A file that is part of the program, compiled in as text (cmake/EmbedFiles.cmake).
#pragma once

#include <string_view>

namespace muster {

struct EmbeddedFile {
  std::string_view path;  // relative, "muster/job.lua"
  std::string_view text;
};

}  // namespace muster
