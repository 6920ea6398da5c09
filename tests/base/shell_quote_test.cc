// Tests quoting with a real shell, and with texts that try to deceive a terminal.
#include <random>

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

// Runs the text in /bin/sh; returns its output.
std::string ShellOutput(const std::string& script) {
  std::FILE* pipe = ::popen(script.c_str(), "r");
  std::string out;
  char buffer[4096];
  while (pipe != nullptr) {
    const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe);
    out.append(buffer, got);
    if (got == 0) break;
  }
  if (pipe != nullptr) ::pclose(pipe);
  return out;
}

std::vector<std::string> OddWords() {
  std::vector<std::string> words = {
      "",      "plain", "two words", "it's", "''", "'",  "\"$HOME\"", "`id`",  "$(id)",    "a\nb",    "\t",  "*",
      "~",     "~root", "\\",        "\\n",  "!x", "#x", "-n",        "--a=b", "a;b",      "a&b",     "a|b", "<x",
      "{a,b}", "[a-z]", "a=b",       "é😀",   "%s", "^",  "@",         "x,y",   "\x01\x7f", "\xff\xfe"};
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string word;
    for (std::size_t n = random() % 12; n > 0; --n) word += static_cast<char>(1 + random() % 255);
    words.push_back(word);
  }
  return words;
}

TEST(ShellQuoted, IsParsedBackByARealShell) {
  const std::vector<std::string> words = OddWords();
  std::string expected;
  for (const std::string& word : words) expected += word + '\x1e';
  EXPECT_EQ(ShellOutput("printf '%s\\036' " + ShellQuoted(words)), expected);
}

// Command lines are shown in hints, and scripts on terminals.
TEST(ShellQuoted, ContainsNothingThatATerminalObeys) {
  for (const std::string& word : OddWords()) {
    const std::string quoted = ShellQuoted(word);
    EXPECT_EQ(PrintableLines(quoted), quoted);
  }
  EXPECT_EQ(ShellQuoted("a\x1b[2Jb"), "'a'\"$(printf '\\033')\"'[2Jb'");
  EXPECT_EQ(ShellQuoted("a\nb\t"), "'a\nb\t'");
}

TEST(PrintableLines, EscapeEverythingButLineEndsAndTabs) {
  EXPECT_EQ(PrintableLines("one\n\ttwo \x1b[31m\r\n\u202e\x80\x9b"),
            "one\n\ttwo \\x1b[31m\\x0d\n\\xe2\\x80\\xae\\x80\\x9b");
  const std::string once = PrintableLines("\x07 caf\xe9 \\x07");
  EXPECT_EQ(PrintableLines(once), once);
}

TEST(ShellQuoted, LeavesSafeWordsUnquoted) {
  EXPECT_EQ(ShellQuoted("python3"), "python3");
  EXPECT_EQ(ShellQuoted("--lr=0.5"), "--lr=0.5");
  EXPECT_EQ(ShellQuoted("/a/b-c_d.e:f,g+h@i%j"), "/a/b-c_d.e:f,g+h@i%j");
  EXPECT_EQ(ShellQuoted(""), "''");
  EXPECT_EQ(ShellQuoted("it's"), "'it'\\''s'");
}

TEST(ShellQuoted, QuotesAFirstWordThatIsAKeywordOrAssignment) {
  const muster::testing::TempDir folder;
  for (const char* name : {"if", "A=b", "while", "x"}) {
    const std::string program = folder / name;
    ASSERT_EQ(::symlink("/bin/echo", program.c_str()), 0);
    const std::vector<std::string> command = {name, "said", "it"};
    EXPECT_EQ(ShellOutput("PATH=" + ShellQuoted(folder.path()) + "; " + ShellQuoted(command)), "said it\n") << name;
  }
}

TEST(Quoted, IsOneSafeLine) {
  EXPECT_EQ(Quoted("a\tb\n\"\\"), R"("a\tb\n\"\\")");
  EXPECT_EQ(Quoted(std::string_view("\0\x1b\x7f", 3)), R"("\x00\x1b\x7f")");
  EXPECT_EQ(Quoted("ä€"), "\"ä€\"");
  EXPECT_EQ(Quoted("\xff"), R"("\xff")");
}

