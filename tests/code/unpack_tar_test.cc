// Tests that archives from elsewhere are unpacked within bounds, and only below their folder.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "code/tar_archive.h"
#include "support/command.h"
#include "support/file_content.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

// A header of a member; `kind` as in tar(5).
std::string Member(const std::string& name, const std::string& content, char kind = '0', const std::string& link = "",
                   const std::string& size = "") {
  std::string header(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) { std::memcpy(&header[at], text.data(), text.size()); };
  put(0, name);
  put(100, "0000777");
  put(108, "0000000");
  put(116, "0000000");
  char digits[16];
  std::snprintf(digits, sizeof digits, "%011lo", static_cast<unsigned long>(content.size()));
  put(124, size.empty() ? digits : size);
  put(136, "00000000000");
  header[156] = kind;
  put(157, link);
  put(257, std::string("ustar\00000", 8));
  put(148, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(digits, sizeof digits, "%06o", sum);
  put(148, std::string(digits) + std::string("\0 ", 2));
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}
const std::string kEnd(1024, '\0');

class UnpackTarTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& bytes, const std::string& name = "a.tar") {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  Result<std::string> Unpacked(const std::string& bytes, const UnpackBounds& bounds = {}) {
    fs::remove_all(into());
    fs::create_directory(into());
    return UnpackTar(Write(bytes), into(), {"PATH=/usr/bin:/bin"}, bounds);
  }
  std::string Refusal(const std::string& bytes, const UnpackBounds& bounds = {}) {
    const auto unpacked = Unpacked(bytes, bounds);
    if (unpacked) return "";
    EXPECT_EQ(unpacked.error().at(0).kind, "archive");
    EXPECT_NE(unpacked.error().at(0).hint, "");
    const std::string& message = unpacked.error().at(0).message;
    return message.substr(message.find("cannot be read: ") + 16);
  }
  std::string into() const { return folder_ / "into"; }
  // All that is below the folder of the test, and not in `into` or an archive.
  std::vector<std::string> Outside() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename();
      if (name != "into" && !name.starts_with("a.tar")) found.push_back(name);
    }
    return found;
  }

  TempDir folder_;
};

