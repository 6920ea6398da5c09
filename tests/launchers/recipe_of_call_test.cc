// Tests the text of generated recipes: differences between processes, and names.
#include "launchers/recipe_of_call.h"

#include <gtest/gtest.h>

#include "launchers/read_line.h"

namespace muster::testing {
namespace {

std::string Recipe(const std::string& line) {
  const auto call = ReadDocumentedLine(line);
  return call ? RecipeOfCall(*call, line, NameOfProgram(*call) + ".lua") : call.error().front().message;
}

TEST(RecipeOfCall, SetsDifferencesPerProcess) {
  const std::string recipe = Recipe("bash -c 'for i in 4 5; do DEVICE_ID=$i python t.py --dev=d$i & done'");
  EXPECT_NE(
      recipe.find(
          "      each    = function(process)\n"
          "        process.command = { \"python\", \"t.py\", \"--dev=d\" .. (process.local_rank + 4), job.args }\n"
          "        process.env.DEVICE_ID = process.local_rank + 4\n      end,\n"),
      std::string::npos)
      << recipe;
  EXPECT_EQ(recipe.find("command = { \"python\"", recipe.find("end,")), std::string::npos) << recipe;
}

TEST(RecipeOfCall, IsNamedAfterTheScript) {
  const auto name = [](const std::string& line) { return NameOfProgram(*ReadDocumentedLine(line)); };
  EXPECT_EQ(name("torchrun /a/b/train.v2.py"), "train-v2");
  EXPECT_EQ(name("torchrun -m pkg.train"), "pkg-train");
  EXPECT_EQ(name("mpirun -n 2 python -u x.py"), "x");
  EXPECT_EQ(name("mpirun -n 2 ./solve"), "solve");
  EXPECT_EQ(name("/opt/conda/bin/torchrun train.py"), "train");
}

// Prevents: a line break within a word ends the comment, and the rest becomes Lua.
TEST(RecipeOfCall, KeepsItsHeaderAComment) {
  const auto call = ReadLauncherCall(KnownLauncher::kTorchrun, {"torchrun", "--role", "a\nb", "t.py"}, ReadTestFile);
  const std::string recipe = RecipeOfCall(*call, "torchrun --role 'a\nb' t.py", "t.lua");
  EXPECT_EQ(recipe.find("\nb"), std::string::npos) << recipe;
}

}  // namespace
}  // namespace muster::testing
