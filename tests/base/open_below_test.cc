// Tests opening files below a directory, with and without openat2: no path may escape it.
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "support/file_content.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

using testing::ContentOf;

class OpensBelow : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "run/logs");
    fs::create_directories(folder_ / "outside");
    std::ofstream(folder_ / "outside/file") << "secret";
    std::ofstream(folder_ / "run/logs/file") << "log";
    directory_ = UniqueFd(::open((folder_ / "run").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }

  UniqueFd Open(const std::string& path, int flags = O_RDONLY) const {
    return GetParam() ? OpenBelow(directory_.get(), path, flags, 0600)
                      : OpenBelowByParts(directory_.get(), path, flags, 0600);
  }

  testing::TempDir folder_;
  UniqueFd directory_;
};

TEST_P(OpensBelow, AcceptsPathsThatStayBelow) {
  EXPECT_TRUE(Open("logs/file"));
  EXPECT_TRUE(Open("logs/new", O_WRONLY | O_CREAT | O_EXCL));
  EXPECT_TRUE(fs::exists(folder_ / "run/logs/new"));
  EXPECT_FALSE(Open("logs/file", O_WRONLY | O_CREAT | O_EXCL));
  EXPECT_EQ(errno, EEXIST);
  for (const std::string& path :
       {std::string(), std::string("/etc/passwd"), folder_ / "run/logs/file", std::string("../outside/file"),
        std::string("logs/../../outside/file"), std::string("logs/./file"), std::string("logs//file"),
        std::string("logs/"), std::string("logs\0/file", 10)}) {
    EXPECT_FALSE(Open(path)) << path;
    EXPECT_EQ(errno, EINVAL) << path;
  }
}

TEST_P(OpensBelow, FollowsNoLinkInAnyPart) {
  fs::create_directory_symlink("logs", folder_ / "run/inside");
  fs::create_directory_symlink(folder_ / "outside", folder_ / "run/out");
  fs::create_symlink(folder_ / "outside/file", folder_ / "run/logs/link");
  fs::create_symlink(folder_ / "outside/made", folder_ / "run/logs/dangling");
  for (const char* path : {"inside/file", "out/file", "logs/link", "logs/dangling"}) {
    EXPECT_FALSE(Open(path)) << path;
    EXPECT_FALSE(Open(path, O_WRONLY | O_CREAT)) << path;
  }
  EXPECT_FALSE(fs::exists(folder_ / "outside/made"));
  EXPECT_EQ(ContentOf(folder_ / "outside/file"), "secret");
}

TEST_P(OpensBelow, StaysInTheOpenedDirectoryAfterItsNameIsReused) {
  fs::rename(folder_ / "run", folder_ / "moved");
  fs::create_directory_symlink(folder_ / "outside", folder_ / "run");
  fs::create_directories(folder_ / "outside/logs");
  const UniqueFd made = Open("logs/new", O_WRONLY | O_CREAT | O_EXCL);
  ASSERT_TRUE(made);
  EXPECT_TRUE(fs::exists(folder_ / "moved/logs/new"));
  EXPECT_FALSE(fs::exists(folder_ / "outside/logs/new"));
  EXPECT_EQ(ContentOf(FileBelow{directory_.get(), "logs/file"}.ThroughDescriptor()), "log");
}

INSTANTIATE_TEST_SUITE_P(Kernel, OpensBelow, ::testing::Bool(),
                         [](const auto& with) { return std::string(with.param ? "WithOpenat2" : "WithoutOpenat2"); });

class OpensInside : public ::testing::Test {
 protected:
  OpensInside() {
    fs::create_directories(temp_ / "folder/lib/deep");
    std::ofstream(temp_ / "folder/lib/a") << "a";
    std::ofstream(temp_ / "secret") << "secret";
    fs::create_symlink("lib/a", temp_ / "folder/inside");
    fs::create_directory_symlink("lib", temp_ / "folder/also");
    fs::create_symlink("../secret", temp_ / "folder/out");
    fs::create_directory_symlink("..", temp_ / "folder/up");
    folder_.reset(::open((temp_ / "folder").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  // Returns 0 or errno.
  int Inside(const std::string& path, int flags = O_RDONLY) const {
    return OpenInside(folder_.get(), path, flags) ? 0 : errno;
  }
  int Below(const std::string& path, int flags) const { return OpenBelow(folder_.get(), path, flags) ? 0 : errno; }
  int ByParts(const std::string& path, int flags) const {
    return OpenBelowByParts(folder_.get(), path, flags) ? 0 : errno;
  }

  testing::TempDir temp_;
  UniqueFd folder_;
};

TEST_F(OpensInside, AcceptsPathsThatStayBelow) {
  for (const char* path : {"lib/a", "./lib//a", "lib", ".", "lib/deep/"}) EXPECT_EQ(Inside(path), 0) << path;
  for (const char* path : {"", "nope", "lib/nope", "nope/a"}) EXPECT_EQ(Inside(path), ENOENT) << path;
}

TEST_F(OpensInside, FollowsLinksThatStayBelow) {
  for (const char* path : {"inside", "also/a", "also"}) {
    EXPECT_EQ(Inside(path), 0) << path;
    for (const int flags : {O_RDONLY, O_PATH, O_PATH | O_DIRECTORY}) {
      EXPECT_EQ(Below(path, flags), ELOOP) << path;
      EXPECT_EQ(ByParts(path, flags), ELOOP) << path;
    }
  }
}

TEST_F(OpensInside, NeverEscapesTheDirectory) {
  for (const std::string& path :
       {std::string("../secret"), std::string("lib/../../secret"), std::string("/etc/hostname"), temp_ / "folder/lib/a",
        std::string("out"), std::string("up/secret")}) {
    EXPECT_EQ(Inside(path), EXDEV) << path;
  }
}

TEST_F(OpensInside, DoesNotBlockOnAFifo) {
  ASSERT_EQ(::mkfifo((temp_ / "folder/fifo").c_str(), 0600), 0);
  EXPECT_EQ(Inside("fifo"), 0);
}

TEST(Procfs, IsDetected) {
  const UniqueFd file(::open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  const UniqueFd other(::open("/", O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(IsInProcfs(file.get()));
  EXPECT_FALSE(IsInProcfs(other.get()));
}

}  // namespace
}  // namespace muster
