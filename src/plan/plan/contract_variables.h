// What the variables of contracts carry, read from muster's own Lua data and from recipes. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "muster/contract.h"
#include "muster/value.h"

namespace muster {

// A list as lua/muster/frameworks/parts/meanings.lua makes it. The error names the variable.
tl::expected<std::vector<ContractVariable>, std::string> ContractVariablesFrom(const Value& list);

// The variables of one of muster's own contracts, of which these are the records (OwnFrameworks); nothing if it has
// none of this name.
tl::expected<std::optional<std::vector<ContractVariable>>, std::string> OwnContractNamed(const Value& records,
                                                                                         std::string_view name);

}  // namespace muster
