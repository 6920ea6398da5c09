// --wait[=DURATION]: how long a run waits for devices that other jobs hold.
#pragma once

#include <cstdint>
#include <string>

#include <CLI/App.hpp>

#include "muster/result.h"

namespace muster {

// The text must live as long as the app. Empty: not given.
void AddWaitOption(CLI::App& app, std::string& text);

// As AllocateResources::wait_ms. Kind "usage".
Result<std::uint64_t> ReadWait(const std::string& text);

}  // namespace muster
