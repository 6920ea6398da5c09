// Fuzzes the rewriting of recipes: the text is refused, or the result is Lua that a second rewriting does not change.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lua/state/own_data.h"
#include "rewrite/recipe_rewriter.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const muster::Schema schema = muster::OwnSchema().value();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  muster::RewriteTarget target;
  target.schema = &schema;
  target.release = target.own_release = {2, 7, 0, muster::Release::kFinal};
  target.release_text = "2.7";
  const auto once = muster::RewriteRecipe(text, "recipe.lua", target);
  if (!once) return 0;
  const auto twice = muster::RewriteRecipe(once->text, "recipe.lua", target);
  if (!twice || twice->text != once->text || !twice->moved.empty()) std::abort();
  return 0;
}
