#include "run/start/host_files.h"

#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/system/unique_fd.h"
#include "run/scratch_folder.h"

namespace muster {
namespace {

class HostFilesTest : public ::testing::Test {
 protected:
  void Keep(std::uint64_t offset, const std::string& content, bool last = false) {
    const Result<void> kept = KeepFileBytes(folder.get(), {"logs/worker.0.0.log", offset, content, last});
    EXPECT_TRUE(kept) << (kept ? "" : kept.error().front().message);
  }
  std::string Log() const { return ContentOf(scratch / "logs/worker.0.0.log"); }

  ScratchFolder scratch;
  UniqueFd folder{::open(scratch.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(HostFilesTest, GrowWithTheirReceivedParts) {
  Keep(0, "one\n");
  Keep(4, "two\n");
  EXPECT_EQ(Log(), "one\ntwo\n");
  Keep(0, "ONE\n", true);
  EXPECT_EQ(Log(), "ONE\n") << "it was replaced by a shorter one";
}

TEST_F(HostFilesTest, HaveNoHolesForAnyOffsetOfAPart) {
  constexpr std::uint64_t kFar = std::uint64_t{1} << 43;
  Keep(0, "one\n");
  Keep(kFar, "last\n");
  EXPECT_EQ(Log(), "one\n\n[muster: 8796093022204 bytes are not here yet]\nlast\n");
  EXPECT_EQ(std::filesystem::file_size(scratch / "logs/worker.0.0.log"), Log().size());
  Keep(~std::uint64_t{0}, "x", true);
  EXPECT_LT(std::filesystem::file_size(scratch / "logs/worker.0.0.log"), 200U);
}

TEST_F(HostFilesTest, AreCorrectOnceMissingPartsHaveArrived) {
  const std::string middle(100, 'm');
  Keep(0, "one\n");
  Keep(104, "last\n");
  EXPECT_TRUE(Log().ends_with("last\n"));
  Keep(4, middle);
  Keep(104, "last\n", true);
  EXPECT_EQ(Log(), "one\n" + middle + "last\n");
}

}  // namespace
}  // namespace muster
