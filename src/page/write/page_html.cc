#include "page/write/page_html.h"

#include <algorithm>
#include <cassert>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "base/values/fingerprint.h"
#include "page/write/embedded_page.h"
#include "page/write/page_data.h"

namespace muster {
namespace {

// In the order in which they need one another.
constexpr std::string_view kD3[] = {"internmap", "d3-array", "d3-collection",  "d3-color", "d3-interpolate",
                                    "d3-format", "d3-time",  "d3-time-format", "d3-scale", "d3-scale-chromatic"};
constexpr std::string_view kScripts[] = {"model",       "address", "format",  "pattern",  "where", "state", "plot",
                                         "pixel_lines", "groups",  "summary", "run",      "lanes", "usage", "curves",
                                         "parallel",    "scatter", "history", "outcomes", "table", "page"};

std::string_view TextOf(std::span<const EmbeddedFile> files, const std::string& path) {
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const EmbeddedFile& file) { return file.path == path; });
  assert(found != files.end());
  return found == files.end() ? std::string_view() : found->text;
}

std::string Scripts(const std::string& extra) {
  std::string text = "/* d3, https://d3js.org\n";
  for (const EmbeddedFile& file : EmbeddedLicence()) text += file.text;
  text += "*/\n";
  for (const std::string_view name : kD3)
    text += fmt::format("{}\n", TextOf(EmbeddedD3(), fmt::format("{0}/dist/{0}.min.js", name)));
  for (const std::string_view name : kScripts) text += TextOf(EmbeddedPage(), fmt::format("{}.js", name));
  return text + extra;
}

std::string Hash(std::string_view text) {
  Sha256 hash;
  hash.Add(text);
  const auto digest = hash.Digest();
  return fmt::format("'sha256-{}'", Base64({reinterpret_cast<const char*>(digest.data()), digest.size()}));
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    escaped += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  }
  return escaped;
}

PageShell Shell(const std::string& title, const std::string& data, const std::string& extra) {
  const std::string scripts = Scripts(extra);
  const std::string_view styles = TextOf(EmbeddedPage(), "page.css");
  PageShell shell;
  shell.policy = fmt::format(
      "default-src 'none'; script-src {}; style-src {}; img-src data: blob:; connect-src 'self'; base-uri 'none'; "
      "form-action 'none'",
      Hash(scripts), Hash(styles));
  shell.html = fmt::format(
      R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{}</title>
<style>{}</style>
</head>
<body>
<div id="page"></div>
<noscript><p>This page needs JavaScript; muster report prints the same facts as text.</p></noscript>
{}<script>{}</script>
</body>
</html>
)",
      shell.policy, Escaped(title), styles, data, scripts);
  return shell;
}

}  // namespace

std::string PageHtml(const PageContent& page) {
  const PageData data = PageDataOf(page);
  return Shell(page.title,
               fmt::format("<script type=\"application/json\" id=\"page-data\">{}</script>\n"
                           "<script type=\"text/plain\" id=\"page-floats\">{}</script>\n",
                           data.json, data.floats),
               "")
      .html;
}

PageShell EmptyPage(const std::string& title, const std::string& extra) { return Shell(title, "", extra); }

}  // namespace muster
