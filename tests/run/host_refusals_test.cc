#include <gtest/gtest.h>

#include "run/hosts/inspection_report.h"

namespace muster {
namespace {

const AgentUnreachable kDenied{"permission denied", "put your key there"};
const AgentUnreachable kSilent{"no answer", "is it on?"};

TEST(HostRefusals, AreGroupedAndSortedByNumberOfHosts) {
  EXPECT_EQ(RefusalsText({{"n9", kSilent}, {"n03", kDenied}, {"n04", kDenied}, {"n07", kDenied}}, 64),
            "3 of 64 hosts: permission denied: n[03-04],n07; 1 of 64 hosts: no answer: n9");
  EXPECT_EQ(RefusalHints({{"n9", kSilent}, {"n3", kDenied}, {"n7", kDenied}}),
            (std::vector<std::string>{"put your key there", "is it on?"}));
}

TEST(HostRefusals, NameASingleHost) { EXPECT_EQ(RefusalsText({{"ann@n1", kDenied}}, 1), "ann@n1: permission denied"); }

TEST(HostRefusals, OmitAnEmptyHint) {
  EXPECT_TRUE(RefusalHints({{"n1", {"its agent: it speaks protocol 1, this muster 4", ""}}}).empty());
}

}  // namespace
}  // namespace muster
