// Tests device leases of several processes within one process: a lock belongs to an open file description, so two
// objects behave like two processes.
#include "agent/devices/device_leases.h"

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

DeviceLeases::Request Any(std::size_t count, std::vector<std::string> of, bool shared = false) {
  return {{std::move(of), count, shared}, "run a1 of ann", "run:a1", {}};
}

DeviceLeases::Request Of(const std::string& owner, std::size_t count = 1) {
  return {{{"0", "1"}, count}, owner + " of ann", owner, {}};
}

class Leases : public ::testing::Test {
 protected:
  std::string ErrorOf(DeviceLeases& leases, const DeviceLeases::Request& request) {
    const auto taken = leases.Take(request);
    return taken ? "taken" : taken.error().why;
  }

  testing::TempDir temp_;
  std::string folder_ = temp_ / "leases";
  DeviceLeases one_{folder_};
  DeviceLeases other_{folder_};
};

TEST_F(Leases, AreExclusive) {
  EXPECT_EQ(one_.Take(Any(2, {"0", "1", "2", "3"})), (Taken{0, 1}));
  EXPECT_EQ(other_.Take(Any(2, {"0", "1", "2", "3"})), (Taken{2, 3}));
  DeviceLeases third(folder_);
  EXPECT_EQ(ErrorOf(third, Any(1, {"0", "1", "2", "3"})), "devices 0,1,2,3 are held by run a1 of ann");
}

