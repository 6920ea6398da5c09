#include "wire/files/code_tree.h"

#include <gtest/gtest.h>

#include "base/values/fingerprint.h"

namespace muster {
namespace {

CodeEntry File(const std::string& path) { return {path, false, "", 0644, 1, Sha256Hex("x")}; }

TEST(CodeTreeError, RefusesPathsThatLeaveTheTree) {
  for (const char* path : {"", "/etc/passwd", "..", "../a", "a/../b", "a/./b", "a//b", "a/", "./a"}) {
    EXPECT_NE(CodeTreeError({File(path)}), "") << path;
  }
  EXPECT_NE(CodeTreeError({File(std::string("a\0b", 3))}), "");
  for (const char* path : {"a", "a/b.py", "..a/b", "a b"}) EXPECT_EQ(CodeTreeError({File(path)}), "") << path;
}

TEST(CodeTreeError, RefusesFilesBelowLinksAndFiles) {
  const CodeEntry link{"a", true, "/etc", 0, 0, ""};
  EXPECT_EQ(CodeTreeError({link}), "");
  EXPECT_NE(CodeTreeError({link, File("a/passwd")}), "");
  EXPECT_NE(CodeTreeError({File("a"), File("a.b"), File("a/b/c")}), "");
}

TEST(CodeTreeError, RefusesDuplicateUnsortedAndNonFilePaths) {
  EXPECT_NE(CodeTreeError({File("a"), File("a")}), "");
  EXPECT_NE(CodeTreeError({File("b"), File("a")}), "");
  CodeEntry setuid = File("a");
  setuid.mode = 04755;
  EXPECT_NE(CodeTreeError({setuid}), "");
  CodeEntry unhashed = File("a");
  unhashed.hash = "../../../../etc";
  EXPECT_NE(CodeTreeError({unhashed}), "");
}

TEST(CodeTreeHash, DiffersBetweenDifferentTrees) {
  const std::string hash = CodeTreeHash({File("a")});
  EXPECT_TRUE(IsSha256Hex(hash));
  EXPECT_NE(CodeTreeHash({File("b")}), hash);
  EXPECT_NE(CodeTreeHash({File("a"), File("b")}), hash);
  EXPECT_NE(CodeTreeHash({{"a", true, "x", 0, 0, ""}}), hash);
}

TEST(Sha256, IsTheSameInParts) {
  Sha256 hash;
  hash.Add("ab");
  EXPECT_EQ(hash.Hex(), Sha256Hex("ab"));
  hash.Add("c");
  EXPECT_EQ(hash.Hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace muster
