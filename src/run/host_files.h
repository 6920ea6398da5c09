// Which files of the run directory a host may bring home: those of the processes that it runs, and no other host's.
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "muster/plan.h"

namespace muster {

class HostFiles {
 public:
  // The plan is only read while this is made.
  explicit HostFiles(const Plan& plan);

  // `path` is below the run directory: "logs/worker.3.0.log", "dumps/1/worker.3.0.txt". `host` is the plan's.
  bool AreOf(std::uint32_t host, std::string_view path) const;

 private:
  std::map<std::string, std::uint32_t, std::less<>> host_of_;  // "worker.3"
};

}  // namespace muster
