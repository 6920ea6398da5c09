#include "run/directory/log_path.h"

#include <fmt/format.h>

namespace muster {

std::string LogPath(const Plan& plan, ProcessId process, std::uint32_t attempt) {
  return fmt::format("logs/{}.{}.log", ProcessName(plan, plan.processes[process]), attempt);
}

}  // namespace muster
