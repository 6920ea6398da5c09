// Tests the list of the user's live heads in the runtime directory.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/system/own_process.h"
#include "base/system/private_files.h"
#include "run/directory/run_directory.h"
#include "run/directory/runtime_directory.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

class LiveHeads : public ::testing::Test {
 protected:
  void SetUp() override { ::unsetenv("MUSTER_KEEP_RUNS"); }  // not real run directories

  std::string Entries() const { return folder_ / "muster"; }
  void WriteEntry(const std::string& name, const std::string& text) const {
    fs::create_directory(Entries());
    fs::permissions(Entries(), fs::perms::owner_all);
    std::ofstream(Entries() + "/" + name) << text;
  }
  std::string EntryOf(const std::string& run_dir, int pid, std::uint64_t ticks) const {
    return "{\"format\":1,\"folder\":\"" + run_dir + "\",\"pid\":" + std::to_string(pid) +
           ",\"start_ticks\":" + std::to_string(ticks) + ",\"boot\":\"" + BootId() + "\"}\n";
  }
  // A held run directory with a journal.
  RunDirectory Held(const std::string& name) const {
    auto made = RunDirectory::MakeAt(folder_ / name);
    EXPECT_TRUE(made);
    std::ofstream(folder_ / (name + "/journal.jsonl"));
    return *std::move(made);
  }

  testing::TempDir folder_;
};

TEST_F(LiveHeads, AreFoundWhileTheyRun) {
  const RunDirectory run = Held("run");
  {
    const LiveHead head = LiveHead::Announce(Entries(), run.path(), "3f9a");
    EXPECT_EQ(FoldersOfLiveHeads(Entries()), std::vector{run.path()});
    EXPECT_EQ(fs::status(Entries()).permissions(), fs::perms::owner_all);
    EXPECT_EQ(fs::status(Entries() + "/3f9a.json").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  }
  EXPECT_TRUE(FoldersOfLiveHeads(Entries()).empty());
  EXPECT_TRUE(fs::is_empty(Entries()));
}

TEST_F(LiveHeads, ThatAreDeadAreRemovedFromTheList) {
  const std::string gone = folder_ / "gone";
  WriteEntry("dead.json", EntryOf(gone, ::getpid(), OwnStartTicks() + 1));
  WriteEntry("begins.json", EntryOf(gone, ::getpid(), OwnStartTicks()));
  EXPECT_TRUE(FoldersOfLiveHeads(Entries()).empty());
  EXPECT_FALSE(fs::exists(Entries() + "/dead.json"));
  EXPECT_TRUE(fs::exists(Entries() + "/begins.json")) << "its journal may come yet";
}

TEST_F(LiveHeads, AreIgnoredInAFolderWritableByOthers) {
  const RunDirectory run = Held("run");
  const LiveHead head = LiveHead::Announce(Entries(), run.path(), "3f9a");
  fs::permissions(Entries(), fs::perms::group_write, fs::perm_options::add);
  EXPECT_TRUE(FoldersOfLiveHeads(Entries()).empty());
  fs::permissions(Entries(), fs::perms::owner_all);
  EXPECT_EQ(FoldersOfLiveHeads(Entries()).size(), 1U);
  const std::string elsewhere = folder_ / "elsewhere";
  fs::rename(Entries(), elsewhere);
  fs::create_directory_symlink(elsewhere, Entries());
  EXPECT_TRUE(FoldersOfLiveHeads(Entries()).empty()) << "a link";
  fs::remove(Entries());
  fs::rename(elsewhere, Entries());
}

TEST_F(LiveHeads, EntriesOfOthersAndInvalidOnesAreSkipped) {
  const RunDirectory run = Held("run");
  const std::string sound = EntryOf(run.path(), ::getpid(), OwnStartTicks());
  WriteEntry("long.json", sound.substr(0, sound.size() - 2) + ",\"x\":\"" + std::string(kMaxHeadEntry, 'x') + "\"}");
  WriteEntry("none.json", "{\"format\":1,");
  WriteEntry("relative.json", EntryOf("run", ::getpid(), OwnStartTicks()));
  WriteEntry("other.json", "{\"format\":2" + sound.substr(11));
  std::ofstream(folder_ / "target") << sound;
  fs::create_symlink(folder_ / "target", Entries() + "/link.json");
  EXPECT_TRUE(FoldersOfLiveHeads(Entries()).empty());
  if (::geteuid() == 0) {
    WriteEntry("foreign.json", sound);
    ASSERT_EQ(::chown((Entries() + "/foreign.json").c_str(), 65534, 65534), 0);
    EXPECT_TRUE(FoldersOfLiveHeads(Entries()).empty());
    ASSERT_EQ(::chown((Entries() + "/foreign.json").c_str(), 0, 0), 0);
    EXPECT_EQ(FoldersOfLiveHeads(Entries()).size(), 1U);
  }
}

TEST_F(LiveHeads, AreListedInAFolderOfTheUser) {
  EXPECT_EQ(LiveHeadsFolder(folder_.path()), folder_ / "muster");
  const std::string without = LiveHeadsFolder("");
  EXPECT_TRUE(without.ends_with("/" + std::to_string(::geteuid()) + "/muster") ||
              without == "/tmp/muster-" + std::to_string(::geteuid()))
      << without;
  EXPECT_EQ(LiveHeadsFolder("relative"), without);
  EXPECT_EQ(LiveHeadsFolder(folder_ / "missing"), without);
}

}  // namespace
}  // namespace muster
