// The parent's side of the recipe's questions: opens files below the recipe's folder and nowhere else, and
// records everything that was read as an input of the plan.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/system/unique_fd.h"
#include "evaluation/exchange/evaluation.h"
#include "muster/diagnostic.h"
#include "muster/result.h"
#include "muster/value.h"
#include "tl/expected.hpp"

namespace muster {

// What a recipe may have read: bytes of files and of their names. What is read becomes part of what a run keeps, so one
// evaluation has the first bound; all that read the same recipe, as the trials of a sweep do, share what they read and
// have the second.
inline constexpr std::uint64_t kMostRecipeBytes = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kMostSharedRecipeBytes = std::uint64_t{256} << 20;

struct Input {
  std::string kind;    // "recipe", "file", "variable"; "checkpoint" where one is gone on from
  std::string name;    // path as the recipe named it, or the variable
  std::string sha256;  // of the content; empty for an unset variable, and for a checkpoint

  bool operator==(const Input&) const = default;
};

Value InputsValue(const std::vector<Input>& inputs);

// Whether there is a file or folder of that name below the folder, symbolic links not leading out of it; else one line.
tl::expected<void, std::string> ExistsBelow(const std::string& folder, const std::string& name);

class RecipeFiles {
 public:
  RecipeFiles(RecipeFiles&&) noexcept;
  RecipeFiles& operator=(RecipeFiles&&) noexcept;
  ~RecipeFiles();

  // Whether the recipe's own file may be a link that leads out of its folder, as a site file of the user may.
  enum class Link : std::uint8_t { kInside, kAnywhere };

  // The recipe itself, checked to be a text. Kind "recipe": missing, a directory, binary, compiled Lua, too
  // large, a link that leads out of its folder. "@torch" is muster's own recipe of that name, and the current folder is
  // its folder. `libraries` are what names that begin with '@' are read from.
  static Result<RecipeFiles> Open(const std::string& recipe_file,
                                  const std::map<std::string, LibraryPlace>& libraries = {}, Link link = Link::kInside);

  // The same recipe for another plan: nothing has been read for that but the recipe itself. All that come from one
  // another share what any of them has read, so they see a recipe as it was, whoever changes its files meanwhile.
  RecipeFiles Again() const;

  const std::string& recipe_text() const;
  const std::string& folder() const;  // absolute

  // A file's content, or one line that says why not. Symbolic links may not lead out of the folder, or the library. A
  // file that was read before is what it was then.
  tl::expected<std::string, std::string> Read(const std::string& name);
  // Whether it is a file or folder below the recipe's.
  tl::expected<void, std::string> Exists(const std::string& name);
  // The same below another folder.
  tl::expected<void, std::string> ExistsBelow(const std::string& other, const std::string& name);
  // Where the file is, as it is shown for a recipe in `folder`.
  std::string ShownPath(const std::string& folder, const std::string& name) const;
  void RecordVariable(const std::string& name, const char* value);
  // Kind "limit", once something was not read because there would have been too much of it.
  const std::optional<Diagnostic>& exceeded() const { return exceeded_; }

  const std::vector<Input>& inputs() const { return inputs_; }
  // Path below the recipe's folder -> bytes, the recipe included: what a run directory keeps.
  const std::map<std::string, std::string>& sources() const { return sources_; }

 private:
  struct Shared;

  explicit RecipeFiles(std::shared_ptr<Shared> shared);
  static Result<RecipeFiles> OpenRecipe(const std::string& recipe_file, Link link);
  static Result<RecipeFiles> OpenOwn(const std::string& recipe_file);
  static Result<RecipeFiles> Of(const std::string& recipe_file, std::string text, std::string folder,
                                const std::string& kept_as);

  // The folder of the library that the name begins with, and the rest of the name; nothing if it names none.
  std::optional<std::pair<std::string, std::string>> InLibrary(const std::string& name) const;
  tl::expected<std::string, std::string> ReadNew(const std::string& name);
  // Whether so many bytes, and an entry for them, may be had; `anew`: they are not shared yet.
  bool Take(std::uint64_t bytes, bool anew);

  std::shared_ptr<Shared> shared_;
  std::vector<Input> inputs_;
  std::map<std::string, std::string> sources_;
  std::uint64_t taken_ = 0;
  std::optional<Diagnostic> exceeded_;
};

}  // namespace muster
