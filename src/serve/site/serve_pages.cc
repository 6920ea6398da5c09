#include "serve/site/serve_pages.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "base/values/sha256.h"

namespace muster {
namespace {

std::string Base64(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) group = group << 8U | (i < count ? bytes[at + i] : 0U);
    for (std::size_t i = 0; i < 4; ++i) text += i <= count ? kDigits[group >> (18U - 6U * i) & 63U] : '=';
  }
  return text;
}

std::string HashesOf(std::span<const std::string_view> texts) {
  std::string hashes;
  for (const std::string_view text : texts) {
    Sha256 hash;
    hash.Add(text);
    hashes += " 'sha256-" + Base64(hash.Digest()) + "'";
  }
  return hashes.empty() ? " 'none'" : hashes;
}

std::string_view ServeFile(std::string_view path) {
  const auto files = EmbeddedServePages();
  const auto found = std::find_if(files.begin(), files.end(), [path](const auto& file) { return file.path == path; });
  return found == files.end() ? std::string_view() : found->text;
}

std::string Escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '&':
        html += "&amp;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

}  // namespace

std::string JsonForHtml(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    switch (c) {
      case '<':
        text += "\\u003c";
        break;
      case '>':
        text += "\\u003e";
        break;
      case '&':
        text += "\\u0026";
        break;
      default:
        text += c;
    }
  }
  return text;
}

std::string PolicyOf(std::span<const std::string_view> scripts, std::span<const std::string_view> styles) {
  return fmt::format(
      "default-src 'none'; script-src{}; style-src{}; img-src data: blob:; connect-src 'self'; base-uri 'none'; "
      "form-action 'none'; frame-ancestors 'none'",
      HashesOf(scripts), HashesOf(styles));
}

ServedPage MakeServedPage(std::string_view title, std::span<const std::string_view> scripts, std::string_view data) {
  std::string script;
  for (const std::string_view name : scripts) script += ServeFile(name);
  const std::string_view style = ServeFile("serve.css");
  ServedPage page;
  page.html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n"
      "<style>{}</style>\n</head>\n<body>\n<div id=\"page\"></div>\n"
      "<script type=\"application/json\" id=\"served\">{}</script>\n<script>{}</script>\n</body>\n</html>\n",
      Escaped(title), style, JsonForHtml(data), script);
  page.policy = PolicyOf(std::array{std::string_view(script)}, std::array{style});
  return page;
}

}  // namespace muster
