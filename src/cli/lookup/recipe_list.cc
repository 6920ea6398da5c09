#include "cli/lookup/recipe_list.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/values/json_text.h"
#include "base/values/shell_quote.h"
#include "cli/command/exit_code.h"
#include "cli/command/output_terminal.h"
#include "cli/command/print_diagnostics.h"
#include "cli/command/small_file.h"
#include "cli/command/wait_line.h"
#include "cli/lookup/current_site.h"
#include "cli/lookup/run_list.h"
#include "lua/state/own_data.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 2'000;
constexpr std::uintmax_t kLargest = 1U << 20;

// Whether the text ends like a recipe, judged without running it: it extends or returns one.
bool LooksLikeRecipe(const std::string& text) {
  return text.find(".recipe") != std::string::npos || text.find(".sweep") != std::string::npos ||
         text.find(":extend") != std::string::npos;
}

// Whether the folder is a run directory, which contains copies of recipes.
bool IsRun(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / kJournalEntry.name, ignored);
}

// Files below the folder, relative to it, sorted by path; skips hidden ones and runs.
std::vector<std::string> LuaFilesBelow(const fs::path& folder, bool deep) {
  std::vector<std::string> files;
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(folder, options, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    std::error_code ignored;
    const bool hidden = name.starts_with('.');
    if (it->is_directory(ignored)) {
      if (!deep || hidden || it->is_symlink(ignored) || IsRun(it->path())) it.disable_recursion_pending();
    } else if (!hidden && it->is_regular_file(ignored) && it->path().extension() == ".lua" && name != kSiteFileName) {
      files.push_back(it->path().lexically_relative(folder));
    }
    if (files.size() >= kMostFiles) break;
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The command-line name of a library's file.
std::string WrittenName(const std::string& library, const fs::path& file) {
  return "@" + library + "/" + fs::path(file).replace_extension().string();
}

class Lister {
 public:
  explicit Lister(const CurrentSite& site) : site_(site), waiting_("reading recipes") {}
  ~Lister() { waiting_.Clear(); }
  Lister(const Lister&) = delete;
  Lister& operator=(const Lister&) = delete;

  void Own() {
    for (const std::string& name : OwnRecipeNames()) Add("@" + name, "@" + name, "");
  }

  void Below(const fs::path& folder, bool deep, const std::string& shown) {
    for (const std::string& file : LuaFilesBelow(folder, deep)) AddFile(shown + file, shown + file);
  }

  void Library(const std::string& name, const fs::path& folder) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
      ListedRecipe missing;
      missing.recipe = "@" + name;
      missing.file = folder;
      const auto place = site_.facts.places.find("libraries." + name);
      missing.problems.push_back(Error("recipe", place == site_.facts.places.end() ? Place{} : place->second,
                                       "the folder of the library @" + name + " is not there: " + folder.string()));
      recipes_.push_back(std::move(missing));
      return;
    }
    for (const std::string& file : LuaFilesBelow(folder, true)) {
      AddFile(folder / file, WrittenName(name, file));
    }
  }

  std::vector<ListedRecipe> Take() { return std::move(recipes_); }

 private:
  void AddFile(const fs::path& file, const std::string& written) {
    const auto text = ReadSmallFile(file, kLargest);
    if (text && !LooksLikeRecipe(*text)) return;
    Add(written, file, file);
  }

  void Add(const std::string& written, const std::string& recipe_file, const std::string& file) {
    ListedRecipe listed;
    listed.recipe = written;
    listed.file = file;
    EvaluationOptions options;
    options.recipe_file = recipe_file;
    options.depth = EvaluationDepth::kParameters;
    ApplySite(site_, false, options);
    options.on_wait = [&](unsigned seconds) { waiting_.Show(seconds, written); };
    const auto described = EvaluateRecipe(options);
    if (described) {
      listed.name = described->name;
      listed.doc = described->doc;
      listed.parameters = described->parameters.size();
    } else {
      listed.problems = described.error();
    }
    recipes_.push_back(std::move(listed));
  }

  const CurrentSite& site_;
  WaitLine waiting_;
  std::vector<ListedRecipe> recipes_;
};

// The first line, for a table.
std::string FirstLine(const std::string& text) { return Printable(text.substr(0, text.find('\n'))); }

}  // namespace

Result<std::vector<ListedRecipe>> ListRecipes() {
  const auto site = GetSite();
  if (!site) return Fail(site.error());
  Lister lister(*site);
  lister.Own();
  lister.Below(".", false, "");
  lister.Below("recipes", true, "recipes/");
  for (const auto& [name, folder] : site->facts.libraries) lister.Library(name, folder);
  return lister.Take();
}

std::vector<std::string> LibraryRecipes() {
  std::vector<std::string> recipes;
  const auto site = GetSite();
  if (!site) return recipes;
  for (const auto& [name, folder] : site->facts.libraries) {
    for (const std::string& file : LuaFilesBelow(folder, true)) {
      const auto text = ReadSmallFile(fs::path(folder) / file, kLargest);
      if (text && LooksLikeRecipe(*text)) recipes.push_back(WrittenName(name, file));
    }
  }
  return recipes;
}

void PrintRecipes(const std::vector<ListedRecipe>& recipes) {
  std::vector<std::vector<std::string>> rows = {{"RECIPE", "NAME", "PARAMETERS", "WHAT IT IS"}};
  for (const ListedRecipe& each : recipes) {
    if (each.problems.empty()) {
      rows.push_back(
          {Printable(each.recipe), Printable(each.name), std::to_string(each.parameters), FirstLine(each.doc)});
    } else {
      const Diagnostic& problem = each.problems.front();
      std::string where = problem.place.file;
      if (problem.place.line > 0) where += ":" + std::to_string(problem.place.line);
      rows.push_back({Printable(each.recipe), "", "",
                      "broken: " + Printable(where.empty() ? "" : where + ": ") + FirstLine(problem.message)});
    }
  }
  // A narrow terminal has no room for names: descriptions say more.
  constexpr std::size_t kWide = 110;
  if (OutputColumns(kWide) < kWide) {
    for (std::vector<std::string>& row : rows) row.erase(row.begin() + 1);
  }
  PrintTable(rows);
}

void PrintRecipesJson(const std::vector<ListedRecipe>& recipes) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const ListedRecipe& each : recipes) {
    const bool well = each.problems.empty();
    Json one = {{"recipe", each.recipe},
                {"file", each.file.empty() ? Json(nullptr) : Json(each.file)},
                {"ok", well},
                {"name", well ? Json(each.name) : Json(nullptr)},
                {"doc", well ? Json(each.doc) : Json(nullptr)},
                {"parameters", well ? Json(each.parameters) : Json(nullptr)}};
    one["diagnostics"] = DiagnosticsAsJson(each.problems);
    list.push_back(std::move(one));
  }
  const Json object = {{"format", 1}, {"recipes", std::move(list)}};
  std::printf("%s\n", SerializedJson(object, 2).c_str());
}

int ShowRecipes(bool json) {
  const auto recipes = ListRecipes();
  if (!recipes) return Refuse(recipes.error(), json);
  (json ? PrintRecipesJson : PrintRecipes)(*recipes);
  return kExitOk;
}

}  // namespace muster
