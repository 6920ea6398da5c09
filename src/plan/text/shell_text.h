// Placeholders in the text of a shell command: what fills one arrives in the shell as data, however the text is quoted
// around it.
//
// Pure. Knows where in a text a shell would be reading a word, a quoted string or a comment; where it does not know
// that for certain it says so, and what has a meaning to a shell is not put there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "muster/binding.h"
#include "muster/plan.h"
#include "muster/result.h"

namespace muster {

// Whether the word of a command is the text of a shell: what follows "/bin/sh" and "-c", as muster.shell makes it.
bool IsShellText(const std::vector<Text>& words, std::size_t word);

// One word of a command with its placeholders filled. Fails as FillPlaceholders does, and with kind "binding" where a
// value cannot be put into the text of a shell.
Result<std::string> FillWord(const std::vector<Text>& words, std::size_t word, const Binding& binding,
                             std::uint32_t attempt);

}  // namespace muster
