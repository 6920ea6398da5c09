// Tests the pages of small sweeps of many kinds (tests/page/example_sweeps.py) in a real browser
// (tests/page/check_sweeps.py): what they show, and that it fits at both widths, light and dark.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "page/page_in_browser.h"
#include "page/written_sweep.h"

namespace muster {
namespace {

using testing::PageInBrowser;

class SweepPages : public PageInBrowser, public ::testing::WithParamInterface<const char*> {};

TEST_P(SweepPages, ShowWhatTheyAreMadeOf) {
  const std::string kind = GetParam();
  const testing::CommandResult made =
      testing::RunCommand({.argv = {"/usr/bin/python3", "-B", MUSTER_SOURCE_DIR "/tests/page/example_sweeps.py",
                                    testing::MusterProgram(), folder_.path(), kind},
                           .env = testing::WithoutAsTheSuite({"PATH=/usr/bin:/bin"})});
  ASSERT_EQ(made.exit_code, 0) << made.out << made.err;
  CheckPage(kind, folder_ / (kind + ".html"), "check_sweeps.py");
}

INSTANTIATE_TEST_SUITE_P(Kinds, SweepPages,
                         ::testing::Values("one", "none", "failed", "conditional", "long", "objectives", "seeds",
                                           "repeated", "resumed", "single", "smooth", "median", "stopped", "choices",
                                           "signs"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_F(PageInBrowser, FitsThreeThousandTrials) {
  std::filesystem::create_directory(folder_ / "many");
  testing::WriteSweep(folder_ / "many", {.trials = 3'000, .points = 60});
  Check("many", {folder_ / "many"}, "check_sweeps.py");
}

}  // namespace
}  // namespace muster
