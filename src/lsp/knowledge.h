// Completion, hover and definitions at a cursor: from the types of the recipe API, the schema of the context API for
// the recipe's release, the documentation's pages, and the last evaluation of the recipe. Values to values; evaluates
// nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evaluator/evaluator.h"
#include "lsp/api_types.h"
#include "lsp/cursor.h"
#include "muster/mindspore/schema.h"
#include "reference/page.h"

namespace muster {

// What the documentation has for a release, or for all of them. Its owner keeps it alive.
struct ReferenceView {
  const Schema* schema = nullptr;
  const Topics* topics = nullptr;
  std::optional<Release> release;
};

// What is known about an open recipe.
struct RecipeView {
  ReferenceView reference;
  const ApiTypes* types = nullptr;
  const RecipeOutline* outline = nullptr;                   // of the current text
  const std::vector<ParameterState>* parameters = nullptr;  // of the last evaluation that gave any; or null
  const Evaluation* evaluation = nullptr;                   // the last one that gave a plan; or null
};

struct Suggestion {
  enum class Kind : std::uint8_t { kField, kFunction, kValue, kVariable };
  std::string label;
  std::string inserted;  // instead of the cursor's `typed`
  Kind kind = Kind::kField;
  std::string type;
  std::string doc;  // Markdown
};

// At most kMaxSuggestions, in the order in which the API declares them.
inline constexpr std::size_t kMaxSuggestions = 1'000;
std::vector<Suggestion> SuggestionsAt(const Cursor& cursor, const RecipeView& view);

// Markdown for the name or value under the cursor; empty for none.
std::string HoverAt(const Cursor& cursor, const RecipeView& view);

// Where the thing under the cursor is declared: in the same text, at a place, or a file that a recipe names.
struct Definition {
  std::optional<std::pair<std::size_t, std::size_t>> here;  // offsets of begin and end
  Place place;
  std::string name;  // what stands there
  std::string file;  // "gpt.lua", "@acme/gpt", "lib/optim.lua": below the recipe's folder, or in a library
};
std::optional<Definition> DefinitionAt(const Cursor& cursor, const RecipeView& view);

}  // namespace muster
