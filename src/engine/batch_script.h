// The batch script that runs a command of muster inside an allocation of an engine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/engine_page.h"
#include "engine/engine_settings.h"
#include "muster/result.h"

namespace muster {

struct BatchJob {
  std::string name;                  // of the job
  std::uint32_t nodes = 1;           // of the allocation, spares included
  std::string folder;                // absolute: where the command runs
  std::vector<std::string> command;  // muster and its words
  std::string note;                  // a comment line; may be empty
  std::string output = {};           // the file for what it prints; empty: as the engine does by default
  std::string notice = {};           // the signal that announces the end, instead of the page's, and without its
                                     // warning; empty: those
  std::uint32_t stop_seconds = 0;    // how long the end of the job may take, with its checkpoint; 0: unknown
};

// The script: directives, first those that it always has, then those of the settings in the order of the page's
// options; then `cd` and the command in the place of the shell. The settings must be checked by that page
// (engine_settings.h); the number of nodes is the job's. Kind "format": the command or folder cannot stand in a script
// (a newline, NUL). Those of NoticeOf().
Result<std::string> BatchScript(const EnginePage& page, const EngineSettings& settings, const BatchJob& job);

// The lines of the settings without the directive, in the order of the page's options. Those that are part of another
// line are added to `into`, by its placeholder.
std::vector<std::string> SettingLines(const EnginePage& page, const EngineSettings& settings, std::uint32_t nodes,
                                      std::map<std::string, std::string, std::less<>>& into);

// The name as every engine takes it: other characters than letters, digits, '.', '_' and '-' become '_', and it begins
// with a letter.
std::string BatchJobName(std::string_view name);

}  // namespace muster
