#include "spawn/start/account_names.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/file_content.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

TEST(AccountNames, AreFoundByTheNumberInTheThirdField) {
  constexpr std::string_view kFile =
      "root:x:0:0:root:/root:/bin/sh\n4711:x:12:4711::/:/bin/sh\nana:x:4711:5::/:\nend:x:9";
  EXPECT_EQ(AccountNameIn(kFile, "0"), "root");
  EXPECT_EQ(AccountNameIn(kFile, "4711"), "ana") << "neither a name nor the number of a group counts";
  EXPECT_EQ(AccountNameIn(kFile, "9"), "end") << "the last field of a line may be the number";
  EXPECT_EQ(AccountNameIn(kFile, "471"), "");
  EXPECT_EQ(AccountNameIn(kFile, "5"), "");
  for (const std::string_view broken : {"", "\n", "ana", "ana:x", ":", "::", ":::\n"}) {
    EXPECT_EQ(AccountNameIn(broken, "0"), "") << broken;
  }
}

TEST(AccountNames, AreThoseOfTheSystem) {
  EXPECT_EQ(UserName(0), "root");
  EXPECT_EQ(GroupName(0), "root");
  EXPECT_EQ(UserName(987'654'321), "uid 987654321");
  EXPECT_EQ(GroupName(987'654'321), "gid 987654321");
}

// A stand-in for getent(1) on PATH.
class DirectoryService : public ::testing::Test {
 protected:
  DirectoryService() : before_(std::getenv("PATH")) {}
  ~DirectoryService() override { ::setenv("PATH", before_.c_str(), 1); }

  void Answers(const std::string& script) {
    const std::string file = temp_.path() + "/getent";
    testing::PutContent(file, "#!/bin/sh\n" + script);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    ::setenv("PATH", (temp_.path() + ":/usr/bin:/bin").c_str(), 1);
  }

 private:
  const std::string before_;
  testing::TempDir temp_;
};

TEST_F(DirectoryService, IsAskedForAccountsThatNoFileHas) {
  Answers("[ \"$1:$2:$#\" = passwd:987654321:2 ] && echo 'far\x1b:x:987654321:5::/:' || echo 'staff:x:987654322:'");
  EXPECT_EQ(UserName(987'654'321), "far\\x1b") << "what a terminal would obey is escaped";
  EXPECT_EQ(GroupName(987'654'322), "staff");
  EXPECT_EQ(GroupName(987'654'323), "gid 987654323") << "an answer about another number is none";
  EXPECT_EQ(UserName(0), "root") << "/etc/passwd comes first";
}

TEST_F(DirectoryService, IsNotWaitedForIfItDoesNotAnswer) {
  Answers("exec sleep 1000");
  EXPECT_EQ(UserName(987'654'321), "uid 987654321");
  Answers("exit 2");
  EXPECT_EQ(UserName(987'654'321), "uid 987654321");
}

}  // namespace
}  // namespace muster
