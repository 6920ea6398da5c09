// Tests file change events for a folder and a file.
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/inotify.h>

#include "base/system/file_access.h"
#include "base/system/unique_fd.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

TEST(FileChanges, ReportsNamesOfEveryLengthAndAllQueuedEvents) {
  const testing::TempDir folder;
  const UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  const int watch = ::inotify_add_watch(inotify.get(), folder.path().c_str(), IN_CREATE);
  ASSERT_GE(watch, 0);
  std::vector<std::string> made;
  for (std::size_t length = 1; length <= 255; ++length) {  // more than one read() returns
    made.emplace_back(length, 'x');
    std::ofstream(folder / made.back()) << "x";
  }
  std::vector<std::string> reported;
  const auto tell = [&](const FileChange& change) {
    EXPECT_EQ(change.watch, watch);
    EXPECT_EQ(change.mask, static_cast<std::uint32_t>(IN_CREATE));
    reported.emplace_back(change.name);
  };
  ReadFileChanges(inotify.get(), tell);
  EXPECT_EQ(reported, made);
  reported.clear();
  ReadFileChanges(inotify.get(), tell);
  EXPECT_TRUE(reported.empty());
}

TEST(FileChanges, HasNoNameForAWatchedFileItself) {
  const testing::TempDir folder;
  const std::string file = folder / "file";
  std::ofstream(file) << "x";
  const UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  const int watch = ::inotify_add_watch(inotify.get(), file.c_str(), IN_MODIFY | IN_ONESHOT);
  std::ofstream(file, std::ios::app) << "y";
  std::vector<std::pair<std::uint32_t, std::string>> reported;
  ReadFileChanges(inotify.get(), [&](const FileChange& change) {
    EXPECT_EQ(change.watch, watch);
    reported.emplace_back(change.mask, change.name);
  });
  EXPECT_EQ(reported, (std::vector<std::pair<std::uint32_t, std::string>>{{IN_MODIFY, ""}, {IN_IGNORED, ""}}));
}

}  // namespace
}  // namespace muster
