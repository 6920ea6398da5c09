#include "base/system/host_name.h"

#include <gtest/gtest.h>

#include "base/values/quoting.h"

namespace muster {
namespace {

TEST(HostName, IsSafeInEveryPosition) {
  for (const char* name : {"n1", "n-1.example_org", "10.0.0.1", "::1", "2001:db8::17"}) {
    EXPECT_TRUE(IsHostOrAddress(name)) << name;
  }
  for (const char* name : {"", "-n", "n 1", "n;1", "$(n)", "n\n", "me@n1", "büro", "1::2::3"}) {
    EXPECT_FALSE(IsHostOrAddress(name)) << name;
  }
}

TEST(HostName, IsDerivedFromTheMachinesOwnName) {
  EXPECT_EQ(AsHostName("n1.example.org"), "n1.example.org");
  EXPECT_EQ(AsHostName("(none)"), "none");
  EXPECT_EQ(AsHostName("my pc"), "my-pc");
  EXPECT_EQ(AsHostName("$()"), "localhost");
  EXPECT_EQ(AsHostName(""), "localhost");
  EXPECT_EQ(AsHostName(std::string(300, 'a')).size(), 255U);
}

TEST(PlainText, HasNoShellMetacharacters) {
  EXPECT_TRUE(IsPlain("/home/größe/runs/2026-11-20_12.06:a,b+c@d%e"));
  for (const char c : std::string_view(" \t\n'\"\\$`;&|<>()[]{}*?~#!^=\0", 27)) {
    EXPECT_FALSE(IsPlain(std::string_view(&c, 1))) << c;
  }
  EXPECT_TRUE(IsPlain("a b", " "));
}

}  // namespace
}  // namespace muster
