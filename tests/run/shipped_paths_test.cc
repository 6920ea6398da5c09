#include <gtest/gtest.h>

#include "run/start/start_commands.h"
#include "run/start/start_specs.h"

namespace muster {
namespace {

std::shared_ptr<const CodeTree> Tree() {
  auto tree = std::make_shared<CodeTree>();
  tree->folder = "/home/u/job";
  for (const char* path : {"lib/a.py", "my tool.py", "train.py"})
    tree->entries.push_back({path, false, "", 0644, 1, ""});
  return tree;
}

TEST(ShippedPaths, PointShippedFilesToTheCopy) {
  const ShippedPaths paths(Tree(), "/c/abc");
  EXPECT_EQ(paths.Led("/home/u/job/train.py"), "/c/abc/train.py");
  EXPECT_EQ(paths.Led("/home/u/job"), "/c/abc");
  EXPECT_EQ(paths.Led("/home/u/job/"), "/c/abc/");
  EXPECT_EQ(paths.Led("/home/u/job/my tool.py"), "/c/abc/my tool.py");
  EXPECT_EQ(paths.Led("--file=/home/u/job/train.py"), "--file=/c/abc/train.py");
  EXPECT_EQ(paths.Led("/home/u/job/lib:/home/u/job:/usr/lib"), "/c/abc/lib:/c/abc:/usr/lib");
  EXPECT_EQ(paths.Led("cd /home/u/job && python3 '/home/u/job/train.py' --x"),
            "cd /c/abc && python3 '/c/abc/train.py' --x");
  EXPECT_EQ(paths.Led("ls /home/u/job/lib/*.py"), "ls /c/abc/lib/*.py");
}

TEST(ShippedPaths, PointFilesCreatedBesideShippedOnesToTheCopy) {
  const ShippedPaths paths(Tree(), "/c/abc");
  EXPECT_EQ(paths.Led("/home/u/job/model.bin"), "/c/abc/model.bin");
  EXPECT_EQ(paths.Led("/home/u/job/lib/cache.bin"), "/c/abc/lib/cache.bin");
}

TEST(ShippedPaths, LeaveOtherPathsUnchanged) {
  const ShippedPaths paths(Tree(), "/c/abc");
  for (const char* text : {"/home/u/job2/train.py", "/home/u/job.py", "/x/home/u/job/train.py", "/home/u",
                           "/home/u/job/.venv/bin/python", "/home/u/job/data/x/y.bin", "train.py", ""}) {
    EXPECT_EQ(paths.Led(text), text);
  }
  EXPECT_EQ(paths.Led("/home/u/job/.venv/bin/python /home/u/job/train.py"),
            "/home/u/job/.venv/bin/python /c/abc/train.py");
  EXPECT_EQ(ShippedPaths().Led("/home/u/job/train.py"), "/home/u/job/train.py");
}

TEST(ShippedPaths, RecogniseTheUsersNameOfTheFolder) {
  auto tree = std::make_shared<CodeTree>(*Tree());
  tree->also_named = "/data/job";
  const ShippedPaths paths(tree, "/c/abc");
  EXPECT_EQ(paths.Led("/data/job/train.py /home/u/job/train.py"), "/c/abc/train.py /c/abc/train.py");
}

TEST(ShippedPaths, AreThoseOfTheHostThatAProcessRunsOn) {
  Plan plan;
  plan.hosts.resize(2);
  Role role;
  role.name = "worker";
  role.command = {"python3", "/home/u/job/train.py"};
  role.env = {{"PYTHONPATH", "/home/u/job/lib"}};
  plan.roles = {role};
  for (std::uint32_t i = 0; i < 2; ++i) {
    Process process;
    process.index = i;
    process.host = i;
    plan.processes.push_back(process);
  }
  Binding binding;
  binding.run_dir = "/home/u/job/runs/1";
  binding.hosts.resize(2);
  CallerEnvironment surroundings{{"PATH=/home/u/job/lib"}, "/home/u/job", {}};
  surroundings.code[1] = ShippedPaths(Tree(), "/c/abc");
  const StartCommands starts(plan, binding, surroundings);
  const auto here = starts.Of(0, 0);
  const auto there = starts.Of(1, 0);
  ASSERT_TRUE(here && there);
  EXPECT_EQ(here->argv[1], "/home/u/job/train.py");
  EXPECT_EQ(here->cwd, "/home/u/job");
  EXPECT_EQ(there->argv[1], "/c/abc/train.py");
  EXPECT_EQ(there->cwd, "/c/abc");
  EXPECT_TRUE(there->log_path.starts_with("/home/u/job/runs/1/")) << "the run directory is no code";
  const auto blocks = EnvironmentBlocks(plan, binding, surroundings, 1);
  ASSERT_TRUE(blocks);
  const auto& variables = blocks->front().variables;
  EXPECT_NE(std::find(variables.begin(), variables.end(), "PYTHONPATH=/c/abc/lib"), variables.end());
  EXPECT_NE(std::find(variables.begin(), variables.end(), "PATH=/home/u/job/lib"), variables.end())
      << "what is inherited is the caller's affair";
}

}  // namespace
}  // namespace muster
