// The pages of the server and their scripts, which are part of the program.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/values/embedded_file.h"

namespace muster {

// The files below web/serve/.
std::span<const EmbeddedFile> EmbeddedServePages();

struct ServedPage {
  std::string html;
  std::string policy;  // Content-Security-Policy: only the page's own script and style, and connections to the server
};

// An empty page with the style and these scripts of web/serve/; `data`, a JSON object, is for the scripts.
ServedPage MakeServedPage(std::string_view title, std::span<const std::string_view> scripts, std::string_view data);

// These scripts of web/serve/, one after the other.
std::string ServeScripts(std::span<const std::string_view> names);

}  // namespace muster
