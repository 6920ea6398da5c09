#include "serve/site/serve_pages.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "base/values/fingerprint.h"
#include "page/write/page_data.h"

namespace muster {
namespace {

std::string HashesOf(std::span<const std::string_view> texts) {
  std::string hashes;
  for (const std::string_view text : texts) {
    Sha256 hash;
    hash.Add(text);
    const auto digest = hash.Digest();
    hashes += " 'sha256-" + Base64({reinterpret_cast<const char*>(digest.data()), digest.size()}) + "'";
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

std::string ServeScripts(std::span<const std::string_view> names) {
  std::string script;
  for (const std::string_view name : names) script += ServeFile(name);
  return script;
}

namespace {

std::string PolicyOf(std::span<const std::string_view> scripts, std::span<const std::string_view> styles) {
  return fmt::format(
      "default-src 'none'; script-src{}; style-src{}; img-src data: blob:; connect-src 'self'; base-uri 'none'; "
      "form-action 'none'; frame-ancestors 'none'",
      HashesOf(scripts), HashesOf(styles));
}

}  // namespace

ServedPage MakeServedPage(std::string_view title, std::span<const std::string_view> scripts, std::string_view data) {
  const std::string script = ServeScripts(scripts);
  const std::string_view style = ServeFile("serve.css");
  ServedPage page;
  page.html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n"
      "<style>{}</style>\n</head>\n<body>\n<div id=\"page\"></div>\n"
      "<script type=\"application/json\" id=\"served\">{}</script>\n<script>{}</script>\n</body>\n</html>\n",
      Escaped(title), style, SafeInScript(std::string(data)), script);
  page.policy = PolicyOf(std::array{std::string_view(script)}, std::array{style});
  return page;
}

}  // namespace muster
