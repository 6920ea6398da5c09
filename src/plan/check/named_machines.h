// Compares the machines that contracts name with the hosts of the run: the rank table's servers, the address at which
// processes of a contract meet, and the tasks of TF_CONFIG. Pure.
#pragma once

#include <string>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/plan.h"
#include "plan/check/table_hosts.h"

namespace muster {

// `known`: by host, its name and its address as far as they are known; empty texts are not compared. `inherited`:
// variables as "NAME=value" that processes inherit, if they are known. Kind "rank_table" (see table_hosts.h), and kind
// "hosts" for variables: an error if a variable names a host of the run, or the process's own host by a loopback
// address, and the process that must be there is on another one; a warning if it names a machine that is none of the
// run's. Only the first variable of a name is reported. `place` is that of the framework.
Diagnostics CheckNamedMachines(const Plan& plan, const std::vector<KnownHost>& known, const Place& place = {},
                               const std::vector<std::string>& inherited = {});

}  // namespace muster
