// Tests an installation that was moved: it needs nothing from the build tree, including its Python files.
#include <filesystem>

#include "context/python_job.h"
#include "support/places.h"

namespace muster::testing {
namespace {

TEST(Installed, MusterAppliesTheContextWhereverItWasMoved) {
  if (!HasPython()) GTEST_SKIP() << "python3 is missing";
  const TempDir folder;
  Command install;
  install.argv = {MUSTER_CMAKE, "--install", MUSTER_BUILD_DIR, "--prefix", folder / "first"};
  const CommandResult installed = RunCommand(install);
  ASSERT_EQ(installed.exit_code, 0) << installed.err;
  std::filesystem::remove(std::string(MUSTER_BUILD_DIR) + "/install_manifest.txt");  // written by `cmake --install`
  std::filesystem::rename(folder / "first", folder / "second");

  PythonJob job("new",
                "context.set_context { device_target = \"CPU\", mode = 0 }\n"
                "job:workers { count = 1, command = { \"python3\", \"train.py\" } }",
                "mindspore = \"2.3\",");
  job.Put("train.py", "import mindspore\n");
  job.program = folder / "second/bin/muster";
  const CommandResult result = job.Run();
  EXPECT_EQ(result.exit_code, 0) << result.err << job.Log("worker.0");
  EXPECT_EQ(job.ContextOf().at("state"), "applied");
  // Needed where PYTHONPATH has no effect: pip install PREFIX/share/muster/python.
  EXPECT_TRUE(std::filesystem::exists(folder / "second/share/muster/python/pyproject.toml"));
  EXPECT_EQ(ContentOf(folder / "second/share/muster/python/muster_context/__init__.py"),
            ContentOf(std::string(MUSTER_SOURCE_DIR) + "/python/muster_context/__init__.py"));
  // The package muster finds the program that it was installed with.
  const CommandResult found =
      RunCommand({{"/usr/bin/python3", "-B", "-c", "import muster; print(muster.program(), muster.runs())"},
                  {"PYTHONPATH=" + (folder / "second/share/muster/python"), "PATH=/usr/bin"},
                  folder.path()});
  EXPECT_EQ(found.out, (folder / "second/bin/muster") + " []\n") << found.err;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "second")) {
    EXPECT_NE(entry.path().filename(), "__pycache__") << entry.path();
  }
}

}  // namespace
}  // namespace muster::testing
