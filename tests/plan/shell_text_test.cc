#include "plan/text/shell_text.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/command.h"

namespace muster {
namespace {

std::string PutInto(std::string_view before, std::string_view value) {
  ShellPlace place;
  place.Pass(before);
  auto put = place.Put(value);
  return put ? *put : "refused";
}

TEST(ShellPlace, LeavesPlainValuesUnchangedEverywhere) {
  for (const char* before :
       {"echo ", "echo \"", "echo '", "# ", "echo `", "x=$(cat ", "cat <<EOF\n", "echo ${X:-", "\\"}) {
    EXPECT_EQ(PutInto(before, "10.0.0.1:29500"), "10.0.0.1:29500") << before;
    EXPECT_EQ(PutInto(before, "/home/größe/runs"), "/home/größe/runs") << before;
    EXPECT_EQ(PutInto(before, ""), "") << before;
  }
}

TEST(ShellPlace, QuotesSpecialCharactersForTheirPlace) {
  EXPECT_EQ(PutInto("echo ", "a'b $(c)"), R"('a'\''b $(c)')");
  EXPECT_EQ(PutInto("echo '", "a'b $(c)"), R"(a'\''b $(c))");
  EXPECT_EQ(PutInto("echo \"", "a\"b `c` $(d) \\"), R"(a\"b \`c\` \$(d) \\)");
  EXPECT_EQ(PutInto("echo 'it' \"$HOME ${USER}\" # no '\n", "$(c)"), "'$(c)'");
  EXPECT_EQ(PutInto("# ", "$(c)"), "$(c)");
}

TEST(ShellPlace, RefusesSpecialCharactersInUnclearPlaces) {
  for (const char* before : {"echo `", "x=$(cat ", "x=\"$(cat ", "x=$((1 + ", "cat <<EOF\n", "echo ${X:-", "echo $'",
                             "\\", "echo \"\\", "echo $", "echo \"$", "x=$(date); echo "}) {
    EXPECT_EQ(PutInto(before, "$(touch x)"), "refused") << before;
    EXPECT_EQ(PutInto(before, "with a space"), "with a space") << before << ": as it always was";
  }
  EXPECT_EQ(PutInto("# ", "a\ntouch x"), "refused");
}

// --- as words of a command ---------------------------------------------------------------------------

Binding Bound(std::string run_dir) {
  Binding binding;
  binding.run_dir = std::move(run_dir);
  binding.hosts = {{"n1", "10.0.0.1", {}}};
  return binding;
}

TEST(ShellText, ReachesTheShellAsDataInAnyQuotes) {
  const std::vector<std::string> values = {"/plain/1", "/a b/c",      "/it's",   "/$(echo x)", "/`echo x`", "/\"x\"",
                                           "/a;b&c|d", "/*/?[a-z]/~", "/a\\b\\", "/#x",        "/a\nb",     "/$HOME"};
  for (const std::string& value : values) {
    for (const char* text :
         {"printf %s ${muster:run_dir}", "printf %s \"${muster:run_dir}\"", "printf %s '${muster:run_dir}'",
          "x=${muster:run_dir}; printf %s \"$x\"", "printf %s '' # it's\nprintf %s \"\"${muster:run_dir}''"}) {
      const std::vector<Text> words = {"/bin/sh", "-c", text};
      const auto filled = FillWord(words, 2, Bound(value), 0);
      ASSERT_TRUE(filled) << filled.error().front().message;
      const testing::CommandResult result = testing::RunCommand({.argv = {"/bin/sh", "-c", *filled}});
      EXPECT_EQ(result.out, value) << text << " became " << *filled;
    }
  }
}

TEST(ShellText, HasBracketsAroundAnIpv6AddressBeforeAPort) {
  Binding binding = Bound("/x");
  binding.hosts = {{"six", "::1", {}}};
  for (const char* text : {"printf %s ${muster:host_address:0}:80", "printf %s \"${muster:host_address:0}:80\"",
                           "printf %s '${muster:host_address:0}:80'"}) {
    const auto filled = FillWord({"/bin/sh", "-c", text}, 2, binding, 0);
    ASSERT_TRUE(filled) << text;
    EXPECT_EQ(testing::RunCommand({.argv = {"/bin/sh", "-c", *filled}}).out, "[::1]:80") << *filled;
  }
  EXPECT_EQ(*FillWord({"/bin/sh", "-c", "x ${muster:host_address:0}"}, 2, binding, 0), "x ::1");
}

TEST(ShellText, IsTheScriptOfAShellCommand) {
  const std::vector<Text> words = {"nice", "/bin/sh", "-c", "echo ${muster:run_dir}", "${muster:run_dir}"};
  EXPECT_EQ(*FillWord(words, 3, Bound("/$(x)"), 0), "echo '/$(x)'");
  EXPECT_EQ(*FillWord(words, 4, Bound("/$(x)"), 0), "/$(x)") << "an argument of the shell is not text of it";
  EXPECT_EQ(*FillWord({"echo", "${muster:run_dir}"}, 1, Bound("/$(x)"), 0), "/$(x)");
}

TEST(ShellText, ReportsUnsupportedTexts) {
  const auto filled = FillWord({"/bin/sh", "-c", "cat $(ls ${muster:run_dir})"}, 2, Bound("/$(x)"), 0);
  ASSERT_FALSE(filled);
  EXPECT_EQ(filled.error().front().kind, "binding");
  EXPECT_EQ(
      filled.error().front().message,
      "\"${muster:run_dir}\" cannot be filled in: \"/$(x)\" has a special meaning in a shell, and it is uncertain "
      "how the shell reads the text there");
  EXPECT_FALSE(FillWord({"/bin/sh", "-c", "echo ${muster:port:none}"}, 2, Bound("/x"), 0)) << "as everywhere";
}

}  // namespace
}  // namespace muster
