// Decides whether a request is answered: only those of this machine's user, who has the token, and only from pages that
// the server itself has sent. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

struct HttpRequest;

struct HttpRefusal {
  int status = 0;
  std::string_view why;  // a sentence without any byte of the request

  bool operator==(const HttpRefusal&) const = default;
};

inline constexpr std::size_t kLongestTarget = 512;

// The checks that need the head of the request only, in this order: the Host header names this machine (whatever the
// port: a tunnel has another one); the method; the form of the target, in which nothing is ever decoded; the token,
// compared in constant time; the origin and what the browser says about it. Nothing: the request may be answered.
std::optional<HttpRefusal> RefusalOf(const HttpRequest& request, std::string_view token);

// What follows the token in the target of a request that was not refused, without its query: "sweep/3f9a/events".
std::string PathOf(const HttpRequest& request);
// The value of a name in its query: "12" for "from" in "…?from=12". Empty: not given.
std::string QueryOf(const HttpRequest& request, std::string_view name);

}  // namespace muster
