// Recognises which launcher a command line belongs to. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/launcher_options.h"

namespace muster {

// "NAME=VALUE" before a command, as in a shell.
bool IsAssignment(std::string_view word);

// The last part of a path.
inline std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "python", "python3", "/opt/conda/bin/python3.11"
bool IsPython(std::string_view word);

// The number of words, from `at` on, that name the launcher: its program, or `python -u -m MODULE`, `python PROGRAM`,
// and its subcommand. 0 if the launcher is not named there.
std::size_t WordsOfItsName(const LauncherFacts& facts, const std::vector<std::string>& words, std::size_t at);

// The launcher at the front of the words, after assignments. If several share a name, the first one.
std::optional<KnownLauncher> LauncherOfWords(const std::vector<std::string>& words);

}  // namespace muster
