// Tests the guides in docs: executes every block as a reader would and compares its output with the page.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <gtest/gtest.h>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

struct Block {
  int line = 0;            // of its first line
  std::string language;    // "lua", "console"
  std::string said_of_it;  // the comment before it: "file: hello.lua"
  std::vector<std::string> lines;
};

std::vector<Block> BlocksOf(const std::string& page) {
  std::ifstream file(std::string(MUSTER_SOURCE_DIR) + "/" + page);
  std::vector<Block> blocks;
  bool inside = false;
  std::string comment;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with("```")) {
      if (!inside) blocks.push_back({number + 1, line.substr(3), comment, {}});
      inside = !inside;
      comment.clear();
    } else if (inside) {
      blocks.back().lines.push_back(line);
    } else if (line.starts_with("<!-- ") && line.ends_with(" -->")) {
      comment = line.substr(5, line.size() - 9);
    } else if (!line.empty()) {
      comment.clear();
    }
  }
  return blocks;
}

constexpr std::string_view kLeftOut = "…";

// Whether a line matches the expected one, in which "…" stands for any text.
bool LineIs(std::string_view line, std::string_view expected) {
  const std::size_t gap = expected.find(kLeftOut);
  if (gap == std::string_view::npos) return line == expected;
  if (!line.starts_with(expected.substr(0, gap))) return false;
  const std::string_view rest = expected.substr(gap + kLeftOut.size());
  for (std::size_t at = gap; at <= line.size(); ++at) {
    if (LineIs(line.substr(at), rest)) return true;
  }
  return false;
}

// An expected line of "…" alone stands for any number of lines.
bool LinesAre(const std::vector<std::string>& lines, std::size_t at, const std::vector<std::string>& expected,
              std::size_t next) {
  if (next == expected.size()) return at == lines.size();
  if (expected[next] == kLeftOut) {
    for (std::size_t from = at; from <= lines.size(); ++from) {
      if (LinesAre(lines, from, expected, next + 1)) return true;
    }
    return false;
  }
  return at < lines.size() && LineIs(lines[at], expected[next]) && LinesAre(lines, at + 1, expected, next + 1);
}

// Pages show terminals, on which muster plan prints a summary: adds --summary unless the output is redirected
// or options follow.
std::string AsOnATerminal(std::string command) {
  constexpr std::string_view kPlan = "muster plan ";
  const bool elsewhere = command.find_first_of("|>") != std::string::npos || command.find(" --") != std::string::npos;
  if (command.starts_with(kPlan) && !elsewhere) command.insert(kPlan.size(), "--summary ");
  return command;
}

std::string RunInShell(const std::string& command, const std::string& folder) {
  const std::string bin = std::filesystem::path(MusterProgram()).parent_path();
  Command shell;
  shell.argv = {"/bin/sh", "-c", "{ " + command + "\n} 2>&1"};
  shell.env = {"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + folder};
  shell.cwd = folder;
  return RunCommand(shell).out;
}

void ExpectConsole(const Block& block, const std::string& page, const std::string& folder) {
  for (std::size_t i = 0; i < block.lines.size();) {
    ASSERT_TRUE(block.lines[i].starts_with("$ ")) << page << ":" << block.line + static_cast<int>(i);
    const std::string command = block.lines[i].substr(2);
    std::vector<std::string> expected;
    for (++i; i < block.lines.size() && !block.lines[i].starts_with("$ "); ++i) expected.push_back(block.lines[i]);
    std::vector<std::string> said;
    std::istringstream out(RunInShell(AsOnATerminal(command), folder));
    for (std::string line; std::getline(out, line);) said.push_back(line);
    EXPECT_TRUE(LinesAre(said, 0, expected, 0)) << page << ":" << block.line << ": " << command << "\n" << out.str();
  }
}

class Page : public ::testing::TestWithParam<const char*> {};

TEST_P(Page, IsCorrect) {
  const std::string page = GetParam();
  const TempDir folder;
  // Pages name files of muster's own tree.
  for (const char* name : {"recipes", "examples"}) {
    std::filesystem::create_directory_symlink(std::string(MUSTER_SOURCE_DIR) + "/" + name, folder / name);
  }
  int done = 0;
  for (const Block& block : BlocksOf(page)) {
    if (block.said_of_it.starts_with("not run: ")) continue;
    if (block.language == "console") {
      ExpectConsole(block, page, folder.path());
    } else {
      constexpr std::string_view kFile = "file: ";
      ASSERT_TRUE(block.said_of_it.starts_with(kFile)) << page << ":" << block.line << " is neither run nor a file";
      const std::filesystem::path path = folder / block.said_of_it.substr(kFile.size());
      std::filesystem::create_directories(path.parent_path());
      std::ofstream file(path);
      for (const std::string& line : block.lines) file << line << "\n";
    }
    ++done;
  }
  EXPECT_GE(done, 2);
}

INSTANTIATE_TEST_SUITE_P(Docs, Page,
                         ::testing::Values("README.md", "docs/recipe-guide.md", "docs/recipes.md", "docs/explain.md",
                                           "docs/moving.md", "docs/sweeps.md"),
                         [](const auto& page) {
                           std::string name = std::filesystem::path(page.param).stem();
                           std::erase(name, '-');
                           return name;
                         });

// tools/quickstart builds into build/release and installs nothing.
TEST(Readme, AddsMusterToPathBeforeCallingIt) {
  const std::vector<Block> blocks = BlocksOf("README.md");
  ASSERT_GE(blocks.size(), 2U);
  ASSERT_GE(blocks[0].lines.size(), 2U) << "the first block sets the machine up: for the main job, and for the tests";
  EXPECT_TRUE(blocks[0].lines[0].starts_with("tools/quickstart ")) << blocks[0].lines[0];
  EXPECT_TRUE(blocks[0].lines[1].starts_with("tools/check --all ")) << blocks[0].lines[1];
  const TempDir folder;
  std::filesystem::create_directories(folder / "build/release/bin");
  std::filesystem::create_symlink(MusterProgram(), folder / "build/release/bin/muster");
  Command shell;
  std::string script;
  for (const std::string& line : blocks[1].lines) script += line + "\n";
  shell.argv = {"/bin/sh", "-ec", script};
  shell.env = {"PATH=/usr/bin:/bin", "HOME=" + folder.path()};
  shell.cwd = folder.path();
  const CommandResult result = RunCommand(shell);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with("muster")) << result.out;
}

TEST(PageReader, DistinguishesOmittedFromWrongLines) {
  EXPECT_TRUE(LineIs("a 12 b", "a … b"));
  EXPECT_FALSE(LineIs("a 12 c", "a … b"));
  EXPECT_TRUE(LinesAre({"a", "b", "c"}, 0, {"a", "…", "c"}, 0));
  EXPECT_TRUE(LinesAre({"a", "c"}, 0, {"a", "…", "c"}, 0));
  EXPECT_FALSE(LinesAre({"a", "b"}, 0, {"a"}, 0));
  EXPECT_FALSE(LinesAre({"a"}, 0, {"a", "b"}, 0));
}

}  // namespace
}  // namespace muster::testing
