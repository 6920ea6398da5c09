// The commands that show, control and clean up runs.
#pragma once

#include <functional>

#include <CLI/App.hpp>

#include "cli/command/command.h"

namespace muster {

std::function<int()> SetupReport(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupReportMetric(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupClean(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupLogs(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupPs(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupLs(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupPack(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupTag(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupNote(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupWatch(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupDump(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupStop(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupTop(CLI::App& app, const Invocation& invocation);

}  // namespace muster
