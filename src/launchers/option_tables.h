// The options of each launcher, as its documentation lists them.
#pragma once

#include <span>

#include "launchers/launcher_options.h"

namespace muster {

std::span<const LauncherOption> OptionsOf(KnownLauncher launcher);

}  // namespace muster
