// Tests muster(1): it covers all commands and options, and renders without warnings.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

// Maps "muster COMMAND" to its long options, as listed by the overview and --help.
std::map<std::string, std::set<std::string>> CommandsAndOptions() {
  std::map<std::string, std::set<std::string>> found;
  std::istringstream overview(Muster({"--help"}).out);
  const std::regex is_command("^  ([a-z-]+) +[a-z].*");
  std::smatch match;
  for (std::string line; std::getline(overview, line);) {
    if (!std::regex_match(line, match, is_command)) continue;
    std::set<std::string>& options = found[match[1]];
    std::istringstream help(Muster({match[1], "--help"}).out);
    const std::regex is_option("^  (-[a-zA-Z],)?(--[a-z-]+).*");
    std::smatch option;
    for (std::string said; std::getline(help, said);) {
      if (std::regex_match(said, option, is_option)) options.insert(option[2]);
    }
    options.erase("--help");
  }
  return found;
}

TEST(ManPage, NamesEveryCommandAndEachOfItsOptions) {
  const CommandResult page = Muster({"docs", "--man"});
  ASSERT_EQ(page.exit_code, 0) << page.err;
  const auto commands = CommandsAndOptions();
  EXPECT_GE(commands.size(), 20U);
  EXPECT_TRUE(commands.at("run").contains("--detach"));
  std::size_t options_named = 0;
  for (const auto& [command, options] : commands) {
    const std::string title = ".SS muster " + std::regex_replace(command, std::regex("-"), "\\-");
    const std::size_t begin = std::min(page.out.find(title + "\n"), page.out.find(title + " "));
    ASSERT_NE(begin, std::string::npos) << command;
    const std::string section = page.out.substr(begin, page.out.find("\n.S", begin + 1) - begin);
    for (const std::string& option : options) {
      const std::string escaped = std::regex_replace(option, std::regex("-"), "\\-");
      EXPECT_NE(section.find(escaped + "\\fR"), std::string::npos) << command << " " << option << "\n" << section;
      ++options_named;
    }
  }
  EXPECT_GT(options_named, 80U);
}

TEST(ManPage, NamesSiteFilesAndTheOptionsForThem) {
  const std::string page = Muster({"docs", "--man"}).out;
  for (const char* said : {".B MUSTER_SITE\n", "muster.site.lua", "/muster/site.lua", "/etc/muster/site.lua"})
    EXPECT_NE(page.find(said), std::string::npos) << said;
  const std::size_t run = page.find(".SS muster run");
  EXPECT_LT(page.find("\\-\\-site\\fR \\fIFILE|none", run), page.find("\n.SS", run + 1));
  const std::size_t docs = page.find(".SS muster docs");
  EXPECT_GT(page.find("\\-\\-site\\fR", docs), page.find("\n.SS", docs + 1)) << "it asks no site file";
}

TEST(ManPage, RendersWithoutWarnings) {
  if (!std::filesystem::exists("/usr/bin/groff")) GTEST_SKIP() << "there is no groff here";
  const TempDir folder;
  const std::string page = folder / "muster.1";
  std::ofstream(page) << Muster({"docs", "--man"}).out;
  for (const char* device : {"-Tutf8", "-Tascii"}) {
    Command groff;
    groff.argv = {"groff", "-ww", "-man", device, "-rLL=90n", "-P-cbou", page};
    const CommandResult result = RunCommand(groff);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "") << device;
    for (const char* said :
         {"NAME", "EXIT STATUS", "muster explain recipes/pipeline.lua FIRST_LAYER --rank 5", "--devices LIST|free",
          "Example: muster test recipes --update && git diff recipes/golden"}) {
      EXPECT_NE(result.out.find(said), std::string::npos) << said << "\n" << result.out;
    }
  }
}

TEST(ManPage, IsBuiltAlongWithTheCompletionScripts) {
  const std::string share = std::filesystem::path(MUSTER_BIN_DIR).parent_path() / "share";
  const auto content = [&](const std::string& name) {
    std::ifstream file(share + "/" + name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(content("man/man1/muster.1"), Muster({"docs", "--man"}).out);
  EXPECT_EQ(content("bash-completion/completions/muster"), Muster({"completion", "bash"}).out);
  EXPECT_EQ(content("fish/vendor_completions.d/muster.fish"), Muster({"completion", "fish"}).out);
  EXPECT_EQ(content("zsh/site-functions/_muster"), Muster({"completion", "zsh"}).out);
}

}  // namespace
}  // namespace muster::testing
