// What was found out about hosts, for people and for programs (docs/doctor.md). Knows findings, judges nothing.
#pragma once

#include <span>
#include <string>

#include "run/host_differences.h"

namespace muster {

// Of several hosts only what differs and what is wrong; of one, everything.
std::string InspectionText(std::span<const InspectedHost> hosts, const HostComparison& comparison);

// {"format": 1, "ok": …, "hosts": […], "faults": […], "differences": […]}: everything.
std::string InspectionJson(std::span<const InspectedHost> hosts, const HostComparison& comparison);

}  // namespace muster
