// Tests parsing of commands and words in shell scripts.
#include "launchers/shell_words.h"

#include <gtest/gtest.h>

namespace muster::testing {
namespace {

std::string Split(std::string_view text) {
  std::string said;
  for (const ShellCommand& command : ShellCommandsOf(text)) {
    said += std::to_string(command.line) + ":";
    for (const std::string& word : command.words) said += " [" + word + "]";
    said += command.background ? " &\n" : "\n";
  }
  return said;
}

TEST(ShellCommands, AreSplitWithoutRedirections) {
  EXPECT_EQ(Split("a b>log 2>&1 & c; d && e\n# no\nf \\\n  g &> x.log &\n"),
            "1: [a] [b] &\n1: [c]\n1: [d]\n1: [e]\n3: [f] [g] &\n");
  EXPECT_EQ(Split("for ((i=0;i<8;i++)); do echo \"a; b\" 'c & d'; done"),
            "1: [for] [((i=0;i<8;i++))]\n1: [do]\n1: [echo] [\"a; b\"] ['c & d']\n1: [done]\n");
  EXPECT_EQ(Split("f() {\n x=$((1+2))\n}\nf"), "1: [f()]\n1: [{]\n2: [x=$((1+2))]\n3: [}]\n4: [f]\n");
  EXPECT_EQ(Split("if [ $# != 2 ]; then exit 1; fi"),
            "1: [if] [[] [$#] [!=] [2] []]\n1: [then]\n1: [exit] [1]\n1: [fi]\n");
}

TEST(ShellWord, IsExpandedOrUnknown) {
  const VariableValue value = [](std::string_view name) -> std::optional<std::string> {
    if (name == "i") return "3";
    if (name == "P") return "a b";
    return std::nullopt;
  };
  const auto expanded = [&value](std::string_view word) { return ExpandedWord(word, value).value_or("?"); };
  EXPECT_EQ(expanded("dev$i"), "dev3");
  EXPECT_EQ(expanded("\"${P}\"/'$i'\\ x"), "a b/$i x");
  EXPECT_EQ(expanded("$((i*8))-$((i*8+7))"), "24-31");
  EXPECT_EQ(expanded("$[i+2]"), "5");
  EXPECT_EQ(expanded("$(pwd)/t.json"), "./t.json");
  EXPECT_EQ(expanded("${X:-7}"), "7");
  EXPECT_EQ(expanded("$X"), "?");
  EXPECT_EQ(expanded("$(nproc)"), "?");
  EXPECT_EQ(expanded("`date`"), "?");
  EXPECT_EQ(expanded("5$"), "5$");
}

TEST(ShellArithmetic, FollowsPrecedence) {
  const VariableValue value = [](std::string_view name) -> std::optional<std::string> {
    return name == "n" ? std::optional<std::string>("4") : std::nullopt;
  };
  EXPECT_EQ(ArithmeticValue("2 + n*($n-1) % 5", value), 4);
  EXPECT_EQ(ArithmeticValue("8/0", value), std::nullopt);
  EXPECT_EQ(ArithmeticValue("m+1", value), std::nullopt);
  EXPECT_EQ(ArithmeticValue("(1", value), std::nullopt);
  EXPECT_EQ(ArithmeticValue("", value), std::nullopt);
  EXPECT_EQ(ArithmeticValue(std::string(5000, '('), value), std::nullopt);
}

}  // namespace
}  // namespace muster::testing
