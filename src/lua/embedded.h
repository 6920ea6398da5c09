// The Lua files that are part of the program (everything below lua/muster/), compiled in as text.
#pragma once

#include <span>
#include <string_view>

namespace muster {

struct EmbeddedFile {
  std::string_view path;  // "muster/job.lua"
  std::string_view text;
};

std::span<const EmbeddedFile> EmbeddedLua();

}  // namespace muster
