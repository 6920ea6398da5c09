// Tests hostile and broken recipes: each must end with clean errors, write nothing, leave no process, and print nothing
// that could deceive a terminal. The first lines of each recipe state what is expected:
//
//   -- expect: KIND|KIND …     kinds of which one error must be
//   -- message: TEXT           part of that error's message
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/values/diagnostics.h"
#include "evaluator/evaluator.h"
#include "support/command.h"
#include "support/places.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

struct Expectation {
  std::set<std::string> kinds;
  std::string message;
};

Expectation ExpectationOf(const fs::path& recipe) {
  Expectation expected;
  std::ifstream file(recipe);
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view kExpect = "-- expect: ";
    constexpr std::string_view kMessage = "-- message: ";
    if (line.starts_with(kExpect)) {
      std::istringstream kinds(line.substr(kExpect.size()));
      for (std::string kind; std::getline(kinds, kind, '|');) expected.kinds.insert(kind);
    } else if (line.starts_with(kMessage)) {
      expected.message = line.substr(kMessage.size());
    } else {
      break;
    }
  }
  return expected;
}

EvaluationOptions OptionsFor(const std::string& recipe, std::uint64_t wall_ms) {
  EvaluationOptions options;
  options.recipe_file = recipe;
  options.program = EvaluatorProgram();
  options.limits.wall_ms = wall_ms;
  return options;
}

std::vector<std::string> Listing(const fs::path& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    paths.push_back(entry.path().string() + " " + std::to_string(entry.is_regular_file() ? entry.file_size() : 0));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string Reported(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics)
    text += "[" + diagnostic.kind + "] " + DiagnosticText(diagnostic, nullptr);
  return text;
}

void ExpectNoChildLeft() {
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD) << "an evaluator was left behind";
}

void ExpectHarmless(const std::string& text) {
  EXPECT_LT(text.size(), 100'000U);
  for (const char c : text) EXPECT_TRUE(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20) << text;
}

// A copy of the folder, with files that recipes try to misuse.
class Recipes {
 public:
  Recipes() {
    for (const auto& entry : fs::directory_iterator(fs::path(MUSTER_SOURCE_DIR) / "tests/hostile")) {
      if (entry.path().extension() == ".lua") fs::copy_file(entry.path(), folder_ / entry.path().filename().string());
    }
    std::ofstream(folder_ / "bytecode.lua", std::ios::binary) << "\x1bLJ\x02\x02" << std::string(40, '\x07');
    fs::create_symlink("/etc/hostname", folder_ / "link_out.lua");
  }
  std::string operator/(const std::string& name) const { return folder_ / name; }
  std::string path() const { return folder_.path(); }
  std::vector<fs::path> all() const {
    std::vector<fs::path> recipes;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (!ExpectationOf(entry.path()).kinds.empty()) recipes.push_back(entry.path());
    }
    std::sort(recipes.begin(), recipes.end());
    return recipes;
  }

 private:
  TempDir folder_;
};

