// Tests the text form of diagnostics, their builders, and folding of duplicates.
#include "muster/diagnostic.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "base/values/diagnostics.h"

namespace muster {
namespace {

SourceLine Source(std::string text) {
  return [text = std::move(text)](const Place&) { return std::optional(text); };
}

TEST(DiagnosticText, ReadsLikeACompilersWithLineHintAndNotes) {
  Diagnostic diagnostic = Error("division", {"recipes/ps.lua", 9}, "pipeline_stages = 3 does not divide device_num = 8",
                                "use 1, 2, 4 or 8");
  diagnostic.notes = {{"device_num = 8 was set here", {"recipes/ps.lua", 5}}, {"and that is all", {}}};
  EXPECT_EQ(DiagnosticText(diagnostic, Source("  context.set_auto_parallel_context { pipeline_stages = 3 }")),
            "recipes/ps.lua:9: error: pipeline_stages = 3 does not divide device_num = 8\n"
            "    9 |   context.set_auto_parallel_context { pipeline_stages = 3 }\n"
            "hint: use 1, 2, 4 or 8\n"
            "note: device_num = 8 was set here (recipes/ps.lua:5)\n"
            "note: and that is all\n");
}

TEST(DiagnosticText, IsOneLineInsideAnotherSentence) {
  EXPECT_EQ(
      Sentence({Error("x", {"a.lua", 3}, "no such host", "hosts are h0 and h1"), Error("y", {}, "no ports left")}),
      "no such host (hosts are h0 and h1); no ports left");
  EXPECT_EQ(Sentence({}), "");
}

TEST(DiagnosticText, OmitsAbsentParts) {
  EXPECT_EQ(DiagnosticText(Error("x", {}, "no file is to blame"), Source("never")),
            "muster: error: no file is to blame\n");
  EXPECT_EQ(DiagnosticText(Warning("x", {"a.lua", 0}, "the whole file"), Source("never")),
            "a.lua: warning: the whole file\n");
  EXPECT_EQ(DiagnosticText(Error("x", {"a.lua", 7}, "the source is gone"), nullptr),
            "a.lua:7: error: the source is gone\n");
  const auto nothing = [](const Place&) { return std::optional<std::string>(); };
  EXPECT_EQ(DiagnosticText(Error("x", {"a.lua", 7}, "the line is gone"), nothing),
            "a.lua:7: error: the line is gone\n");
}

TEST(DiagnosticText, ColoursSeverityAndHintOnly) {
  EXPECT_EQ(DiagnosticText(Error("x", {"a.lua", 1}, "bad", "good"), nullptr, true),
            "a.lua:1: \033[1;31merror\033[0m: bad\n\033[36mhint\033[0m: good\n");
  EXPECT_EQ(DiagnosticText(Warning("x", {}, "odd"), nullptr, true), "muster: \033[1;33mwarning\033[0m: odd\n");
}

TEST(DiagnosticText, EscapesControlBytesOfARecipe) {
  const std::string evil =
      "\033[2J\r\x07\x9b"
      "31m\xe2\x80\xae";
  Diagnostic diagnostic = Error("x", {evil + ".lua", 3}, evil, evil);
  diagnostic.notes = {{evil, {evil, 1}}};
  const std::string text = DiagnosticText(diagnostic, Source(evil));
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << text;
  EXPECT_EQ(text.find('\x9b'), std::string::npos);
  EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos) << "right-to-left override";
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4) << "a newline in a message forges a line of ours";
}

TEST(Diagnostics, FoldsEqualOnesAndKeepsTheOrder) {
  const Diagnostic a = Error("x", {"a.lua", 1}, "a");
  const Diagnostic b = Error("x", {"a.lua", 1}, "b");
  Diagnostic c = a;
  c.notes = {{"differs", {}}};
  EXPECT_EQ(Folded({b, a, b, c, a}), (Diagnostics{b, a, c}));
}

TEST(Diagnostics, DistinguishErrorsFromWarnings) {
  EXPECT_FALSE(HasErrors({}));
  EXPECT_FALSE(HasErrors({Warning("x", {}, "w")}));
  EXPECT_TRUE(HasErrors({Warning("x", {}, "w"), Error("x", {}, "e")}));
}

TEST(Diagnostics, NameTheResponsibleParty) {
  EXPECT_EQ(Error("x", {}, "e").blame, Blame::kRecipe);
  EXPECT_EQ(SystemError("open", "a file", ENOENT).blame, Blame::kMachine);
  EXPECT_EQ(SystemError("open", "a file", ENOENT).message, "a file: No such file or directory");
}

}  // namespace
}  // namespace muster