// Undoes Quoted.
std::string Unquoted(std::string_view text) {
  std::string out;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    switch (text[++i]) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'x':
        out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
        i += 2;
        break;
      default:
        out += text[i];
    }
  }
  return out;
}

std::string RandomBytes(std::mt19937& random) {
  std::string bytes;
  for (std::size_t n = random() % 40; n > 0; --n) bytes += static_cast<char>(random() & 0xff);
  return bytes;
}

TEST(Quoted, CanBeUndoneForAnyBytes) {
  std::mt19937 random(2);
  for (int i = 0; i < 5000; ++i) {
    const std::string bytes = RandomBytes(random);
    ASSERT_EQ(Unquoted(Quoted(bytes)), bytes);
  }
}

// Control characters of ASCII and of C1.
bool HasControl(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\t') || byte == 0x7f) return true;
    if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0) return true;
  }
  return false;
}

TEST(Printable, EscapesControlBytes) {
  std::mt19937 random(3);
  for (int i = 0; i < 5000; ++i) {
    const std::string bytes = RandomBytes(random);
    for (const std::string& shown : {Printable(bytes), Quoted(bytes)}) {
      ASSERT_FALSE(HasControl(shown)) << shown;
      ASSERT_TRUE(IsUtf8(shown));
    }
  }
}

TEST(Printable, EscapesCharactersThatReorderOrHideText) {
  EXPECT_EQ(Printable("a\xe2\x80\xae"
                      "b"),
            "a\\xe2\\x80\\xaeb");                           // right-to-left override
  EXPECT_EQ(Printable("\xe2\x80\x8b"), "\\xe2\\x80\\x8b");  // zero-width space
  EXPECT_EQ(Printable("\xe2\x81\xa6"), "\\xe2\\x81\\xa6");  // isolate
  EXPECT_EQ(Printable("\xef\xbb\xbf"), "\\xef\\xbb\\xbf");  // byte order mark
  EXPECT_EQ(Printable("\xd8\x9c"), "\\xd8\\x9c");           // Arabic letter mark
  EXPECT_EQ(Printable("\xe2\x80\xa8"), "\\xe2\\x80\\xa8");  // line separator
  EXPECT_EQ(Printable("a\tb…\n"), "a\tb…\\n");
}

using Words = std::vector<std::string>;

TEST(ShellWords, AreThoseOfAShellWithoutExpansion) {
  EXPECT_EQ(ShellWords("gdb --args"), (Words{"gdb", "--args"}));
  EXPECT_EQ(ShellWords("  a\t'b c'\n"), (Words{"a", "b c"}));
  EXPECT_EQ(ShellWords("a'b'\"c\"d ''"), (Words{"abcd", ""}));
  EXPECT_EQ(ShellWords("\"a \\\" \\$x \\y\""), (Words{"a \" $x \\y"}));
  EXPECT_EQ(ShellWords("a\\ b \\\\"), (Words{"a b", "\\"}));
  EXPECT_EQ(ShellWords("$HOME * ~ # a|b"), (Words{"$HOME", "*", "~", "#", "a|b"}));
  EXPECT_EQ(ShellWords("a\\\nb"), Words{"ab"});
  EXPECT_EQ(ShellWords(""), Words{});
  for (const char* bad : {"'a", "\"a", "a\\", "\"a\\\""}) EXPECT_FALSE(ShellWords(bad)) << bad;
}

TEST(ShellWords, ParseBackQuotedWords) {
  std::mt19937 random(4711);
  const std::string_view letters = " \t\n'\"\\$`ab=#";
  for (int i = 0; i < 2'000; ++i) {
    Words words(1 + random() % 4);
    for (std::string& word : words) {
      for (std::size_t n = random() % 6; n > 0; --n) word += letters[random() % letters.size()];
    }
    ASSERT_EQ(ShellWords(ShellQuoted(words)), words) << ShellQuoted(words);
  }
}

}  // namespace
}  // namespace muster
