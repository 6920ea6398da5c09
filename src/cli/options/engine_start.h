// How agents on the hosts of an allocation are started: what the dial-back transport needs from an engine's page.
#pragma once

#include <string>
#include <vector>

#include "cli/options/engine_choice.h"
#include "muster/result.h"
#include "transport/dial_transport.h"

namespace muster {

// `agent` is the value of --agent, empty if not given; `words` are for each agent besides --dial; `environment` is the
// user's, "NAME=value". Kind "engine": neither XDG_STATE_HOME nor HOME says where the dial file goes.
Result<DialSettings> DialSettingsFor(EngineChoice engine, const std::string& agent, std::vector<std::string> words,
                                     const std::vector<std::string>& environment);

}  // namespace muster
