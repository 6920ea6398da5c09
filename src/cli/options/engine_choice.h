// The engine that a call of muster uses: chosen by --on or --engine, or the one in whose allocation this process is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include "engine/allocation.h"
#include "engine/engine_page.h"
#include "engine/engine_settings.h"
#include "evaluator/evaluator.h"
#include "muster/result.h"
#include "spawn/start/limited_command.h"

namespace muster {

struct EngineOptions {
  std::string on;                       // --on; empty: not given
  std::string page;                     // --engine: a file; empty: not given
  std::vector<std::string> slurm;       // --slurm NAME=VALUE
  std::vector<std::string> kubernetes;  // --kubernetes NAME=VALUE
  std::vector<std::string> settings;    // --engine-option NAME=VALUE
};

struct EngineChoice {
  EnginePage page;
  std::optional<Allocation> allocation;  // none: this process is in no allocation of it
};

// --on and --engine. The options must live as long as the app.
void AddEngineOptions(CLI::App& app, EngineOptions& options);
// --slurm and --engine-option, for commands that ask an engine for an allocation.
void AddEngineSettings(CLI::App& app, EngineOptions& options);

// The chosen engine; with neither option the one of the allocation that this process is in, unless it was itself
// started by a run of muster, to which the allocation belongs. Nothing: --on local, --on ssh, or no allocation. Kinds
// "usage", "engine", and those of ReadEnginePage and ReadAllocation. The allocation is read once.
Result<std::optional<EngineChoice>> ChosenEngine(const EngineOptions& options);

// The page of an engine: that of the file, if it is not empty, else the program's own of that name. Kinds "usage" and
// those of ReadEnginePage.
Result<EnginePage> EnginePageOf(const std::string& name, const std::string& file);

// Runs a command of an engine with this process's environment less `clear`, at most 30 s.
CommandOutput RunEngineCommand(const std::vector<std::string>& words, const std::vector<std::string>& clear,
                               std::string_view input = {});

// "slurm job 12": where hosts come from, for messages.
std::string AllocationText(const EngineChoice& engine);

// The settings for the engine: command line over recipe over site. Kinds "usage", and those of SettingsOfTable.
Result<EngineSettings> SettingsFor(const EnginePage& page, const EngineOptions& options,
                                   const std::vector<EngineField>& of_recipe);

}  // namespace muster
