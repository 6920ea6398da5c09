// Fuzzes requests to the server of pages behind Beast's parser: the guard, the names, and the objects in bodies. The
// input is lines: target, host, origin, and the body.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "serve/http/http_server.h"
#include "serve/site/site_path.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::array<std::string_view, 4> parts;
  for (std::string_view& part : parts) {
    part = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  }
  muster::HttpRequest request;
  request.method = "GET";
  request.target = parts[0];
  request.host = parts[1];
  request.origin = parts[2];
  if (!muster::RefusalOf(request, "token")) {
    const std::string path = muster::PathOf(request);
    static_cast<void>(muster::QueryOf(request, "from"));
    const auto site = muster::ParseSitePath(path);
    if (site && site->id.find_first_of("./%\\") != std::string::npos) std::abort();
  }
  for (const char* what : {"stop", "dump", "tag", "note", "steer"}) {
    std::string problem;
    const auto change = muster::ParsePageRequest(what, parts[3], problem);
    if (change.has_value() != problem.empty()) std::abort();
  }
  return 0;
}
