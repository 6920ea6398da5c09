// Compares the hosts that a rank table names with the hosts of the run: a rank runs where its table says. Pure.
#pragma once

#include <string>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/plan.h"

namespace muster {

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

}  // namespace muster
