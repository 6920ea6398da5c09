// Tests overrides as users type them, including unusual ones.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

constexpr const char* kOverridesFields =
    "params = { s = muster.string { 'default' }, n = muster.int { 1 }, l = muster.list { { 1 } }, m = muster.map { {} "
    "}, b = muster.bool { false } },";

// Returns the parameter's value, or standard error.
std::string ValueAfter(const std::string& name, const std::vector<std::string>& words,
                       const std::vector<std::string>& variables = {}) {
  const OneRecipe recipe(kOneWorker, kOverridesFields);
  std::vector<std::string> all = {"params", recipe.path(), "--json"};
  all.insert(all.end(), words.begin(), words.end());
  const CommandResult result = Muster(all, variables);
  if (result.exit_code != 0) return result.err;
  const auto document = nlohmann::json::parse(result.out);
  for (const auto& param : document["params"]) {
    if (param["name"] == name) return param["value"].dump();
  }
  return "no such parameter";
}

TEST(Overrides, AreSplitAtTheFirstEqualsSign) {
  const std::pair<const char*, const char*> cases[] = {
      {"s=text", "\"text\""},
      {"s=", "\"\""},
      {"s==b", "\"=b\""},
      {"s=b=c", "\"b=c\""},
      {"s= spaced out ", "\" spaced out \""},
      {"s=a,b", "\"a,b\""},
      {"s=[a,b]", "\"[a,b]\""},
      {"s=a\nb", "\"a\\nb\""},
      {"s=äöü€😀", "\"äöü€😀\""},
      {"s=\"quoted\"", "\"\\\"quoted\\\"\""},
      {"s=--flag", "\"--flag\""},
      {"s=$HOME", "\"$HOME\""},
      {"s=true", "\"true\""},
      {"s=1", "\"1\""},
      {"s=\\n", "\"\\\\n\""},
      {"n=-7", "-7"},
      {"n=+7", "7"},
      {"s:=\"j\"", "\"j\""},
      {"l:=[1, 2.5, \"x\", null, {\"a\": true}]", "[1,2.5,\"x\",null,{\"a\":true}]"},
      {"l=[3]", "[3]"},
      {"l:=[]", "[]"},
      {"m:={}", "{}"},
      {"m:={\"a\":{\"b\":[]}}", "{\"a\":{\"b\":[]}}"},
      {"n:=8.0", "8"},
      {"b:=true", "true"},
      {"b=false", "false"},
  };
  for (const auto& [word, value] : cases) EXPECT_EQ(ValueAfter(std::string(word).substr(0, 1), {word}), value) << word;
}

TEST(Overrides, ThatAreInvalidAreReportedEscaped) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "there is no '='"},
      {"=x", "the name is empty"},
      {":=1", "the name is empty"},
      {"@=x", "the name is empty"},
      {"=", "the name is empty"},
      {"s", "there is no '='"},
      {" s=x", "no parameter \" s\""},
      {"s =x", "no parameter \"s \""},
      {"S=x", "no parameter \"S\""},
      {"s:=text", "not valid JSON"},
      {"s:=", "not valid JSON"},
      {"l:=[1,]", "not valid JSON"},
      {"m:={\"a\":1,\"a\":2}", "appears twice"},
      {"n:=1e999", "a number is too large"},
      {"n:=9007199254740993", "2^53"},
      {"n=9007199254740993", "2^53"},
      {"n=1.0", "must be an int"},
      {"n=", "must be an int"},
      {"n=1 ", "must be an int"},
      {"n=0x10", "must be an int"},
      {"n=99999999999999999999", "must be an int"},
      {"n:=true", "must be an int"},
      {"n:=\"1\"", "must be an int"},
      {"b=1", "must be true or false"},
      {"b=True", "must be true or false"},
      {"b=yes", "must be true or false"},
      {"l=1,2", "must be a list"},
      {"l:={\"a\":1}", "must be a list"},
      {"m:=[1]", "must be a map"},
      {"s=\xff", "not valid UTF-8"},
      {"\xff=1", "not valid UTF-8"},
      {"s:=\"\\u0000\"", "NUL"},
      {"s@=/nowhere/at/all", "there is no file"},
      {"s@=", "there is no file"},
      {"s@=/", "is a folder"},
      {"s@=/dev/zero", "is no regular file"},
      {"a\x1b[31mb=1", "\\x1b[31mb"},
  };
  for (const auto& [word, said] : cases) {
    const std::string err = ValueAfter("s", {word});
    EXPECT_NE(err.find(said), std::string::npos) << word << ": " << err;
    EXPECT_NE(err.find("error: "), std::string::npos) << word;
    EXPECT_EQ(err.find('\x1b'), std::string::npos);
  }
}

TEST(Overrides, AreAllReportedAtOnce) {
  const std::string err = ValueAfter("s", {"x", "=y", "l:=["});
  for (const char* part : {"\"x\"", "\"=y\"", "\"l:=[\""}) EXPECT_NE(err.find(part), std::string::npos) << err;
}

