#include "cli/lookup/line_search.h"

#include <memory>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/values/pattern_hint.h"
#include "base/values/shell_quote.h"

namespace muster {

Result<std::function<bool(std::string_view line)>> LineSearch(const std::string& expression) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(2 << 20);
  auto regex = std::make_shared<const RE2>(expression, options);
  if (!regex->ok()) {
    return Fail(Error("regex", {},
                      fmt::format("{} is not a valid regular expression: {}", Quoted(expression), regex->error()),
                      PatternHint(regex->error())));
  }
  return
      [regex](std::string_view line) { return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *regex); };
}

}  // namespace muster
