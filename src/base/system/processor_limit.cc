#include "base/system/processor_limit.h"

#include <algorithm>
#include <optional>

namespace muster {
namespace {

std::optional<rlimit> before;

}  // namespace

rlim_t ProcessorMargin(const rlimit& limit) {
  if (limit.rlim_max == RLIM_INFINITY || limit.rlim_cur != limit.rlim_max || limit.rlim_max < 2) return 0;
  return std::clamp<rlim_t>(limit.rlim_max / 10, 1, 5);
}

void LowerProcessorLimit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_CPU, &limit) != 0) return;
  before = limit;
  limit.rlim_cur -= ProcessorMargin(limit);
  if (limit.rlim_cur != before->rlim_cur) ::setrlimit(RLIMIT_CPU, &limit);
}

rlimit CallersProcessorLimit() {
  rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  if (before) return *before;
  ::getrlimit(RLIMIT_CPU, &limit);
  return limit;
}

}  // namespace muster
