// Tests the byte format of a timestamp index.
#include <string>

#include <gtest/gtest.h>

#include "wire/files/log_bytes.h"

namespace muster {
namespace {

using namespace std::string_literals;

TEST(TimeIndexFormat, IsLittleEndianInSixteenBytes) {
  std::string bytes;
  AppendLogTime(bytes, {0x1122334455667788, 0x99});
  EXPECT_EQ(bytes, "\x88\x77\x66\x55\x44\x33\x22\x11\x99\0\0\0\0\0\0\0"s);
  EXPECT_EQ(LogTimeFrom(bytes), (LogTime{0x1122334455667788, 0x99}));
  EXPECT_EQ(kTimeIndexHead.size(), kLogTimeBytes);
}

TEST(TimeIndexFormat, LiesBesideItsLog) {
  EXPECT_EQ(TimeIndexPath("/run/logs/worker.2.0.log"), "/run/logs/worker.2.0.idx");
  EXPECT_EQ(TimeIndexPath("/run/logs/other"), "/run/logs/other.idx");
}

}  // namespace
}  // namespace muster
