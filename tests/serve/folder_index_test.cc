// Tests that the list of runs and sweeps has those of a folder, and later ones as they appear.
#include "serve/live/folder_index.h"

#include <filesystem>
#include <fstream>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "serve/live/event_hub.h"
#include "support/temp_dir.h"
#include "sweep/record/sweep_journal.h"

namespace muster::testing {
namespace {

using nlohmann::json;

class FolderIndexTest : public ::testing::Test {
 protected:
  FolderIndexTest() : paths_(io_) {}

  // A sweep that a head has left, with this number of trials.
  void MakeSweep(const std::string& stamp, const std::string& id, std::uint64_t trials) {
    const std::string dir = home_ / ("sweeps/job/" + stamp + "-" + id);
    std::filesystem::create_directories(dir);
    SweepBegan began;
    began.sweep_id = id;
    began.name = "job";
    began.trials = trials;
    std::ofstream(dir + "/journal.jsonl")
        << SweepJournalLine({1, "2026-11-20T12:06:16.000000Z", began})
        << SweepJournalLine({2, "2026-11-20T12:06:17.000000Z", SweepEnded{true, "over", 0}});
    std::ofstream(dir + "/sweep.json") << R"({"format": 1, "sweep": ")" << id << R"(", "name": "job"})";
  }
  void Start() {
    ASSERT_TRUE(paths_.Start());
    index_.emplace(io_, paths_, ServedFolders{{home_ / "runs"}, {home_ / "sweeps"}, {}, {}});
    index_->Start();
  }
  std::vector<std::string> Ids() const {
    std::vector<std::string> ids;
    for (const json& line : json::parse(index_->Json())) ids.push_back(line["id"]);
    return ids;
  }
  void Await(const std::function<bool()>& what) {
    while (!what()) io_.run_one();
  }

  TempDir home_;
  boost::asio::io_context io_;
  PathWatch paths_;
  std::optional<FolderIndex> index_;
};

TEST_F(FolderIndexTest, HasTheNewestFirst) {
  MakeSweep("20261120-120616", "aaaa", 3);
  MakeSweep("20261121-120616", "bbbb", 3);
  Start();
  EXPECT_EQ(Ids(), (std::vector<std::string>{"bbbb", "aaaa"}));
  const json line = json::parse(index_->Json())[1];
  EXPECT_EQ(line["kind"], "sweep");
  EXPECT_EQ(line["state"], "complete");
  EXPECT_EQ(line["trials"], 3);
  EXPECT_EQ(line["started_at"], "2026-11-20T12:06:16Z");
  EXPECT_EQ(index_->Find(true, "aaaa")->name, "job");
  EXPECT_EQ(index_->Find(false, "aaaa"), nullptr) << "it is no run";
  EXPECT_EQ(index_->Find(true, "../job"), nullptr);
}

TEST_F(FolderIndexTest, GetsLaterOnesAlsoInFoldersThatDidNotExist) {
  Start();
  EXPECT_TRUE(Ids().empty());
  MakeSweep("20261120-120616", "aaaa", 3);
  Await([this] { return index_->Find(true, "aaaa") != nullptr; });
  MakeSweep("20261121-120616", "bbbb", 3);
  Await([this] { return index_->Find(true, "bbbb") != nullptr; });
  EXPECT_EQ(Ids(), (std::vector<std::string>{"bbbb", "aaaa"}));
}

TEST_F(FolderIndexTest, FollowsNotesAndForgetsWhatIsRemoved) {
  MakeSweep("20261120-120616", "aaaa", 3);
  Start();
  const std::string dir = index_->Find(true, "aaaa")->path;
  std::ofstream(dir + "/note.txt") << "look\n";
  Await([this] { return json::parse(index_->Json())[0]["note"] == "look"; });
  std::ofstream(dir + "/tags.json") << R"({"format": 1, "tags": ["good"]})";
  Await([this] { return json::parse(index_->Json())[0]["tags"] == json{"good"}; });
  std::filesystem::rename(dir, home_ / "elsewhere");
  Await([this] { return index_->Find(true, "aaaa") == nullptr; });
  EXPECT_TRUE(Ids().empty());
}

}  // namespace
}  // namespace muster::testing
