// The edits that turn settings of one call into calls of functions before it, with the comments that belong to them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rewrite/moved_settings.h"
#include "rewrite/text_edits.h"

namespace muster {

struct CallEdits {
  std::vector<TextEdit> edits;
  bool nothing_left = false;  // no setting of the call stays, and it goes as well
};

// `moved` are settings of `call`, at least one, in the order of the text; `module` is the name under which the
// functions are called.
CallEdits EditsOfCall(const LuaTree& tree, std::string_view text, const ContextCall& call,
                      const std::vector<const OldSetting*>& moved, const std::string& module);

// "\r\n" if the first line of the text ends with it, else "\n".
std::string LineEndOf(std::string_view text);

// The blanks before `at` on its line; nothing if something else is there.
std::optional<std::string_view> IndentOf(std::string_view text, std::size_t at);

// Behind the blanks, and the comments of `tree`, that follow `at` on its line.
std::size_t BehindLineRest(const LuaTree& tree, std::string_view text, std::size_t at);
// Whether a line ends at `at`, or the text.
bool EndsLine(std::string_view text, std::size_t at);

}  // namespace muster
