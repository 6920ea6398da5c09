// Propagates the reason of a failure: the process that detects it sends it to all its connections, they forward it, and
// each prints it. So all processes of a broken job report the same origin.
#pragma once

#include <span>
#include <string>

#include "ps_digits/failure.h"
#include "ps_digits/link.h"

namespace ps_digits {

// Sends the failure over the links, as far as they accept data, and returns the line to print. `self` names this
// process.
Failure LastWords(const std::string& self, const Failure& failure, std::span<Link* const> links);

// The failure of a process that received it.
Failure Relayed(const Failed& message);

}  // namespace ps_digits