TEST(Overrides, AreReadFromFilesWithoutTheLastNewline) {
  const TempDir folder;
  const auto file = [&](const std::string& content) {
    std::ofstream(folder / "value", std::ios::binary) << content;
    return "@=" + folder / "value";
  };
  EXPECT_EQ(ValueAfter("s", {"s" + file("line\n")}), "\"line\"");
  EXPECT_EQ(ValueAfter("s", {"s" + file("a\nb\n\n")}), "\"a\\nb\\n\"");
  EXPECT_EQ(ValueAfter("s", {"s" + file("")}), "\"\"");
  EXPECT_EQ(ValueAfter("l", {"l" + file("[1,\n2]\n")}), "[1,2]");
  EXPECT_NE(ValueAfter("s", {"s" + file("\xff")}).find("not valid UTF-8"), std::string::npos);
  EXPECT_NE(ValueAfter("s", {"s" + file(std::string("a\0b", 3))}).find("NUL"), std::string::npos);
  EXPECT_NE(ValueAfter("s", {"s" + file(std::string((16U << 20) + 1, 'x'))}).find("larger than 16 MiB"),
            std::string::npos);
  // Two bytes of text become many times as much memory.
  std::string many = "[{}";
  while (many.size() < (4U << 20)) many += ",{}";
  const std::string refused = ValueAfter("l", {"l" + file(many + "]")});
  EXPECT_NE(refused.find("it would take more than 32 MiB of memory"), std::string::npos) << refused.substr(0, 500);
  EXPECT_LT(refused.size(), 5'000U) << "the message does not repeat the file";
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_NE(ValueAfter("s", {"s@=" + folder / "fifo"}).find("is no regular file"), std::string::npos)
      << "waits for nobody";
}

TEST(Overrides, OfMusterSetRankBelowTheCommandLine) {
  EXPECT_EQ(ValueAfter("s", {}, {"MUSTER_SET=s=from set\nn=2"}), "\"from set\"");
  EXPECT_EQ(ValueAfter("n", {}, {"MUSTER_SET=s=from set\nn=2"}), "2");
  EXPECT_EQ(ValueAfter("s", {"s=line"}, {"MUSTER_SET=s=from set"}), "\"line\"");
  EXPECT_EQ(ValueAfter("s", {}, {"MUSTER_SET="}), "\"default\"");
  EXPECT_NE(ValueAfter("s", {}, {"MUSTER_SET=nonsense"}).find("there is no '='"), std::string::npos);
  EXPECT_NE(ValueAfter("s", {}, {"MUSTER_SET=nope=1"}).find("from the MUSTER_SET"), std::string::npos);
}

TEST(Overrides, CanBeReset) {
  EXPECT_EQ(ValueAfter("s", {"s=x", "--unset", "s"}), "\"default\"");
  EXPECT_EQ(ValueAfter("n", {"s=x", "--unset", "s", "n=3"}), "3");
}

TEST(Words, AfterTheDashesBelongToTheRecipe) {
  const OneRecipe recipe("job:workers { count = 1, command = { 'x', job.args } }", kOverridesFields);
  const CommandResult result =
      Muster({"plan", recipe.path(), "s=x", "--json", "--", "--json", "s=y", "", "--", "-h", "ä", "[a,b]"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto document = nlohmann::json::parse(result.out);
  EXPECT_EQ(document["processes"][0]["command"],
            (std::vector<std::string>{"x", "--json", "s=y", "", "--", "-h", "ä", "[a,b]"}));
  EXPECT_EQ(document["params"]["s"], "x");
}

TEST(Words, InInvalidUtf8AreRefused) {
  const OneRecipe recipe("job:workers { count = 1, command = { 'x', job.args } }");
  const CommandResult result = Muster({"plan", recipe.path(), "--", "\xff"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("not valid UTF-8"), std::string::npos) << result.err;
}

TEST(Secrets, AreNeverPrinted) {
  const OneRecipe recipe("job:workers { count = 1, command = { 'x' }, env = { TOKEN = p.token } }",
                         "params = { token = muster.secret { from_env = 'TOKEN' } },");
  std::ofstream(recipe / "token") << "hunter2\n";
  for (const std::vector<std::string>& words : {std::vector<std::string>{"plan", recipe.path()},
                                                {"plan", recipe.path(), "--json"},
                                                {"plan", recipe.path(), "token@=" + (recipe / "token")},
                                                {"params", recipe.path()},
                                                {"params", recipe.path(), "--json"},
                                                {"params", recipe.path(), "token@=" + (recipe / "token"), "--json"},
                                                {"check", recipe.path(), "--json", "token=hunter2"}}) {
    const CommandResult result = Muster(words, {"TOKEN=hunter2"});
    EXPECT_EQ((result.out + result.err).find("hunter2"), std::string::npos) << result.out << result.err;
  }
}

}  // namespace
}  // namespace muster::testing
