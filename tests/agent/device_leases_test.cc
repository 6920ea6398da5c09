// Leases between processes that are one here: a lock belongs to an open file, so two objects are two musters.
#include "agent/device_leases.h"

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temp_dir.h"

namespace muster {
namespace {

using Taken = std::vector<std::size_t>;

DeviceLeases::Wish Any(std::size_t count, std::vector<std::string> of, bool shared = false) {
  return {std::move(of), count, shared, "run a1 of ann"};
}

class Leases : public ::testing::Test {
 protected:
  std::string ErrorOf(DeviceLeases& leases, const DeviceLeases::Wish& wish) {
    const auto taken = leases.Take(wish);
    return taken ? "taken" : taken.error();
  }

  testing::TempDir temp_;
  std::string folder_ = temp_ / "leases";
  DeviceLeases one_{folder_};
  DeviceLeases other_{folder_};
};

TEST_F(Leases, AreNeverGivenTwice) {
  EXPECT_EQ(one_.Take(Any(2, {"0", "1", "2", "3"})), (Taken{0, 1}));
  EXPECT_EQ(other_.Take(Any(2, {"0", "1", "2", "3"})), (Taken{2, 3}));
  DeviceLeases third(folder_);
  EXPECT_EQ(ErrorOf(third, Any(1, {"0", "1", "2", "3"})), "devices 0,1,2,3 are held by run a1 of ann");
}

TEST_F(Leases, OfWhichThereAreNotEnoughAreNotTakenAtAll) {
  ASSERT_TRUE(one_.Take(Any(1, {"2"})));
  EXPECT_EQ(ErrorOf(other_, Any(3, {"1", "2", "3"})), "device 2 is held by run a1 of ann");
  DeviceLeases third(folder_);
  EXPECT_EQ(third.Take(Any(2, {"1", "3"})), (Taken{0, 1})) << "the one before holds nothing";
}

TEST_F(Leases, EndWithTheirHolder) {
  {
    DeviceLeases brief(folder_);
    ASSERT_TRUE(brief.Take(Any(1, {"0"})));
    EXPECT_EQ(ErrorOf(one_, Any(1, {"0"})), "device 0 is held by run a1 of ann");
  }
  EXPECT_EQ(one_.Take(Any(1, {"0"})), Taken{0});
  one_.GiveUp();
  EXPECT_EQ(one_.held(), 0U);
  EXPECT_EQ(other_.Take(Any(1, {"0"})), Taken{0});
}

TEST_F(Leases, AreSharedOnlyWhereAllHoldersShare) {
  ASSERT_TRUE(one_.Take(Any(1, {"0"}, true)));
  EXPECT_EQ(other_.Take(Any(1, {"0"}, true)), Taken{0});
  DeviceLeases third(folder_);
  EXPECT_EQ(ErrorOf(third, Any(1, {"0"})), "device 0 is held by run a1 of ann");
  EXPECT_EQ(third.Take(Any(1, {"0", "1"})), Taken{1});
  DeviceLeases fourth(folder_);
  EXPECT_EQ(ErrorOf(fourth, Any(1, {"1"}, true)), "device 1 is held by run a1 of ann");
}

TEST_F(Leases, CanBeTakenByAllUsersOfTheHost) {
  const mode_t before = ::umask(077);
  ASSERT_TRUE(one_.Take(Any(1, {"0"})));
  ::umask(before);
  struct stat status = {};
  ASSERT_EQ(::stat(folder_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 01777U);
  for (const char* name : {"/device-0", "/choosing"}) {
    ASSERT_EQ(::stat((folder_ + name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0666U) << name;
  }
}

TEST_F(Leases, OfAFileThatWasRemovedAreTakenAnew) {
  ASSERT_TRUE(one_.Take(Any(1, {"0"})));
  one_.GiveUp();
  std::filesystem::remove(folder_ + "/device-0");
  ASSERT_TRUE(other_.Take(Any(1, {"0"})));
  EXPECT_EQ(ErrorOf(one_, Any(1, {"0"})), "device 0 is held by run a1 of ann");
}

TEST_F(Leases, WriteIntoNoFileThatSomebodyPutThere) {
  ASSERT_TRUE(one_.Take(Any(1, {"7"})));
  std::ofstream(temp_ / "precious") << "precious";
  std::filesystem::create_hard_link(temp_ / "precious", folder_ + "/device-0");
  std::filesystem::create_symlink(temp_ / "precious", folder_ + "/device-1");
  ASSERT_EQ(::mkfifo((folder_ + "/device-2").c_str(), 0666), 0);
  for (const char* device : {"0", "1", "2"}) {
    EXPECT_TRUE(ErrorOf(other_, Any(1, {device})).starts_with("the lease of device ")) << device;
  }
  std::ifstream precious(temp_ / "precious");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(precious), {}), "precious");
}

TEST_F(Leases, TellWhatStrangersWroteAsTextOnly) {
  ASSERT_TRUE(one_.Take(Any(1, {"0"})));
  std::ofstream(folder_ + "/device-0") << "\x1b[31m" << std::string(10'000, 'x') << "\nmore";
  const std::string error = ErrorOf(other_, Any(1, {"0"}));
  EXPECT_EQ(error.find('\x1b'), std::string::npos);
  EXPECT_LT(error.size(), 400U);
}

TEST_F(Leases, GiveUpWaitingForOneWhoChoosesForEver) {
  ASSERT_TRUE(one_.Take(Any(1, {"0"})));
  const UniqueFd choosing(::open((folder_ + "/choosing").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(choosing.get(), LOCK_EX), 0);
  const auto taken = other_.Take(Any(1, {"1"}), 1);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error(), "somebody has been choosing devices for too long: \"" + folder_ + "/choosing\" is locked");
}

TEST(LeaseFolder, IsTheSameForEverybody) {
  EXPECT_EQ(LeaseFolder("/given"), "/given");
  const std::string folder = LeaseFolder("");
  EXPECT_TRUE(folder == "/run/lock/muster-leases" || folder == "/tmp/muster-leases") << folder;
}

}  // namespace
}  // namespace muster
