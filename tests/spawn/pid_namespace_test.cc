#include <cerrno>

#include <gtest/gtest.h>

#include "spawn/leftovers/confinement.h"

namespace muster {
namespace {

TEST(InnermostPid, IsTheLastNumberOfItsLine) {
  EXPECT_EQ(InnermostPid("Name:\tx\nPid:\t77\nNSpid:\t77\t5\nNSpgid:\t77\t6\n"), 5);
  EXPECT_EQ(InnermostPid("Name:\tx\nNSpid:\t77\n"), 77);
  EXPECT_EQ(InnermostPid("Name:\tNSpid:\t1\nNSpid:\t77\t5\t3"), 3) << "a name may be anything";
  EXPECT_EQ(InnermostPid("Name:\tx\n"), std::nullopt);
  EXPECT_EQ(InnermostPid("Name:\tx\nNSpid:\n"), std::nullopt);
  EXPECT_EQ(InnermostPid("Name:\tx\nNSpid:\tx\n"), std::nullopt);
  EXPECT_EQ(InnermostPid(""), std::nullopt);
}

TEST(NamespaceError, NamesTheStageTheReasonAndTheLimit) {
  const std::string text = NamespaceErrorText({"unshare", EPERM});
  EXPECT_TRUE(text.starts_with("a PID namespace cannot be created: unshare: Operation not permitted")) << text;
  EXPECT_EQ(NamespaceErrorText({"proc", EPERM}), "a PID namespace cannot be created: proc: Operation not permitted");
}

}  // namespace
}  // namespace muster
