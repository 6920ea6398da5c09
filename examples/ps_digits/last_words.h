// How the reason of a failure travels: the process that notices it tells everybody it is connected to, they
// tell on what they were told, and each prints it. So all of a broken job name the same origin.
#pragma once

#include <span>
#include <string>

#include "ps_digits/failure.h"
#include "ps_digits/link.h"

namespace ps_digits {

// Sends the failure over the links, as far as they take it, and returns the line to print. `self` names this
// process.
Failure LastWords(const std::string& self, const Failure& failure, std::span<Link* const> links);

// The failure of somebody who has been told.
Failure Relayed(const Failed& message);

}  // namespace ps_digits
