// Tests addresses in front of ports: which of them get brackets.
#include <gtest/gtest.h>

#include "base/values/quoting.h"

namespace muster {
namespace {

TEST(Endpoint, PutsOnlyIpv6LiteralsIntoBrackets) {
  EXPECT_EQ(EndpointText("::1", 80), "[::1]:80");
  EXPECT_EQ(EndpointText("fe80::1%eth0", 80), "[fe80::1%eth0]:80");
  EXPECT_EQ(EndpointText("192.0.2.1", 80), "192.0.2.1:80");
  EXPECT_EQ(EndpointText("n01.example.org", 80), "n01.example.org:80");
  EXPECT_EQ(AddressBeforePort("[::1]"), "[::1]") << "not twice";
}

}  // namespace
}  // namespace muster
