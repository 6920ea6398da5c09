#include "cli/plan/golden_cases.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/values/shell_quote.h"
#include "cli/command/small_file.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

// Regular files below a folder, by name; `enter` returns whether to descend into a folder.
template <class Enter>
std::vector<fs::path> FilesBelow(const fs::path& folder, Enter enter) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    const fs::path path = entries->path().lexically_normal();
    std::error_code unknown;
    if (entries->is_symlink(unknown)) continue;
    if (entries->is_directory(unknown)) {
      if (!enter(path)) entries.disable_recursion_pending();
    } else if (entries->is_regular_file(unknown)) {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool IsCaseName(const std::string& name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), fits);
}

}  // namespace

std::vector<std::string> LuaFilesBelow(const std::string& folder) {
  const fs::path base = fs::path(folder).lexically_normal();
  const auto enter = [&base](const fs::path& below) {
    std::error_code error;
    const bool is_run = fs::exists(below / kJournalEntry.name, error) && fs::exists(below / kPlanEntry.name, error);
    return !is_run && below.lexically_relative(base) != kGoldenFolder && !below.filename().string().starts_with('.');
  };
  std::vector<std::string> names;
  for (const fs::path& file : FilesBelow(folder, enter)) {
    if (file.extension() == ".lua" && !file.filename().string().starts_with('.')) {
      names.push_back(file.lexically_relative(base));
    }
  }
  return names;
}

std::vector<std::string> LuaFilesHere() { return LuaFilesBelow("."); }

std::string GoldenName(const std::string& recipe) { return fs::path(recipe).replace_extension(); }

Result<std::vector<GoldenCase>> WrittenCases(const std::string& recipe) {
  std::vector<GoldenCase> cases;
  const std::string stem = GoldenName(recipe);
  const std::string file = std::string(kGoldenFolder) + "/" + stem + ".cases";
  std::error_code error;
  if (!fs::exists(file, error)) return cases;
  auto text = ReadSmallFileHere(file);
  if (!text) return Fail(Error("cases", {file, 0}, text.error()));
  Diagnostics problems;
  std::set<std::string> names;
  std::istringstream lines(*text);
  std::uint32_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    const std::size_t colon = line.find(':');
    const std::string name = line.substr(begin, colon == std::string::npos ? colon : colon - begin);
    const auto refuse = [&](const std::string& message, const std::string& hint) {
      problems.push_back(Error("cases", {file, number}, message, hint));
    };
    if (colon == std::string::npos) {
      refuse("there is no ':' after the name of the case", "four-stages: pipeline_stages=4 --host n[1-4]:8");
      continue;
    }
    if (!IsCaseName(name)) {
      refuse(Quoted(name) + " is not a case name", "letters, digits, '_' and '-'");
      continue;
    }
    if (!names.insert(name).second) {
      refuse("there are two cases " + Quoted(name), "");
      continue;
    }
    auto words = ShellWords(line.substr(colon + 1));
    if (!words) {
      refuse(words.error(), "words are quoted as in a shell");
      continue;
    }
    cases.push_back({stem + "." + name, recipe, *std::move(words), {file, number}});
  }
  if (!problems.empty()) return Fail(std::move(problems));
  return cases;
}

std::vector<std::string> StaleGoldens(const std::set<std::string>& cases, const std::vector<std::string>& recipes) {
  std::set<std::string> stems;
  for (const std::string& recipe : recipes) stems.insert(GoldenName(recipe));
  std::vector<std::string> stale;
  for (const fs::path& file : FilesBelow(kGoldenFolder, [](const fs::path&) { return true; })) {
    const std::string extension = file.extension();
    const std::string name = fs::path(file.lexically_relative(kGoldenFolder)).replace_extension();
    const bool kept = extension == ".plan" || extension == ".err";
    if ((kept && !cases.contains(name)) || (extension == ".cases" && !stems.contains(name))) stale.push_back(file);
  }
  return stale;
}

}  // namespace muster
