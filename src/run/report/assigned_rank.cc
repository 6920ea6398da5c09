#include "run/report/assigned_rank.h"

#include <charconv>
#include <system_error>

namespace muster {

std::optional<std::uint32_t> AssignedRank(std::string_view framework, std::string_view plays, std::string_view log) {
  if (framework != "ps-lite" && framework != "byteps") return std::nullopt;
  const bool worker = plays == "worker";
  if (!worker && plays != "server") return std::nullopt;
  const std::string_view begin = worker ? "W[" : "S[";
  for (std::size_t end = log.find("] is connected to others"); end != std::string_view::npos;
       end = log.find("] is connected to others", end + 1)) {
    const std::size_t open = log.rfind(begin, end);
    if (open == std::string_view::npos) continue;
    std::uint32_t id = 0;
    const char* const last = log.data() + end;
    const auto [rest, error] = std::from_chars(log.data() + open + begin.size(), last, id);
    const std::uint32_t first = worker ? 9 : 8;
    if (error == std::errc() && rest == last && id >= first && (id - first) % 2 == 0) return (id - first) / 2;
  }
  return std::nullopt;
}

}  // namespace muster
