#include "cli/options/wrap_option.h"

#include "plan/check/plan_check.h"

namespace muster {

void AddWrapOption(CLI::App& app, std::vector<std::string>& wraps) {
  app.add_option("--wrap", wraps, "prefix the command of a role, or of its process N: worker:3='gdb --args'")
      ->type_name("ROLE[:N]=WORDS")
      ->allow_extra_args(false);
}

Result<void> ApplyWraps(Plan& plan, const std::vector<std::string>& wraps) {
  for (const std::string& text : wraps) {
    const Result<Wrapping> wrapping = ParseWrapping(text);
    if (!wrapping) return Fail(wrapping.error());
    if (Result<void> wrapped = Wrap(plan, *wrapping); !wrapped) return wrapped;
  }
  return {};
}

}  // namespace muster