TEST_F(Leases, AreTakenAllOrNone) {
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

TEST_F(Leases, AreWritableByAllUsersOfTheHost) {
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

TEST_F(Leases, OfARemovedFileCanBeTakenAgain) {
  ASSERT_TRUE(one_.Take(Any(1, {"0"})));
  one_.GiveUp();
  std::filesystem::remove(folder_ + "/device-0");
  ASSERT_TRUE(other_.Take(Any(1, {"0"})));
  EXPECT_EQ(ErrorOf(one_, Any(1, {"0"})), "device 0 is held by run a1 of ann");
}

TEST_F(Leases, NeverWriteIntoPlantedFiles) {
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

TEST_F(Leases, EscapeTextWrittenByForeignProcesses) {
  ASSERT_TRUE(one_.Take(Any(1, {"0"})));
  std::ofstream(folder_ + "/device-0") << "\x1b[31m" << std::string(10'000, 'x') << "\nmore";
  const std::string error = ErrorOf(other_, Any(1, {"0"}));
  EXPECT_EQ(error.find('\x1b'), std::string::npos);
  EXPECT_LT(error.size(), 400U);
}

TEST_F(Leases, TimeOutWaitingForTheDeviceLock) {
  ASSERT_TRUE(one_.Take(Any(1, {"0"})));
  const UniqueFd choosing(::open((folder_ + "/choosing").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(choosing.get(), LOCK_EX), 0);
  const auto taken = other_.Take(Any(1, {"1"}), 1);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().why, "timed out waiting for the device lock: \"" + folder_ + "/choosing\" is locked");
}

TEST_F(Leases, AreGrantedInOrderOfWaiting) {
  DeviceLeases third(folder_);
  ASSERT_EQ(one_.Take(Of("a", 2)), (Taken{0, 1}));
  EXPECT_FALSE(other_.TakeInTurn(Of("b")));
  EXPECT_FALSE(third.TakeInTurn(Of("c")));
  DeviceLeases late(folder_);
  one_.GiveUp();
  const auto refused = late.Take(Of("d"));
  ASSERT_FALSE(refused) << "both are due to those that wait";
  EXPECT_TRUE(refused.error().passes);
  EXPECT_EQ(refused.error().why,
            "device 0 is kept for b of ann, which waits longer; device 1 is kept for c of ann, which waits longer");
  EXPECT_EQ(third.TakeInTurn(Of("c")), Taken{1}) << "whoever looks first";
  EXPECT_EQ(other_.TakeInTurn(Of("b")), Taken{0});
  other_.GiveUp();
  EXPECT_EQ(late.Take(Of("d")), Taken{0});
}

TEST_F(Leases, AreNotReservedForAWaiterThatLeft) {
  ASSERT_TRUE(one_.Take(Of("a", 2)));
  ASSERT_FALSE(other_.TakeInTurn(Of("b")));
  {
    DeviceLeases killed(folder_);
    ASSERT_FALSE(killed.TakeInTurn(Of("c")));
  }
  other_.Withdraw();
  one_.GiveUp();
  DeviceLeases late(folder_);
  EXPECT_EQ(late.Take(Of("d", 2)), (Taken{0, 1}));
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("waiting-")) << entry.path();
  }
}

TEST_F(Leases, GoToTheOwnerThatHoldsFewerDevices) {
  // Two trials of sweep a hold both devices; a third waits longer than a trial of sweep b.
  DeviceLeases second(folder_);
  DeviceLeases third(folder_);
  ASSERT_TRUE(one_.Take(Of("sweep:a")));
  ASSERT_TRUE(second.Take(Of("sweep:a")));
  ASSERT_FALSE(third.TakeInTurn(Of("sweep:a")));
  ASSERT_FALSE(other_.TakeInTurn(Of("sweep:b")));
  one_.GiveUp();
  EXPECT_FALSE(third.TakeInTurn(Of("sweep:a")));
  EXPECT_EQ(other_.TakeInTurn(Of("sweep:b")), Taken{0});
}

TEST_F(Leases, GoToALargeJobAfterTheOvertakeLimit) {
  ASSERT_TRUE(one_.Take(Of("x")));
  DeviceLeases large(folder_);
  ASSERT_FALSE(large.TakeInTurn(Of("large", 2)));
  std::uint32_t overtakes = 0;
  for (;; ++overtakes) {
    DeviceLeases small(folder_);
    if (!small.Take(Of("small" + std::to_string(overtakes)))) break;
    ASSERT_LE(overtakes, kMaxDeviceOvertakes);
  }
  EXPECT_EQ(overtakes, kMaxDeviceOvertakes);
  one_.GiveUp();
  EXPECT_EQ(large.TakeInTurn(Of("large", 2)), (Taken{0, 1}));
}

TEST_F(Leases, AreNotWaitedForByTheirOwnHolder) {
  DeviceLeases::Request request = Of("run:a", 2);
  request.job = "a";
  ASSERT_TRUE(one_.Take(request));
  const auto refused = other_.TakeInTurn(request);
  ASSERT_FALSE(refused);
  EXPECT_FALSE(refused.error().passes);
}

TEST_F(Leases, SpreadSharingJobsOverDevices) {
  std::vector<DeviceLeases> leases;
  std::vector<std::size_t> given;
  for (int i = 0; i < 6; ++i) {
    const auto taken = leases.emplace_back(folder_).Take(Any(1, {"0", "1", "2"}, true));
    ASSERT_TRUE(taken);
    given.push_back(taken->front());
  }
  EXPECT_EQ(given, (Taken{0, 1, 2, 0, 1, 2}));
  leases[1].GiveUp();
  DeviceLeases next(folder_);
  EXPECT_EQ(next.Take(Any(1, {"0", "1", "2"}, true)), Taken{1});
}

TEST_F(Leases, AreSharedByAtMostTheGivenNumber) {
  DeviceLeases::Request request = Any(1, {"0", "1"}, true);
  request.devices.per_device = 2;
  std::vector<DeviceLeases> leases;
  for (const unsigned device : {0U, 1U, 0U, 1U}) EXPECT_EQ(leases.emplace_back(folder_).Take(request), Taken{device});
  EXPECT_FALSE(leases.emplace_back(folder_).Take(request));
  leases.front().GiveUp();
  EXPECT_EQ(leases.back().Take(request), Taken{0});
}

TEST_F(Leases, IgnoreInvalidTicketsOfForeignProcesses) {
  ASSERT_TRUE(one_.Take(Of("a")));
  const UniqueFd ticket(::open((folder_ + "/waiting-7").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  ASSERT_EQ(::flock(ticket.get(), LOCK_EX), 0);
  for (const std::string& text : {std::string(), std::string("\n"), std::string("x\ncount=-1 arrival=z\n0,1\n"),
                                  std::string("x\ncount=1 arrival=0\n../../etc/passwd\n"),
                                  std::string("x\ncount=99999999999999999999\n0\n"), std::string(200'000, ',')}) {
    ASSERT_EQ(::ftruncate(ticket.get(), 0), 0);
    ASSERT_EQ(::pwrite(ticket.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    DeviceLeases late(folder_);
    EXPECT_EQ(late.Take(Of("b")), Taken{1}) << text.substr(0, 40);
  }
}

TEST(LeaseFolder, IsTheSameForAllUsers) {
  EXPECT_EQ(LeaseFolder("/given"), "/given");
  const std::string folder = LeaseFolder("");
  EXPECT_TRUE(folder == "/run/lock/muster-leases" || folder == "/tmp/muster-leases") << folder;
}

}  // namespace
}  // namespace muster
