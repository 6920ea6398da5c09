// Compares the machines that a plan names with the hosts of the run: the servers of rank tables, the address at which
// processes of a contract meet, and the tasks of TF_CONFIG. Pure.
#pragma once

#include <string>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/plan.h"

namespace muster {

// Compares the hosts that a rank table names with the hosts of the run: a rank runs where its table says. Pure.

// By host of the plan, the server_id or node_addr of the table that the plan's processes read (RANK_TABLE_FILE): the
// server that has the host's lowest rank. Empty if there is no table among the plan's files, or none that can be read;
// a host without ranks has an empty text.
std::vector<std::string> HostsOfRankTable(const Plan& plan);

// `known`: by host, its name and its address as far as they are known; empty texts are not compared.
struct KnownHost {
  std::string name;
  std::string address;
};
// Whether the text is the host's name, in letters of either case, or its address.
bool IsHost(const KnownHost& host, const std::string& text);

// Kind "rank_table". An error if the table gives a host's ranks to another host of the run, with the order that fits.
// A warning if it names an address that is none of the run's: a host may have several. `place` is that of the
// framework.
Diagnostics CheckTableHosts(const Plan& plan, const std::vector<KnownHost>& known, const Place& place = {});

// Compares the machines that contracts name with the hosts of the run: the rank table's servers, the address at which
// processes of a contract meet, and the tasks of TF_CONFIG. Pure.

// `known`: by host, its name and its address as far as they are known; empty texts are not compared. `inherited`:
// variables as "NAME=value" that processes inherit, if they are known. Kind "rank_table" and kind
// "hosts" for variables: an error if a variable names a host of the run, or the process's own host by a loopback
// address, and the process that must be there is on another one; a warning if it names a machine that is none of the
// run's. Only the first variable of a name is reported. `place` is that of the framework.
Diagnostics CheckNamedMachines(const Plan& plan, const std::vector<KnownHost>& known, const Place& place = {},
                               const std::vector<std::string>& inherited = {});

}  // namespace muster