TEST_F(UnpackTarTest, MakesFilesForThisUserAlone) {
  const auto top = Unpacked(Member("run/", "", '5') + Member("run/logs/w.log", "said") +
                            Member("run/link", "", '2', "logs/w.log") + kEnd);
  ASSERT_TRUE(top) << top.error().at(0).message;
  EXPECT_EQ(*top, "run");
  EXPECT_EQ(ContentOf(into() + "/run/logs/w.log"), "said");
  struct stat facts {};
  ASSERT_EQ(::stat((into() + "/run/logs/w.log").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777U, 0600U);
  ASSERT_EQ(::stat((into() + "/run/logs").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777U, 0700U);
  EXPECT_FALSE(fs::is_symlink(into() + "/run/link")) << "no link is made";
}

TEST_F(UnpackTarTest, ReadsWhatTarWrites) {
  const std::string name(180, 'n');  // longer than a plain header has room for
  fs::create_directories(folder_ / "made/r,ün");
  std::ofstream(folder_ / ("made/r,ün/" + name)) << std::string(100'000, 'x');
  for (const std::string format : {"posix", "gnu", "ustar"}) {
    for (const std::string compress : {"-c", "-cz", "-c --zstd"}) {
      const std::string command =
          "tar -C " + folder_ / "made" + " --format=" + format + " " + compress + " -f " + folder_ / "a.tar" + " r,ün";
      const CommandResult made = RunCommand({{"/bin/sh", "-c", command}, {"PATH=/usr/bin:/bin"}, "/"});
      if (format == "ustar" && made.exit_code != 0) continue;  // no room for the name
      ASSERT_EQ(made.exit_code, 0) << made.err;
      fs::remove_all(into());
      fs::create_directory(into());
      const auto top = UnpackTar(folder_ / "a.tar", into(), {"PATH=/usr/bin:/bin"});
      ASSERT_TRUE(top) << command << top.error().at(0).message;
      EXPECT_EQ(fs::file_size(into() + "/" + *top + "/" + name), 100'000U) << command;
    }
  }
}

TEST_F(UnpackTarTest, RefusesNamesThatLeadOutside) {
  for (const std::string name : {"../evil", "run/../../evil", "/evil", "run/..", ".."}) {
    EXPECT_EQ(Refusal(Member("run/a", "x") + Member(name, "x") + kEnd),
              "\"" + name + "\" in it leads outside of its folder");
  }
  const std::string pax = "31 path=run/../../evil/escaped\n";
  EXPECT_EQ(Refusal(Member("run/PaxHeaders/a", pax, 'x') + Member("run/a", "x") + kEnd),
            "\"run/../../evil/escaped\" in it leads outside of its folder");
  EXPECT_EQ(Outside(), std::vector<std::string>{});
}

TEST_F(UnpackTarTest, RefusesLinksThatLeadOutsideAndMakesNoOthers) {
  for (const std::string target : {"/etc", "..", "../../etc/passwd", "logs/../../../etc"}) {
    EXPECT_EQ(Refusal(Member("run/logs", "", '2', target) + Member("run/logs/x", "x") + kEnd),
              "\"logs\" in it is a link to \"" + target + "\", outside of its folder");
  }
  EXPECT_EQ(Refusal(Member("run/hard", "", '1', "run/a") + kEnd), "\"run/hard\" in it is neither file nor folder");
  EXPECT_EQ(Refusal(Member("run/pipe", "", '6') + kEnd), "\"run/pipe\" in it is neither file nor folder");
  EXPECT_EQ(Refusal(Member("run/disk", "", '4') + kEnd), "\"run/disk\" in it is neither file nor folder");
  EXPECT_EQ(Outside(), std::vector<std::string>{});
}

TEST_F(UnpackTarTest, RefusesMoreThanItsBounds) {
  const UnpackBounds bounds = {.bytes = 1U << 20U, .stream = 4U << 20U, .members = 3};
  const std::string large(600U << 10U, 'x');
  EXPECT_EQ(Refusal(Member("run/a", large) + Member("run/b", large) + kEnd, bounds),
            "its files are larger than 1 MiB together");
  EXPECT_EQ(Refusal(Member("run/a", "", '0', "", "77777777777") + kEnd, bounds),
            "its files are larger than 1 MiB together");
  EXPECT_EQ(
      Refusal(Member("run/1", "") + Member("run/2", "") + Member("run/3", "") + Member("run/4", "") + kEnd, bounds),
      "it has more than 3 members");
  // What is skipped, and what stands behind the end, counts as well.
  EXPECT_EQ(Refusal(Member("run/a", "x") + kEnd + std::string(5U << 20U, '\0'), bounds),
            "it is more than muster unpacks by itself");
  EXPECT_EQ(Refusal(Member("run/PaxHeaders/a", std::string(2U << 20U, 'x'), 'x') + kEnd),
            "it is damaged: an extended header is too long");
}

TEST_F(UnpackTarTest, StopsADecompressionBomb) {
  const CommandResult made =
      RunCommand({{"/bin/sh", "-c", "mkdir run; head -c 64M /dev/zero > run/zero; tar -czf a.tar run; rm -r run"},
                  {"PATH=/usr/bin:/bin"},
                  folder_.path()});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  fs::create_directory(into());
  const auto refused = UnpackTar(folder_ / "a.tar", into(), {"PATH=/usr/bin:/bin"}, {.bytes = 1U << 20U});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().at(0).message.find("its files are larger than 1 MiB together"), std::string::npos);
}

TEST_F(UnpackTarTest, RefusesWhatIsNoWholeArchive) {
  EXPECT_EQ(Refusal(""), "it is empty");
  EXPECT_EQ(Refusal(kEnd), "it is empty");
  EXPECT_EQ(Refusal(std::string(5000, 'x')), "it is no tar archive");
  const std::string whole = Member("run/a", std::string(2000, 'x')) + Member("run/b", "x");
  EXPECT_EQ(Refusal(whole), "it ends in the middle of a file") << "without its end";
  for (const std::size_t size : {100U, 700U, 1500U, 2570U, 3500U}) {
    EXPECT_EQ(Refusal(whole.substr(0, size)), "it ends in the middle of a file") << size;
  }
  EXPECT_EQ(Refusal(Member("run/a", "x") + std::string(512, 'x') + kEnd), "it is damaged");
  EXPECT_EQ(Refusal(Member("run/a", "x") + Member("run/a", "y") + kEnd), "it has \"a\" twice");
  EXPECT_EQ(Refusal(Member("run/a", "x") + Member("other/a", "y") + kEnd),
            "it has several folders: \"run\", \"other\"");
  EXPECT_EQ(Refusal(Member("a", "x") + kEnd), "it has no folder, only files");
  EXPECT_EQ(Refusal(Member("run/a", "x") + Member("run/a/b", "y") + kEnd), "it has \"a\" as a file and as a folder");
  EXPECT_EQ(Refusal(Member("run/a", "", '0', "", "9999x")), "it is damaged: the size of a member is no number");
  EXPECT_EQ(Refusal(Member("run/p", "99 path=a\n", 'x') + Member("run/a", "x") + kEnd),
            "it is damaged: an extended header cannot be read");
}

TEST_F(UnpackTarTest, OfACutCompressedArchiveSaysThatItIsCut) {
  RunCommand(
      {{"/bin/sh", "-c", "mkdir run; head -c 100k /dev/urandom > run/a; tar -cf - run | gzip > a.tar; rm -r run"},
       {"PATH=/usr/bin:/bin"},
       folder_.path()});
  const std::string whole = ContentOf(folder_ / "a.tar");
  EXPECT_EQ(Refusal(whole.substr(0, whole.size() / 2)), "it ends in the middle of a file");
  std::string damaged = whole;
  damaged[whole.size() - 6] = static_cast<char>(damaged[whole.size() - 6] ^ 1);  // its checksum
  EXPECT_EQ(Refusal(damaged), "gzip exited with code 1");
}

TEST_F(UnpackTarTest, LeavesNothingWhenItsFolderIsNotNeededAnyMore) {
  std::string folder;
  {
    const auto unpacked = UnpackedArchive::Of(Write(Member("run/a", "x") + kEnd), {"PATH=/usr/bin:/bin"});
    ASSERT_TRUE(unpacked) << unpacked.error().at(0).message;
    folder = unpacked->folder();
    EXPECT_EQ(ContentOf(folder + "/a"), "x");
    struct stat facts {};
    ASSERT_EQ(::stat(fs::path(folder).parent_path().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777U, 0700U);
  }
  EXPECT_FALSE(fs::exists(fs::path(folder).parent_path()));
}

}  // namespace
}  // namespace muster::testing
