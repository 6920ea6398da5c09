#include "run/notify/notice.h"

#include <fmt/format.h>

#include "base/system/known_secrets.h"
#include "base/values/shell_quote.h"
#include "base/values/utf8.h"
#include "run/lines/line_writer.h"

namespace muster {
namespace {

constexpr std::size_t kMaxText = 2'000;

std::string OneLine(std::string_view text) {
  std::string line = Printable(WithoutSecrets(text));
  return line.size() > kMaxText ? std::string(Utf8Prefix(line, kMaxText)) + "…" : line;
}

}  // namespace

std::string NoticeText(const Notice& notice) {
  return OneLine(fmt::format("{} {} ({} {} on {})", notice.name, notice.what, notice.kind, notice.id, notice.host));
}

std::string NoticeLine(Notice notice) {
  notice.text = NoticeText(notice);
  notice.why = OneLine(notice.why);
  std::string line = "{";
  LineWriter writer(line);
  writer.Members(notice);
  return WithoutSecrets(line) + "}\n";
}

}  // namespace muster
