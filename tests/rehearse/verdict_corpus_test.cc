// Tests verdicts on failures that drills make: a life of each class of the table of docs/verdicts.md, with times of
// failures that are drawn (benchmarks/verdict_corpus.py). MUSTER_LONG: ten of each.
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/command.h"
#include "support/places.h"

namespace muster::testing {
namespace {

TEST(VerdictCorpus, IsJudgedAsItsClassesAre) {
  const char* const temporary = std::getenv("TMPDIR");
  const int lives = std::getenv("MUSTER_LONG") == nullptr ? 1 : 10;
  Command command;
  command.argv = {"/usr/bin/python3",
                  MUSTER_SOURCE_DIR "/benchmarks/verdict_corpus.py",
                  "--muster",
                  MusterProgram(),
                  "--lives",
                  std::to_string(lives),
                  "--at-once",
                  "2",
                  "--json"};
  command.env = {"PATH=/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE=1",
                 "TMPDIR=" + std::string(temporary == nullptr ? "/tmp" : temporary)};
  const CommandResult result = RunCommand(command);
  if (result.err.starts_with("unshare: ")) GTEST_SKIP() << "no mount namespace: " << result.err;
  const auto corpus = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_TRUE(corpus.is_object()) << result.out << result.err;
  EXPECT_EQ(corpus["rows"].size(), 12U);
  for (const auto& [name, truth, early, stopped, excluded_early, excluded, others] :
       corpus["rows"].get<std::vector<std::tuple<std::string, std::string, int, int, int, int, int>>>()) {
    // Exceptions at random steps may happen at the same one: on a slow machine there are few between two of them.
    if (name != "exception at random steps") {
      EXPECT_EQ(stopped, truth == "repeats" ? lives : 0) << name << result.out;
    }
    if (truth == "repeats" && name != "exit") {
      EXPECT_EQ(early, stopped) << name << ": after two failures" << result.out;
    }
    if (name == "bad host") {
      EXPECT_EQ(excluded, lives) << result.out;
    }
    if (name == "hang") {
      EXPECT_EQ(others, 0) << "which host hangs is not known" << result.out;
    }
  }
}

}  // namespace
}  // namespace muster::testing