void ExpectCleanError(const fs::path& recipe) {
  const Expectation expected = ExpectationOf(recipe);
  // Endless recipes get a short time limit, so that the test does not wait longer than needed.
  const bool endless = expected.kinds == std::set<std::string>{"limit"} && expected.message.empty();
  const auto evaluation = EvaluateRecipe(OptionsFor(recipe, endless ? 400 : 120'000));
  ExpectNoChildLeft();
  ASSERT_FALSE(evaluation) << "it was evaluated";
  const Diagnostics& diagnostics = evaluation.error();
  ASSERT_TRUE(HasErrors(diagnostics));
  ExpectHarmless(Reported(diagnostics));
  const auto found = std::find_if(diagnostics.begin(), diagnostics.end(), [&](const Diagnostic& diagnostic) {
    return expected.kinds.contains(diagnostic.kind) && diagnostic.message.find(expected.message) != std::string::npos;
  });
  ASSERT_NE(found, diagnostics.end()) << Reported(diagnostics);
  EXPECT_EQ(found->blame, Blame::kRecipe);
  EXPECT_FALSE(found->message.empty());
  // Errors about a plan as a whole have no line; all others do.
  if (found->kind == "plan_invalid") return;
  EXPECT_EQ(found->place.file, recipe.string()) << Reported(diagnostics);
  // Memory may run out before any line is recorded.
  const bool line_due = found->kind != "no_recipe" && found->message.find("MiB of memory") == std::string::npos;
  EXPECT_TRUE(found->place.line > 0 || !line_due) << Reported(diagnostics);
}

constexpr std::size_t kShards = 6;

class HostileRecipes : public ::testing::TestWithParam<std::size_t> {};

TEST_P(HostileRecipes, AreCleanErrors) {
  const Recipes recipes;
  const std::vector<std::string> before = Listing(recipes.path());
  const std::vector<fs::path> all = recipes.all();
  EXPECT_GE(all.size(), 60U);
  for (std::size_t i = GetParam(); i < all.size(); i += kShards) {
    SCOPED_TRACE(all[i].filename());
    ExpectCleanError(all[i]);
  }
  EXPECT_EQ(Listing(recipes.path()), before) << "something was written";
  EXPECT_FALSE(fs::exists("/tmp/muster-was-here"));
}

INSTANTIATE_TEST_SUITE_P(All, HostileRecipes, ::testing::Range<std::size_t>(0, kShards));

Diagnostic OnlyError(const std::string& recipe) {
  const auto evaluation = EvaluateRecipe(OptionsFor(recipe, 120'000));
  ExpectNoChildLeft();
  if (evaluation || evaluation.error().size() != 1) {
    ADD_FAILURE() << recipe << ": " << (evaluation ? "evaluated" : Reported(evaluation.error()));
    return {};
  }
  ExpectHarmless(Reported(evaluation.error()));
  return evaluation.error().front();
}

TEST(NoRecipes, AreRefusedWithOneLine) {
  const TempDir folder;
  const auto file = [&](const std::string& name, const std::string& content) {
    std::ofstream(folder / name, std::ios::binary) << content;
    return folder / name;
  };
  ASSERT_EQ(::mkfifo((folder / "fifo.lua").c_str(), 0600), 0);
  fs::create_symlink("loop.lua", folder / "loop.lua");
  fs::create_symlink("nowhere.lua", folder / "dangling.lua");
  const std::string large(17U << 20, '-');
  const std::pair<std::string, std::string> cases[] = {
      {folder / "missing.lua", "there is no such file in"},
      {"", "there is no such file in"},
      {folder.path(), "it is a directory"},
      {file("binary.lua", std::string("return \0 1", 10)), "binary file"},
      {file("elf.lua",
            "\x7f"
            "ELF\x02\x01\x01"),
       ""},
      {file("latin1.lua", "-- caf\xe9\nreturn 1"), "is not UTF-8"},
      {file("utf16.lua", std::string("\xff\xfer\0e\0", 6)), "it is UTF-16"},
      {file("bytecode.lua", "\x1bLJ\x02\x02"), "compiled Lua"},
      {file("puc.luac", "\x1bLua\x51"), "compiled Lua"},
      {file("large.lua", large), "larger than 16 MiB"},
      {folder / "fifo.lua", "not a regular file"},
      {"/dev/zero", "not a regular file"},
      {"/dev/null", "not a regular file"},
      {"/proc/self/mem", ""},
      {folder / "loop.lua", "symbolic links"},
      {folder / "dangling.lua", "a link to \"nowhere.lua\", which does not exist"},
      {folder / "binary.lua/inside.lua", "Not a directory"},
      {std::string(5000, 'x'), "too long"},
  };
  for (const auto& [path, message] : cases) {
    SCOPED_TRACE(path.substr(0, 100));
    const Diagnostic error = OnlyError(path);
    EXPECT_NE(error.message.find(message), std::string::npos) << error.message;
    EXPECT_EQ(error.place.file, path);
    EXPECT_EQ(error.blame, Blame::kRecipe);
  }
}

TEST(NoRecipes, AreDistinguishedFromEmptyOnes) {
  const TempDir folder;
  std::ofstream(folder / "empty.lua").flush();
  EXPECT_EQ(OnlyError(folder / "empty.lua").message, "the file returns no recipe");
  std::ofstream(folder / "shebang.lua") << "#!/usr/bin/env muster\nreturn 1";
  EXPECT_EQ(OnlyError(folder / "shebang.lua").kind, "no_recipe") << "a first line with #! is Lua's to skip";
}

}  // namespace
}  // namespace muster::testing
