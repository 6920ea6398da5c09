// Tests muster run with files beside the recipe: processes get their exact content.
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/values/fingerprint.h"
#include "cli/muster_command.h"
#include "support/file_content.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

TEST(ShippedFiles, ReachTheProcessByteForByteAtAnAbsolutePath) {
  const std::string content = "{\"sys\":\n {\"mem_reuse\": false}, \"rdr\": {\"path\": \"/r\"}}\r\n\n";
  const OneRecipe recipe(
      "local context = require 'muster.context'\n"
      "context.set_context { env_config_path = muster.file 'conf/e.json' }\n"
      "job:workers { count = 1, command = { 'sh', '-c', 'cat \"$1\" > got.json; printf %s \"$1\" > got.path; cat "
      "\"$MUSTER_CONTEXT\" > got.context', 'sh', muster.file 'conf/e.json' }, cwd = job.run_dir }",
      "mindspore = '1.6',");
  fs::create_directory(recipe / "conf");
  std::ofstream(recipe / "conf/e.json", std::ios::binary) << content;
  const CommandResult result = Muster({"run", recipe.path(), "--run-dir", recipe / "run"});
  ASSERT_EQ(result.exit_code, 0) << result.err;

  const std::string path = ContentOf(recipe / "run/got.path");
  EXPECT_EQ(path, fs::canonical(recipe / "run").string() + "/files/conf/e.json");
  EXPECT_EQ(ContentOf(recipe / "run/got.json"), content);
  EXPECT_EQ(ContentOf(path), content);
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(fs::path(path).parent_path()).permissions(), fs::perms::owner_all);
  const auto context = nlohmann::json::parse(ContentOf(recipe / "run/got.context"));
  EXPECT_EQ(context["context"]["set_context"]["env_config_path"], path);

  const auto inputs = nlohmann::json::parse(ContentOf(recipe / "run/inputs.json"))["inputs"];
  EXPECT_EQ(inputs.at(1), (nlohmann::json{{"kind", "file"}, {"name", "conf/e.json"}, {"sha256", Sha256Hex(content)}}));
  EXPECT_EQ(ContentOf(recipe / "run/recipe/conf/e.json"), content);
}

TEST(ShippedFiles, AreReadOnlyBelowTheRecipesFolder) {
  const OneRecipe recipe("muster.file(job.args[1]) job:workers { count = 1, command = { 'true' } }");
  fs::create_directory(recipe / "folder");
  fs::create_symlink("/etc/hostname", recipe / "link.json");
  std::ofstream(recipe / "inside.json") << "{}";
  fs::create_symlink("inside.json", recipe / "alias.json");
  const auto problem = [&](const std::string& name) {
    const auto whole = nlohmann::json::parse(Muster({"check", recipe.path(), "--json", "--", name}).out);
    return whole["ok"] == true ? std::string("none")
                               : whole["diagnostics"][0]["kind"].get<std::string>() + ": " +
                                     whole["diagnostics"][0]["message"].get<std::string>();
  };
  EXPECT_EQ(problem("folder"), "file: muster.file: folder cannot be shipped: it is a directory");
  EXPECT_EQ(problem("link.json"),
            "file: muster.file: link.json cannot be shipped: it is not below the recipe's folder");
  EXPECT_EQ(problem("/etc/hostname"),
            "file: muster.file: /etc/hostname cannot be shipped: it is not below the recipe's folder");
  EXPECT_EQ(problem("../x"), "file: muster.file: ../x cannot be shipped: it is not below the recipe's folder");
  EXPECT_EQ(problem("nope"), "file: muster.file: nope cannot be shipped: No such file or directory");
  EXPECT_EQ(problem("alias.json"), "none");
}

TEST(ManagePort, IsTheSameNumberInTheEnvironmentAndInTheContext) {
  const OneRecipe recipe(
      "require('muster.context').set_ps_context { enable_ps = true, scheduler_manage_port = 'auto' }\n"
      "local say = { 'sh', '-c', 'printf %s \"$MS_SCHED_MANAGE_PORT\" > port.$MUSTER_ROLE' }\n"
      "job:servers { command = say, cwd = job.run_dir } job:workers { count = 1, command = say, cwd = job.run_dir }",
      "mindspore = '1.6', framework = 'mindspore-ps',");
  const CommandResult result = Muster({"run", recipe.path(), "--run-dir", recipe / "run"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto binding = nlohmann::json::parse(ContentOf(recipe / "run/binding.json"));
  const int port = binding["ports"]["scheduler_manage"];
  EXPECT_GT(port, 0);
  EXPECT_NE(port, binding["ports"]["scheduler"]);
  EXPECT_EQ(ContentOf(recipe / "run/port.worker"), std::to_string(port));
  EXPECT_EQ(ContentOf(recipe / "run/port.scheduler"), std::to_string(port));
  const auto context = nlohmann::json::parse(ContentOf(recipe / "run/context/server.0.json"));
  EXPECT_EQ(context["context"]["set_ps_context"]["scheduler_manage_port"], port);
}

}  // namespace
}  // namespace muster::testing
