#include "cli/options/log_limit_option.h"

#include "base/values/shell_quote.h"
#include "base/values/units.h"

namespace muster {

void AddLogLimitOption(CLI::App& app, std::string& size) {
  app.add_option("--log-max", size, "maximum size of each log (at least 1MiB, or none); drops its beginning")
      ->type_name("SIZE");
}

Result<void> ApplyLogLimit(Plan& plan, const std::string& size) {
  if (size.empty()) return {};
  const std::optional<std::int64_t> bytes = size == "none" ? 0 : ParseBytes(size);
  const auto limit = static_cast<std::uint64_t>(bytes.value_or(0));
  if (!bytes || (size != "none" && (limit < kLeastLogBytes || limit > kMostLogBytes))) {
    return Fail(Error("usage", {}, "--log-max " + Quoted(size) + ": this is not a size from 1MiB to 1PiB",
                      "for example --log-max 1GiB, or none"));
  }
  for (Role& role : plan.roles) role.limits.log_bytes = limit;
  return {};
}

}  // namespace muster
