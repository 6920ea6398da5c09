// Tests parsing of host lists and host files.
#include "plan/hosts/host_list.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

std::string Read(std::string_view text) {
  const auto hosts = ParseHostList(text, "--host");
  if (!hosts) return hosts.error().front().message;
  std::string names;
  for (const SiteHost& host : *hosts) {
    names += (names.empty() ? "" : " ") + host.name;
    if (host.devices) names += '/' + std::to_string(*host.devices);
    if (!host.address.empty()) names += '!';
  }
  EXPECT_EQ(*ParseHostList(HostListText(*hosts), "again"), *hosts) << HostListText(*hosts);
  return names;
}

TEST(HostList, ParsesNamesRangesAndDevices) {
  EXPECT_EQ(Read("n1"), "n1");
  EXPECT_EQ(Read("n[1-3]:8"), "n1/8 n2/8 n3/8");
  EXPECT_EQ(Read("n[01-03,7],login:4"), "n01 n02 n03 n7 login/4");
  EXPECT_EQ(Read("n[098-101]"), "n098 n099 n100 n101");
  EXPECT_EQ(Read("n[8-11]"), "n8 n9 n10 n11");
  EXPECT_EQ(Read("r[1-2]n[01-02]x:1"), "r1n01x/1 r1n02x/1 r2n01x/1 r2n02x/1");
  EXPECT_EQ(Read("me@n1:0,192.0.2.1,[2001:db8::1]:2"), "me@n1/0 192.0.2.1! 2001:db8::1/2!");
}

TEST(HostList, RefusesInvalidText) {
  for (const char* text : {"",
                           ",",
                           "n1,",
                           "n1,,n2",
                           "n[1-3",
                           "n1]",
                           "n[[1]]",
                           "n[3-1]",
                           "n[]",
                           "n[a]",
                           "n[1-]",
                           "n[-1]",
                           "n[+1]",
                           "-n1",
                           "-oProxyCommand=x",
                           "n 1",
                           "n1:x",
                           "n1:",
                           "n1:-1",
                           "n1:9999",
                           "[n1:2]",
                           "[::1]x",
                           "[::1]:",
                           "a@b@c",
                           "@n",
                           "a@-b",
                           "n/1",
                           "n\n1",
                           "n[1-99999999999999999999]"}) {
    const auto hosts = ParseHostList(text, "--host");
    ASSERT_FALSE(hosts) << text;
    EXPECT_EQ(hosts.error().front().kind, "hosts");
    EXPECT_TRUE(hosts.error().front().message.starts_with("--host: ")) << hosts.error().front().message;
  }
  EXPECT_EQ(Read("n1,n[1-2]"), "--host: \"n1\": the host is named twice");
  EXPECT_EQ(Read("n[0-65535]x[0-1]"), "--host: more than 65536 hosts");
  EXPECT_EQ(Read("n[0-18446744073709551615]"), "--host: more than 65536 hosts");
}

TEST(HostFile, ParsesTheFormatsOfOtherLaunchers) {
  const auto hosts =
      ParseHostFile("# two racks\nn1 slots=8\nn2 slots=4 max_slots=8\n\n  n[3-4]:2  # more\nn5 6\r\nn6", "hosts");
  ASSERT_TRUE(hosts);
  EXPECT_EQ(HostListText(*hosts), "n1:8,n2:4,n[3-4]:2,n5:6,n6");
}

TEST(HostFile, NamesAnInvalidLine) {
  const auto hosts = ParseHostFile("n1\nn2 slots=many\n", "hosts");
  ASSERT_FALSE(hosts);
  EXPECT_EQ(hosts.error().front().place, (Place{"hosts", 2}));
  const auto twice = ParseHostFile("n1\nn1\n", "hosts");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().front().place, (Place{"hosts", 2}));
  EXPECT_FALSE(ParseHostFile("# nobody\n", "hosts"));
}

TEST(HostList, OmitsExcludedHosts) {
  const auto all = *ParseHostList("n[1-4]:8", "--host");
  EXPECT_EQ(HostListText(*WithoutHosts(all, *ParseHostList("n[2-3]", "--exclude"))), "n1:8,n4:8");
  const auto unknown = WithoutHosts(all, *ParseHostList("n9", "--exclude"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().front().message, "--exclude n9: no such host is named");
  EXPECT_FALSE(WithoutHosts(all, *ParseHostList("n[1-4]", "--exclude")));
}

// Prevents: one machine counts as two, since its name is written differently.
TEST(HostList, ComparesNamesWithoutCase) {
  EXPECT_FALSE(ParseHostList("N1,n1", "--host"));
  EXPECT_FALSE(ParseHostList("n[1-2],N2", "--host"));
  const auto left = WithoutHosts(*ParseHostList("GPU-A,gpu-b", "--host"), *ParseHostList("gpu-a", "--exclude"));
  ASSERT_TRUE(left);
  EXPECT_EQ(HostListText(*left), "gpu-b");
}

TEST(HostList, ReadsHostFilesOfOtherLaunchersAsTheyAreWritten) {
  const auto hosts = ParseHostFile("\xef\xbb\xbfn1 slots = 2\r\nn2 max_slots=4\nn3 slots=2 max-slots = 8\n", "h");
  ASSERT_TRUE(hosts) << hosts.error().front().message;
  EXPECT_EQ(HostListText(*hosts), "n1:2,n2:4,n3:2");
}

}  // namespace
}  // namespace muster
