// Tests reading logs whose beginning is dropped: files in every state that a drop, complete or interrupted, can leave.
#include "wire/files/log_bytes.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temp_dir.h"

namespace muster {
namespace {

constexpr std::uint64_t kBlock = 64U << 10;

class LimitedLog : public ::testing::Test {
 protected:
  void Put(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  }
  void PutHead(const LogHead& head) const { Put("w.0.idx", std::string(kLimitedIndexHead) + LogHeadBytes(head)); }
  std::uint64_t Inode(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::stat((folder / name).c_str(), &status), 0);
    return status.st_ino;
  }
  // Returns "OFFSET:bytes".
  std::string Read(LogBytes& log, std::uint64_t offset, std::size_t size = 64) const {
    std::string bytes(size, '\0');
    bytes.resize(log.Read(offset, bytes.data(), size));
    return std::to_string(offset) + ':' + bytes;
  }
  std::string Read(std::uint64_t offset, std::size_t size = 64) const {
    auto log = LogBytes::Open(AT_FDCWD, folder / "w.0.log");
    return log ? Read(*log, offset, size) : "none";
  }

  testing::TempDir folder;
};

TEST(LogHead, IsReadAsItWasWritten) {
  const LogHead head{1, 0xfedcba9876543210U, kCollapsing, 1U << 20};
  EXPECT_EQ(LogHeadFrom(LogHeadBytes(head)), head);
  EXPECT_EQ(LogHeadBytes(head).size(), kLogHeadBytes);
}

TEST(LogHead, YieldsTheBaseOffsetOfTheFile) {
  EXPECT_EQ(BaseOf({100, 100, 0, 1}, 7, false), 100U);
  EXPECT_EQ(BaseOf({100, 300, 0, 1}, 7, true), 100U) << "a hole that was not begun to be cut out";
  EXPECT_EQ(BaseOf({100, 300, kCollapsing, 1}, 7, true), 100U) << "not cut yet";
  EXPECT_EQ(BaseOf({100, 300, kCollapsing, 1}, 7, false), 300U) << "cut";
  EXPECT_EQ(BaseOf({100, 300, 8, 1}, 7, false), 100U) << "to be replaced";
  EXPECT_EQ(BaseOf({100, 300, 8, 1}, 8, false), 300U) << "what replaced it";
}

TEST_F(LimitedLog, IsReadByStableOffsets) {
  Put("w.0.log", "fghij");
  PutHead({5, 5, 0, 10});
  EXPECT_EQ(Read(6), "6:ghij");
  EXPECT_EQ(Read(7, 2), "7:hi");
  EXPECT_EQ(Read(0), "5:fghij") << "from the first byte that is kept";
  EXPECT_EQ(Read(10), "10:");
  auto log = LogBytes::Open(AT_FDCWD, folder / "w.0.log");
  ASSERT_TRUE(log);
  EXPECT_EQ(log->Look().begin, 5U);
  EXPECT_EQ(log->Look().end, 10U);
  std::uint64_t offset = 0;
  EXPECT_EQ(log->ReadBefore(9, 3, offset), "ghi");
  EXPECT_EQ(offset, 6U);
  EXPECT_EQ(log->ReadBefore(~std::uint64_t{0}, 100, offset), "fghij");
  EXPECT_EQ(offset, 5U);
}

TEST_F(LimitedLog, WithoutALimitIsReadFromItsStart) {
  Put("w.0.log", "abc");
  EXPECT_EQ(Read(1), "1:bc") << "no index yet";
  Put("w.0.idx", std::string(kTimeIndexHead));
  EXPECT_EQ(Read(1), "1:bc");
  EXPECT_EQ(ReadLogHead(AT_FDCWD, folder / "w.0.log"), std::nullopt);
}

TEST_F(LimitedLog, IsReadCorrectlyBeforeAndAfterACollapse) {
  PutHead({0, kBlock, kCollapsing, kBlock});
  Put("w.0.log", "kept\n");
  EXPECT_EQ(Read(0), std::to_string(kBlock) + ":kept\n") << "cut, and nobody could say so";
  std::filesystem::resize_file(folder / "w.0.log", 0);
  std::filesystem::resize_file(folder / "w.0.log", kBlock);
  std::ofstream(folder / "w.0.log", std::ios::app) << "kept\n";
  EXPECT_EQ(Read(0), std::to_string(kBlock) + ":kept\n") << "not cut yet";
}

TEST_F(LimitedLog, IsFollowedIntoItsReplacement) {
  Put("w.0.log", "abcdef");
  PutHead({0, 0, 0, 10});
  auto log = LogBytes::Open(AT_FDCWD, folder / "w.0.log");
  ASSERT_TRUE(log);
  EXPECT_EQ(Read(*log, 2), "2:cdef");
  Put("w.0.next", "efgh");
  PutHead({0, 4, Inode("w.0.next"), 10});
  EXPECT_EQ(Read(*log, 5), "5:f") << "the old file until it is replaced";
  EXPECT_EQ(Read(*log, 0), "4:ef") << "and no more of it than is kept";
  std::filesystem::rename(folder / "w.0.next", folder / "w.0.log");
  EXPECT_EQ(Read(*log, 5), "5:fgh");
  PutHead({4, 4, 0, 10});
  EXPECT_EQ(Read(*log, 5), "5:fgh");
  EXPECT_EQ(Read(*log, 1), "4:efgh");
  EXPECT_EQ(log->Look().end, 8U);
}

}  // namespace
}  // namespace muster
