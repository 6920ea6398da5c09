// Tests what the lines of documented_lines.txt start, and that docs/coming-from.md lists every option.
#include <algorithm>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "base/values/quoting.h"
#include "launchers/launcher_options.h"
#include "launchers/read_line.h"
#include "support/file_content.h"
#include "support/golden.h"

namespace muster::testing {
namespace {

std::string InSources(const std::string& name) { return ContentOf(std::string(MUSTER_SOURCE_DIR) + "/" + name); }

std::string ValueOf(const CallWord& word) {
  if (!word.number) return word.text;
  constexpr const char* kNumbers[] = {"RANK", "LOCAL", "WORLD", "HOST", "INDEX", "LISTED"};
  std::string text = word.text + "<" + kNumbers[static_cast<std::size_t>(*word.number)];
  if (word.added != 0) text += (word.added < 0 ? "" : "+") + std::to_string(word.added);
  return text + ">" + word.after;
}

std::string Described(const LauncherCall& call) {
  std::ostringstream text;
  text << "  " << call.framework << ", ";
  if (call.total) {
    text << *call.total << " workers";
    if (call.per_host) text << ", at most " << *call.per_host << " a host";
  } else if (call.per_host) {
    text << *call.per_host << " workers a host";
  } else {
    text << "a worker a device";
  }
  text << ", " << call.hosts << (call.hosts == 1 ? " host" : " hosts");
  if (call.servers > 0) text << ", " << call.servers << " servers";
  if (call.restarts > 0) text << ", " << call.restarts << " restarts";
  text << "; processes: " << ProcessesOfPlan(call) << "\n  command:";
  for (const CallWord& word : call.command) text << " " << ShellQuoted(ValueOf(word));
  text << "\n";
  if (!call.env.empty() || !call.unset.empty()) text << "  env:";
  for (const auto& [name, value] : call.env) text << " " << name << "=" << ShellQuoted(ValueOf(value));
  for (const std::string& name : call.unset) text << " -" << name;
  if (!call.env.empty() || !call.unset.empty()) text << "\n";
  if (!call.wrap.empty()) text << "  wrap: " << ShellQuoted(call.wrap) << "\n";
  if (!call.cores.empty()) text << "  cores: " << call.cores << "\n";
  if (!call.cwd.empty()) text << "  cwd: " << call.cwd << "\n";
  if (call.folder) text << "  cwd: " << ValueOf(*call.folder) << "\n";
  if (!call.rank_table.empty()) text << "  table: " << call.rank_table << "\n";
  if (!call.mpi_args.empty()) text << "  args: " << ShellQuoted(call.mpi_args) << "\n";
  for (const auto& [option, what_it_did] : call.left_out)
    text << "  left out: " << option << ": " << what_it_did << "\n";
  return text.str();
}

// Prevents: a command line from a launcher's documentation is refused, or starts something else.
TEST(DocumentedLines, AreAllUnderstood) {
  const std::string kept = "tests/launchers/documented_lines.txt";
  std::istringstream lines(InSources(kept));
  std::string said;
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ")) continue;
    said += line + "\n";
    if (!line.starts_with("$ ")) continue;
    ++count;
    const auto call = ReadDocumentedLine(line.substr(2));
    ASSERT_TRUE(call.has_value()) << line << "\n" << call.error().front().message << "\n" << call.error().front().hint;
    said += Described(*call);
  }
  EXPECT_GE(count, 40);
  ExpectGolden(said, kept);
}

// The lines of launchers in documented_lines.txt, without those of shell scripts.
std::vector<std::string> LauncherLines() {
  std::istringstream file(InSources("tests/launchers/documented_lines.txt"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("$ ") && LauncherOfLine(line.substr(2)) != "shell") lines.push_back(line.substr(2));
  }
  return lines;
}

// Prevents: a word of the line is dropped without a word. Every word belongs to exactly one rule, and without the words
// of a rule, or with another value, something else would start or be listed as left out.
TEST(DocumentedLines, HaveNoWordWithoutConsequence) {
  // Separators, and a flag that repeats what its line's hosts say.
  const std::set<std::string> implied = {"--", "env", "--pernode"};
  const std::vector<std::string> lines = LauncherLines();
  EXPECT_GE(lines.size(), 60U);
  for (const std::string& line : lines) {
    const auto words = *ShellWords(line);
    const auto launcher = LauncherByName(LauncherOfLine(line));
    ASSERT_TRUE(launcher) << line;
    const auto call = ReadLauncherCall(*launcher, words, ReadTestFile);
    ASSERT_TRUE(call) << line << ": " << call.error().front().message;
    ASSERT_EQ(call->uses.size(), words.size());
    const std::string described = Described(*call);
    const auto changes = [&](const std::vector<std::string>& other) {
      const auto read = ReadLauncherCall(*launcher, other, ReadTestFile);
      return !read || Described(*read) != described;
    };
    int rules = 0;
    for (const WordUse& use : call->uses) rules = std::max(rules, use.rule);
    for (int rule = 1; rule <= rules; ++rule) {
      std::vector<std::string> others, own, altered = words;
      WordUse::Kind kind = WordUse::Kind::kNone;
      for (std::size_t i = 0; i < words.size(); ++i) {
        EXPECT_NE(call->uses[i].kind, WordUse::Kind::kNone) << line << ": " << words[i];
        const bool mine = call->uses[i].rule == rule;
        (mine ? own : others).push_back(words[i]);
        if (!mine) continue;
        kind = call->uses[i].kind;
        altered = words;
        // Options without a value refuse any.
        if (words[i].starts_with('-') && words[i].find('=') == std::string::npos) continue;
        altered[i] = words[i].substr(0, words[i].starts_with('-') ? words[i].find('=') : 0);
        altered[i] += altered[i].empty() ? "7" : "=7";
      }
      if (own.empty() || kind == WordUse::Kind::kLauncher || implied.contains(own.front())) continue;
      EXPECT_TRUE(changes(others) || changes(altered)) << line << ": nothing follows from " << ShellQuoted(own);
    }
  }
}

// Prevents: the page omits a supported option, or promises an unsupported one.
TEST(DocumentedLines, OptionsAreListedInThePageForNewcomers) {
  const std::string kept = "docs/coming-from.md";
  const std::string page = InSources(kept);
  const std::string begin = "<!-- options: written by tools/update-goldens -->\n";
  const std::size_t at = page.find(begin);
  ASSERT_NE(at, std::string::npos);
  ExpectGolden(page.substr(0, at + begin.size()) + "\n" + OptionTables(), kept);
}

}  // namespace
}  // namespace muster::testing
