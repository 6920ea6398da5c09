// Runs the tests of the Python package muster that need the program (tests/python/program), and installs the package.
#include <cstdlib>
#include <filesystem>
#include <string>

#include "context/python_job.h"
#include "support/places.h"

namespace muster::testing {
namespace {

Command PythonTest(const std::string& name) {
  Command command;
  command.argv = {"/usr/bin/python3", "-B", MUSTER_SOURCE_DIR "/tests/python/program/" + name};
  command.env.push_back("MUSTER=" + MusterProgram());
  if (const char* folder = std::getenv("TMPDIR")) command.env.push_back(std::string("TMPDIR=") + folder);
  command.cwd = "/";
  return command;
}

TEST(PythonPackage, StartsFollowsReadsAndStopsRunsAndSweeps) {
  if (!HasPython()) GTEST_SKIP() << "python3 is missing";
  const CommandResult result = RunCommand(PythonTest("test_runs.py"));
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST(PythonPackage, WorksInANotebook) {
  if (RunCommand({{"/usr/bin/python3", "-c", "import nbconvert, ipykernel, matplotlib, pandas"}}).exit_code != 0) {
    GTEST_SKIP() << "jupyter-nbconvert, python3-ipykernel, python3-matplotlib or python3-pandas is missing";
  }
  const CommandResult result = RunCommand(PythonTest("test_notebook.py"));
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST(PythonPackage, IsShownByANotebookInABrowser) {
  for (const char* program : {"/usr/bin/chromedriver", "/usr/bin/chromium", "/usr/bin/python3"}) {
    if (!std::filesystem::exists(program)) GTEST_SKIP() << program << " is missing (chromium, chromium-driver)";
  }
  const CommandResult result = RunCommand(PythonTest("test_display.py"));
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST(PythonPackage, IsAsDocumented) {
  if (RunCommand({{"/usr/bin/python3", "-c", "import matplotlib, pandas"}}).exit_code != 0) {
    GTEST_SKIP() << "python3-matplotlib or python3-pandas is missing";
  }
  const CommandResult result = RunCommand(PythonTest("test_documented.py"));
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST(PythonPackage, IsInstalledByPipWithoutANetwork) {
  if (RunCommand({{"/usr/bin/python3", "-c", "import setuptools, wheel, pip"}}).exit_code != 0) {
    GTEST_SKIP() << "python3-pip is missing";
  }
  const TempDir folder;
  std::filesystem::copy(MUSTER_SOURCE_DIR "/python", folder / "python", std::filesystem::copy_options::recursive);
  const CommandResult installed =
      RunCommand({{"/usr/bin/python3", "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation",
                   "--no-cache-dir", "--disable-pip-version-check", "--target", folder / "site", folder / "python"},
                  {"PATH=/usr/bin:/bin", "HOME=" + folder.path(), "TMPDIR=" + folder.path()},
                  folder.path()});
  ASSERT_EQ(installed.exit_code, 0) << installed.out << installed.err;
  const CommandResult used =
      RunCommand({{"/usr/bin/python3", "-c",
                   "import muster, muster.integrations, muster_context; print(muster.__file__, "
                   "muster.program(), muster.runs())"},
                  {"PYTHONPATH=" + (folder / "site"), "MUSTER=" + MusterProgram(), "PATH=/usr/bin"},
                  folder.path()});
  EXPECT_EQ(used.out, (folder / "site/muster/__init__.py ") + MusterProgram() + " []\n") << used.err;
}

}  // namespace
}  // namespace muster::testing
