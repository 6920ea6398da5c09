// Placeholders in the text of a shell command: the value reaches the shell as data, whatever quotes surround the
// placeholder.
//
// Pure. Tracks whether the shell would be reading a word, a quoted string or a comment; if that is uncertain, values
// with characters that are special to a shell are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "muster/binding.h"
#include "muster/plan.h"
#include "muster/result.h"

namespace muster {

// Whether the word of a command is a shell text: the word after "/bin/sh" and "-c", as made by muster.shell.
bool IsShellText(const std::vector<Text>& words, std::size_t word);

// One word of a command with its placeholders filled. Fails like FillPlaceholders, and with kind "binding" if a value
// cannot be quoted in the shell text.
Result<std::string> FillWord(const std::vector<Text>& words, std::size_t word, const Binding& binding,
                             std::uint32_t attempt);

}  // namespace muster
