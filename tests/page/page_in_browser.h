// Writes pages with muster report --html and has them opened in a real browser: Debian's Chromium, headless, with an
// empty profile and without a network. Screenshots are kept in $MUSTER_SCREENSHOTS, if that is set.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/command.h"
#include "support/temp_dir.h"

namespace muster::testing {

class PageInBrowser : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* program : {"/usr/bin/chromedriver", "/usr/bin/chromium", "/usr/bin/python3"}) {
      if (!std::filesystem::exists(program)) GTEST_SKIP() << program << " is missing (chromium, chromium-driver)";
    }
  }

  CommandResult Muster(std::vector<std::string> words, std::vector<std::string> variables = {},
                       const std::string& path = "/usr/bin:/bin") const {
    words.insert(words.begin(), MusterProgram());
    variables.insert(variables.end(), {"PATH=" + path, "MUSTER_HOME=" + folder_ / "home",
                                       "MUSTER_LEASES=" + folder_ / "leases", "MUSTER_HOST_DEVICES=2"});
    return RunCommand({.argv = std::move(words), .env = std::move(variables), .cwd = folder_.path()});
  }

  // Writes the page of these runs or sweeps and has its parts checked.
  void Check(const std::string& kind, std::vector<std::string> words, const std::string& program = "check_page.py") {
    const std::string page = folder_ / (kind + ".html");
    words.insert(words.begin(), "report");
    words.insert(words.end(), {"--html", page});
    const CommandResult written = Muster(words);
    ASSERT_EQ(written.exit_code, 0) << written.err;
    EXPECT_EQ(written.out, page + "\n");
    struct stat status {};
    ASSERT_EQ(::stat(page.c_str(), &status), 0);
    EXPECT_LT(status.st_size, 3'000'000);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
    CheckPage(kind, page, program);
  }

  void CheckPage(const std::string& kind, const std::string& page, const std::string& program) const {
    const char* kept = std::getenv("MUSTER_SCREENSHOTS");
    const std::string screenshots = kept != nullptr ? kept : folder_.path();
    std::filesystem::create_directories(screenshots);
    const CommandResult checked = RunCommand(
        {.argv = {"/usr/bin/python3", "-B", MUSTER_SOURCE_DIR "/tests/page/" + program, kind, page, screenshots},
         .env = {"PATH=/usr/bin:/bin", "TMPDIR=" + folder_.path()}});
    EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  }

  TempDir folder_;
};

}  // namespace muster::testing
