#include "cli/options/blank_variable.h"

#include <string_view>

#include <string.h>
#include <unistd.h>

namespace muster {

void BlankVariable(const std::string& name) {
  if (name.empty()) return;
  const std::string prefix = name + "=";
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view entry(*variable);
    if (entry.starts_with(prefix)) ::explicit_bzero(*variable + prefix.size(), entry.size() - prefix.size());
  }
}

}  // namespace muster
