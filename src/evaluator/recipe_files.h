// The parent's side of the recipe's questions: opens files below the recipe's folder and nowhere else, and records
// every file read as an input of the plan.
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

// Limits of what a recipe may read: bytes of files and of their names. Files that were read are stored with the run, so
// one evaluation has the first limit; all evaluations of the same recipe, such as the trials of a sweep, share their
// files and have the second.
inline constexpr std::uint64_t kMaxRecipeBytes = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kMaxSharedRecipeBytes = std::uint64_t{256} << 20;

struct Input {
  std::string kind;    // "recipe", "file", "variable"; "checkpoint" for the one that is resumed
  std::string name;    // path as named by the recipe, or the variable
  std::string sha256;  // of the content; empty for an unset variable, and for a checkpoint

  bool operator==(const Input&) const = default;
};

Value InputsValue(const std::vector<Input>& inputs);

// Whether the folder has a file or folder of that name, with no symbolic link leading out of it; else one line.
tl::expected<void, std::string> ExistsBelow(const std::string& folder, const std::string& name);

// Texts by absolute path that are read instead of the files: what an editor has not saved yet. Their number of bytes
// counts like that of files.
using UnsavedTexts = std::map<std::string, std::string>;

class RecipeFiles {
 public:
  RecipeFiles(RecipeFiles&&) noexcept;
  RecipeFiles& operator=(RecipeFiles&&) noexcept;
  ~RecipeFiles();

  // Whether the recipe file itself may be a link that leads out of its folder, as a user's site file may.
  enum class Link : std::uint8_t { kInside, kAnywhere };

  // Reads the recipe itself and checks that it is text. Kind "recipe": missing, a directory, binary, compiled Lua, too
  // large, a link that leads out of its folder. "@torch" is muster's own recipe of that name, with the current folder
  // as its folder. Names that begin with '@' are read from `libraries`.
  static Result<RecipeFiles> Open(const std::string& recipe_file,
                                  const std::map<std::string, LibraryPlace>& libraries = {}, Link link = Link::kInside,
                                  std::shared_ptr<const UnsavedTexts> unsaved = nullptr);

  // The same recipe for another plan, for which only the recipe itself counts as read. All copies share the files that
  // any of them has read, so they see the same content even if a file is changed meanwhile.
  RecipeFiles Again() const;

  const std::string& recipe_text() const;
  const std::string& folder() const;  // absolute

  // A file's content, or one line that says why not. Symbolic links may not lead out of the folder, or the library. A
  // file that was read before has the same content again.
  tl::expected<std::string, std::string> Read(const std::string& name);
  // Whether it is a file or folder below the recipe's folder.
  tl::expected<void, std::string> Exists(const std::string& name);
  // The same below another folder.
  tl::expected<void, std::string> ExistsBelow(const std::string& other, const std::string& name);
  // The path of the file, as shown for a recipe in `folder`.
  std::string ShownPath(const std::string& folder, const std::string& name) const;
  void RecordVariable(const std::string& name, const char* value);
  // Kind "limit", if a file was not read because of the limits.
  const std::optional<Diagnostic>& exceeded() const { return exceeded_; }

  const std::vector<Input>& inputs() const { return inputs_; }
  // Path below the recipe's folder -> bytes, including the recipe: stored in the run directory.
  const std::map<std::string, std::string>& sources() const { return sources_; }

 private:
  struct Shared;

  explicit RecipeFiles(std::shared_ptr<Shared> shared);
  static Result<RecipeFiles> OpenRecipe(const std::string& recipe_file, Link link, const UnsavedTexts* unsaved);
  static Result<RecipeFiles> OpenOwn(const std::string& recipe_file);
  static Result<RecipeFiles> Of(const std::string& recipe_file, std::string text, std::string folder,
                                const std::string& kept_as);

  // The folder of the library that the name begins with, and the rest of the name; nothing if it names none.
  std::optional<std::pair<std::string, std::string>> InLibrary(const std::string& name) const;
  tl::expected<std::string, std::string> ReadNew(const std::string& name);
  // Whether so many bytes, and an entry for them, are within the limits; `anew`: they are not shared yet.
  bool Take(std::uint64_t bytes, bool anew);

  std::shared_ptr<Shared> shared_;
  std::vector<Input> inputs_;
  std::map<std::string, std::string> sources_;
  std::uint64_t taken_ = 0;
  std::optional<Diagnostic> exceeded_;
};

}  // namespace muster
