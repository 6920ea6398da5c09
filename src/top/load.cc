#include "top/load.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace muster {

std::optional<ProcStat> ParseProcStat(std::string_view text) {
  // The name in field 2 may contain blanks and brackets.
  std::size_t at = text.rfind(") ");
  if (at == std::string_view::npos) return std::nullopt;
  at += 2;
  ProcStat stat;
  for (int field = 3; field <= 24; ++field) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    std::uint64_t number = 0;
    const bool ok = std::from_chars(text.data() + at, text.data() + end, number).ec == std::errc();
    const bool wanted = field == 14 || field == 15 || field == 22 || field == 24;
    if (wanted && !ok) return std::nullopt;
    if (field == 14 || field == 15) stat.cpu_ticks += number;
    if (field == 22) stat.start_ticks = number;
    if (field == 24) stat.rss_pages = number;
    if (end == text.size() && field < 24) return std::nullopt;
    at = end + 1;
  }
  return stat;
}

}  // namespace muster
