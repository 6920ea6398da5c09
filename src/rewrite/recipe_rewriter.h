// Rewrites a recipe for a MindSpore release: deprecated calls of the context API become calls of the functions that
// replace them, where both mean the same, and the recipe names the release. Comments, order and layout are kept.
// Rewriting the result changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"
#include "rewrite/moved_settings.h"

namespace muster {

// Rewrites a recipe for a MindSpore release: deprecated calls of the context API become calls of the functions that
// replace them, where both mean the same, and the recipe names the release. Comments, order and layout are kept.
// Rewriting the result changes nothing.

struct RewrittenSetting {
  std::uint32_t line = 0;  // in the text before
  std::string what;        // "max_device_memory"
  std::string to;          // "mindspore.runtime.set_memory with max_size"
};

struct Rewriting {
  std::string text;
  std::vector<RewrittenSetting> moved;
  std::vector<LeftSetting> left;
  bool names_release = false;  // the recipe's field mindspore was changed
};

// `file` is named in diagnostics. Kind "syntax": the text is no Lua, or too large.
Result<Rewriting> RewriteRecipe(std::string_view text, const std::string& file, const RewriteTarget& target);

}  // namespace muster
