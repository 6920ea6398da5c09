// Tests notes of users: what a note may be, and what is read of a file that somebody else wrote.
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/system/unique_fd.h"
#include "run/directory/run_tags.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

UniqueFd Open(const testing::TempDir& run) { return UniqueFd(::open(run.path().c_str(), O_RDONLY | O_DIRECTORY)); }

TEST(RunNote, IsReplacedAndRemoved) {
  const testing::TempDir run;
  const UniqueFd folder = Open(run);
  EXPECT_EQ(ReadNote(folder.get()), "");
  ASSERT_TRUE(WriteNote(folder.get(), "first line\nsecond äöü\n\n"));
  EXPECT_EQ(NoteOfRun(run.path()), "first line\nsecond äöü");
  struct stat status {};
  ASSERT_EQ(::stat((run / "note.txt").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  ASSERT_TRUE(WriteNote(folder.get(), "other"));
  EXPECT_EQ(ReadNote(folder.get()), "other");
  ASSERT_TRUE(WriteNote(folder.get(), " \n"));
  EXPECT_FALSE(std::filesystem::exists(run / "note.txt"));
  ASSERT_TRUE(WriteNote(folder.get(), "")) << "there is none";
}

TEST(RunNote, IsBoundedPlainText) {
  const testing::TempDir run;
  const UniqueFd folder = Open(run);
  EXPECT_TRUE(CheckNote(std::string(kMaxNote, 'x')));
  for (const std::string& text : {std::string(kMaxNote + 1, 'x'), std::string("\x1b[2J"), std::string("a\0b", 3),
                                  std::string("\xff"), std::string("a\rb"), std::string("\x7f")}) {
    EXPECT_FALSE(WriteNote(folder.get(), text));
    std::ofstream(run / "note.txt") << text;
    EXPECT_EQ(ReadNote(folder.get()), "") << "of a run directory from elsewhere";
  }
  std::filesystem::remove(run / "note.txt");
  std::ofstream(run / "other") << "secret";
  std::filesystem::create_symlink(run / "other", run / "note.txt");
  EXPECT_EQ(ReadNote(folder.get()), "") << "links are not followed";
}

TEST(RunNote, IsIndentedForATerminal) {
  EXPECT_EQ(NoteText("a\nb\tc", 3), "a\n   b\tc");
  EXPECT_EQ(NoteText("", 3), "");
}

}  // namespace
}  // namespace muster
