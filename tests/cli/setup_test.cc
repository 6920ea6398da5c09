// Tests tools/setup and tools/quickstart without changing the machine.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

// `tools/setup --all --dry-run` on a machine that lacks `missing` and whose other packages provide `provided`.
CommandResult SetupWithout(const std::string& missing, const std::string& provided) {
  const TempDir folder;
  const auto program = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << "#!/bin/bash\n" << text;
    std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
  };
  program("apt-get", "exit 99\n");
  program("dpkg-query", "shift 3  # -W -f FORMAT\n(($#)) || printf '%s\\n' 'installed=" + provided +
                            ", ' 'config-files=mail-transport-agent, '\n"
                            "for name; do [[ $name == '" +
                            missing + "' ]] || printf 'installed=%s ' \"$name\"; done\n");
  Command setup;
  setup.argv = {std::string(MUSTER_SOURCE_DIR) + "/tools/setup", "--all", "--dry-run"};
  setup.env = {"PATH=" + folder.path() + ":/usr/bin:/bin"};
  return RunCommand(setup);
}

TEST(Setup, InstallsNoSecondMailServer) {
  for (const char* provided : {"mail-transport-agent", "default-mta, mail-transport-agent (= 8.17), imap-server"}) {
    const CommandResult result = SetupWithout("msmtp-mta", provided);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find("nothing to do"), std::string::npos) << result.out;
  }
}

TEST(Setup, ListsWhatIsMissing) {
  for (const auto& [missing, provided] :
       {std::pair{"msmtp-mta", "imap-server"}, std::pair{"gdb", "gdb, none, mail-transport-agent"}}) {
    const CommandResult result = SetupWithout(missing, provided);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(result.out.starts_with("setup: 1 of ")) << result.out;
    EXPECT_NE(result.out.find(std::string("\n  ") + missing + " "), std::string::npos) << result.out;
  }
}

std::string TextOf(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The names in a list of tools/packages/.
std::set<std::string> PackagesOf(const std::string& list) {
  std::istringstream lines(TextOf(std::string(MUSTER_SOURCE_DIR) + "/tools/packages/" + list + ".txt"));
  std::set<std::string> packages;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) packages.insert(line.substr(0, line.find_first_of(" |")));
  }
  return packages;
}

// The packages that the configuration demands: the last part of "name|…|package", or the second word of a message.
std::set<std::string> DemandedBy(const std::string& cmake) {
  std::set<std::string> packages;
  for (const char* pattern : {R"re("[^"|$]+(?:\|[^"|]+)?\|([a-z][a-z0-9.+-]+)")re",
                              R"re(muster_missing\("?[^"]*"? "([a-z][a-z0-9.+-]+)")re"}) {
    const std::regex demanded(pattern);
    for (std::sregex_iterator it(cmake.begin(), cmake.end(), demanded); it != std::sregex_iterator(); ++it) {
      if (!(*it)[1].str().ends_with(".a"))
        packages.insert((*it)[1]);  // archives are in the packages of their libraries
    }
  }
  return packages;
}

// tools/quickstart installs only base.txt and builds without tests.
TEST(Packages, OfTheBaseListAreEnoughWithoutTests) {
  const std::string cmake = TextOf(std::string(MUSTER_SOURCE_DIR) + "/cmake/Dependencies.cmake");
  const std::size_t tests = cmake.find("if(MUSTER_TESTS)");
  ASSERT_NE(tests, std::string::npos);
  const std::set<std::string> base = PackagesOf("base");
  const std::set<std::string> demanded = DemandedBy(cmake.substr(0, tests));
  EXPECT_GE(demanded.size(), 14U);
  for (const std::string& package : demanded) EXPECT_TRUE(base.contains(package)) << package;
  const std::set<std::string> of_tests = PackagesOf("tests");
  EXPECT_EQ(DemandedBy(cmake.substr(tests)), std::set<std::string>{"libgtest-dev"});
  EXPECT_TRUE(of_tests.contains("libgtest-dev"));
  for (const std::string& package : of_tests) EXPECT_FALSE(base.contains(package)) << package << " is in two lists";
  for (const std::string& package : PackagesOf("all"))
    EXPECT_FALSE(base.contains(package) || of_tests.contains(package)) << package << " is in two lists";
}

// `cmake --install` after tools/quickstart: everything that is installed from the build tree is built by then.
TEST(Quickstart, BuildsWhatIsInstalled) {
  const std::filesystem::path build = std::filesystem::path(MUSTER_BIN_DIR).parent_path();
  if (!std::filesystem::exists(build / "build.ninja")) GTEST_SKIP() << "the build tree is not one of ninja";
  const std::string quickstart = TextOf(std::string(MUSTER_SOURCE_DIR) + "/tools/quickstart");
  std::smatch targets;
  ASSERT_TRUE(std::regex_search(quickstart, targets, std::regex("\ncmake --build build/release --target ([^\n]+)\n")));
  Command ninja;
  ninja.argv = {"/bin/sh", "-c", "exec ninja -C \"$0\" -t commands " + targets[1].str(), build.string()};
  const CommandResult result = RunCommand(ninja);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::set<std::string> built;  // words of these commands: what they write is among them
  std::istringstream words(result.out);
  for (std::string word; words >> word;) built.insert((build / word).lexically_normal());

  const std::regex from_build("FILES ((?:\"[^\"]*\" ?)+)");
  const std::regex quoted("\"([^\"]*)\"");
  int installed = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(build)) {
    if (entry.path().filename() != "cmake_install.cmake") continue;
    const std::string text = TextOf(entry.path());
    for (std::sregex_iterator files(text.begin(), text.end(), from_build); files != std::sregex_iterator(); ++files) {
      const std::string names = (*files)[1];
      for (std::sregex_iterator name(names.begin(), names.end(), quoted); name != std::sregex_iterator(); ++name) {
        const std::string path = (*name)[1];
        if (!path.starts_with(build.string() + "/")) continue;
        ++installed;
        EXPECT_TRUE(built.contains(path)) << path << " is installed, but tools/quickstart does not build it";
      }
    }
  }
  EXPECT_GE(installed, 8);  // four programs, a manual page, three completions
}

// Prevents: messages name pages that an installed muster does not have.
TEST(Install, CopiesTheGuidesAndTheirPictures) {
  const TempDir prefix;
  Command install;
  install.argv = {"cmake", "-DCMAKE_INSTALL_PREFIX=" + prefix.path(), "-P",
                  (std::filesystem::path(MUSTER_BIN_DIR).parent_path() / "src/reference/cmake_install.cmake").string()};
  install.env = {"PATH=/usr/bin:/bin"};
  const CommandResult result = RunCommand(install);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(MUSTER_SOURCE_DIR) / "docs")) {
    if (entry.is_directory()) continue;
    EXPECT_TRUE(
        std::filesystem::exists(std::filesystem::path(prefix.path()) / "share/doc/muster" / entry.path().filename()))
        << entry.path();
  }
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(prefix.path()) / "share/doc/muster/decisions"));
  EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(prefix.path()) / "share/muster/meta/engines.lua"));
}

}  // namespace
}  // namespace muster::testing
