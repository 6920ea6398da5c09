#include "serve/http/request_guard.h"

#include <algorithm>

#include "base/values/fingerprint.h"
#include "serve/http/http_request.h"

namespace muster {
namespace {

// "127.0.0.1:8080" is this machine, and so is "localhost". A foreign name that resolves to 127.0.0.1 (DNS rebinding) is
// not.
bool NamesThisMachine(std::string_view host) {
  const std::size_t colon = host.find(':');
  const std::string_view name = host.substr(0, colon);
  if (name != "127.0.0.1" && name != "localhost") return false;
  if (colon == host.npos) return true;
  const std::string_view port = host.substr(colon + 1);
  return !port.empty() && port.size() <= 5 &&
         std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Only these characters occur in targets that exist: a percent sign, a backslash or a zero byte names nothing.
bool HasPlainForm(std::string_view target) {
  if (!target.starts_with('/') || target.size() > kLongestTarget) return false;
  return std::all_of(target.begin(), target.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/-_.?=&").find(c) != std::string_view::npos;
  });
}

std::string_view WithoutQuery(std::string_view target) { return target.substr(0, target.find('?')); }

// "/TOKEN/…"
std::string_view TokenOf(std::string_view target) {
  if (target.empty()) return {};
  const std::string_view path = WithoutQuery(target).substr(1);
  return path.substr(0, path.find('/'));
}

// A link or a redirect from a file, which counts as another site, may open a page, but nothing else.
bool OpensAPage(const HttpRequest& request) {
  return request.method == "GET" && request.fetch_mode == "navigate" && request.fetch_dest == "document";
}

}  // namespace

std::optional<HttpRefusal> RefusalOf(const HttpRequest& request, std::string_view token) {
  if (!NamesThisMachine(request.host)) {
    return HttpRefusal{421, "this server answers requests to 127.0.0.1 and localhost only"};
  }
  if (request.method != "GET" && request.method != "POST") return HttpRefusal{405, "only GET and POST are answered"};
  if (!HasPlainForm(request.target)) return HttpRefusal{404, "there is no such page"};
  if (!EqualInConstantTime(TokenOf(request.target), token)) return HttpRefusal{404, "there is no such page"};
  const bool own_site =
      request.fetch_site.empty() || request.fetch_site == "none" || request.fetch_site == "same-origin";
  if (!own_site && !OpensAPage(request)) return HttpRefusal{403, "the request comes from another site"};
  if (!request.origin.empty() && request.origin != "http://" + request.host) {
    return HttpRefusal{403, "the request comes from another origin"};
  }
  // A form of another site cannot send this type.
  if (request.method == "POST" && request.content_type != "application/json") {
    return HttpRefusal{415, "the body of a request is application/json"};
  }
  return std::nullopt;
}

std::string PathOf(const HttpRequest& request) {
  const std::string_view path = WithoutQuery(request.target).substr(1);
  const std::size_t slash = path.find('/');
  return std::string(slash == path.npos ? std::string_view() : path.substr(slash + 1));
}

std::string QueryOf(const HttpRequest& request, std::string_view name) {
  const std::size_t mark = request.target.find('?');
  std::string_view query =
      mark == std::string::npos ? std::string_view() : std::string_view(request.target).substr(mark + 1);
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    if (pair.substr(0, pair.find('=')) == name && pair.size() > name.size()) {
      return std::string(pair.substr(name.size() + 1));
    }
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
  }
  return {};
}

}  // namespace muster
