// Tests signals by name and number.
#include <gtest/gtest.h>
#include <signal.h>

#include "base/values/abnormal_exit.h"

namespace muster {
namespace {

TEST(SignalName, NamesCommonSignals) {
  EXPECT_EQ(SignalName(SIGKILL), "SIGKILL");
  EXPECT_EQ(SignalName(SIGTERM), "SIGTERM");
  EXPECT_EQ(SignalName(SIGSYS), "SIGSYS");
  EXPECT_EQ(SignalName(SIGRTMIN), "SIGRTMIN");
  EXPECT_EQ(SignalName(SIGRTMIN + 3), "SIGRTMIN+3");
}

TEST(SignalName, NamesOtherNumbersByTheNumber) {
  for (const std::int32_t number : {0, -1, 65, 77, 1 << 30})
    EXPECT_EQ(SignalName(number), "signal " + std::to_string(number));
}

TEST(SignalName, IsParsedWithAndWithoutItsPrefix) {
  for (std::int32_t signal = 1; signal < NSIG; ++signal) {
    const std::string name = SignalName(signal);
    if (!name.starts_with("SIG")) continue;  // the C library reserves 32 and 33
    EXPECT_EQ(SignalNumber(name), signal);
    EXPECT_EQ(SignalNumber(name.substr(3)), signal);
  }
}

TEST(SignalName, RefusesEverythingElse) {
  for (const char* word :
       {"", "SIG", "term", "SIGSIGTERM", "TERM ", "15", "RTMIN+", "RTMIN+99", "nal 77", "signal 77"}) {
    EXPECT_EQ(SignalNumber(word), std::nullopt) << word;
  }
}

}  // namespace
}  // namespace muster
