#include "serve/http/http_answer.h"

#include <utility>

#include <fmt/format.h>

namespace muster {
namespace {

std::string_view ReasonOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

constexpr std::string_view kNothing = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

}  // namespace

HttpAnswer TextAnswer(int status, std::string text) {
  return {.status = status, .body = std::make_shared<const std::string>(std::move(text) + "\n")};
}

HttpAnswer JsonAnswer(int status, std::string json) {
  return {.status = status,
          .type = "application/json",
          .body = std::make_shared<const std::string>(std::move(json) + "\n")};
}

std::string AnswerBytes(const HttpAnswer& answer) {
  const std::string_view policy = answer.policy.empty() ? kNothing : std::string_view(answer.policy);
  std::string bytes = fmt::format(
      "HTTP/1.1 {} {}\r\n"
      "Content-Type: {}; charset=utf-8\r\n"
      "Cache-Control: no-store\r\n"
      "Content-Security-Policy: {}\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n"
      "Referrer-Policy: no-referrer\r\n"
      "X-Content-Type-Options: nosniff\r\n"
      "X-Frame-Options: DENY\r\n"
      "Connection: close\r\n",
      answer.status, ReasonOf(answer.status), answer.stream ? "text/event-stream" : answer.type, policy);
  if (answer.status == 405) bytes += "Allow: GET, POST\r\n";
  if (answer.stream) return bytes + "\r\n";
  bytes += fmt::format("Content-Length: {}\r\n\r\n", answer.body ? answer.body->size() : 0);
  if (answer.body) bytes += *answer.body;
  return bytes;
}

}  // namespace muster
