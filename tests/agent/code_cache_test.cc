// Tests the cache of shipped code: its requests, the trees it creates, and its safety.
#include "agent/host/code_cache.h"

#include <fstream>
#include <iterator>

#include <boost/asio/post.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/values/fingerprint.h"
#include "support/temp_dir.h"
#include "wire/files/code_tree.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

using Content = std::map<std::string, std::string>;  // by path; "-> x" is a symbolic link to x

std::vector<CodeEntry> EntriesOf(const Content& content) {
  std::vector<CodeEntry> entries;
  for (const auto& [path, text] : content) {
    if (text.starts_with("-> ")) {
      entries.push_back({path, true, text.substr(3), 0, 0, ""});
    } else {
      entries.push_back({path, false, "", path.ends_with(".sh") ? 0755U : 0644U, text.size(), Sha256Hex(text)});
    }
  }
  return entries;
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Connects an agent's cache with a head that sends the requested files.
class Filling {
 public:
  Filling(const std::string& folder, Content content)
      : content_(std::move(content)),
        entries_(EntriesOf(content_)),
        cache_(io_, folder, [this](const AgentMessage& message) { Hear(message); }) {}

  // Sends the requested files until the cache answers `ready`.
  void Fill() {
    Offer(entries_, CodeTreeHash(entries_));
    Run();
  }
  std::string Offer(std::vector<CodeEntry> entries, std::string hash) {
    OfferCode offer{std::move(hash), std::move(entries), true};
    return cache_.Offer(offer);
  }
  // Runs until the cache waits.
  void Run() {
    io_.restart();
    io_.run();
  }
  void Deliver(const std::string& text) {
    EXPECT_EQ(cache_.Take({wanted.front(), text}), "");
    Run();
  }

  std::string hash() const { return CodeTreeHash(entries_); }
  std::vector<std::string> WantedPaths() const {
    std::vector<std::string> paths;
    for (const std::uint32_t entry : wanted) paths.push_back(entries_[entry].path);
    return paths;
  }

  bool delivers = true;
  std::vector<std::uint32_t> wanted;
  std::optional<CodeReady> ready;

  CodeCache& cache() { return cache_; }

 private:
  void Hear(const AgentMessage& message) {
    if (const auto* reported = std::get_if<CodeReady>(&message)) ready = *reported;
    const auto* asked = std::get_if<CodeMissing>(&message);
    if (asked == nullptr) return;
    wanted = asked->entries;
    for (const std::uint32_t entry : wanted) {
      if (!delivers) break;
      boost::asio::post(io_, [this, entry] {
        const std::string& text = content_.at(entries_[entry].path);
        // Sends the file in two parts.
        const std::size_t half = text.size() / 2;
        if (half > 0) {
          EXPECT_EQ(cache_.Take({entry, text.substr(0, half)}), "");
        }
        EXPECT_EQ(cache_.Take({entry, text.substr(half)}), "");
      });
    }
  }

  Content content_;
  std::vector<CodeEntry> entries_;
  boost::asio::io_context io_;
  CodeCache cache_;
};

const Content kTree = {{"train.py", "print('hello')"},
                       {"lib/a.py", "a = 1"},
                       {"lib/empty.py", ""},
                       {"run.sh", "#!/bin/sh\n"},
                       {"latest", "-> lib/a.py"}};
using Paths = std::vector<std::string>;

TEST(CodeCache, CreatesATreeOnceAndReusesIt) {
  const TempDir folder;
  Filling first(folder / "cache", kTree);
  first.Fill();
  EXPECT_EQ(first.WantedPaths(), (Paths{"lib/a.py", "run.sh", "train.py"}));
  ASSERT_TRUE(first.ready);
  EXPECT_EQ(first.ready->error, "");
  const std::string tree = first.ready->folder;
  EXPECT_EQ(tree, folder / "cache" + "/" + first.hash());
  EXPECT_EQ(Read(tree + "/train.py"), "print('hello')");
  EXPECT_TRUE(fs::exists(tree + "/lib/empty.py"));
  EXPECT_EQ(fs::read_symlink(tree + "/latest"), "lib/a.py");
  EXPECT_EQ(fs::status(tree + "/run.sh").permissions(), fs::perms(0755));
  EXPECT_EQ(fs::status(tree + "/train.py").permissions(), fs::perms(0644));
  EXPECT_EQ(fs::status(tree).permissions(), fs::perms(0700));
  EXPECT_EQ(fs::status(folder / "cache").permissions(), fs::perms(0700));

  Filling second(folder / "cache", kTree);
  second.Fill();
  EXPECT_EQ(second.WantedPaths(), Paths{});
  ASSERT_TRUE(second.ready);
  EXPECT_EQ(second.ready->folder, tree);
}

TEST(CodeCache, RestoresChangedFilesAndKeepsAddedOnes) {
  const TempDir folder;
  {
    Filling first(folder / "cache", kTree);
    first.Fill();
    const std::string tree = first.ready->folder;
    std::ofstream(tree + "/train.py") << "print('jello')";  // same size as before
    fs::remove(tree + "/latest");
    std::ofstream(tree + "/lib/out.txt") << "result";
  }
  Filling again(folder / "cache", kTree);
  again.Fill();
  EXPECT_EQ(again.WantedPaths(), Paths{"train.py"});
  ASSERT_TRUE(again.ready);
  EXPECT_EQ(Read(again.ready->folder + "/train.py"), "print('hello')");
  EXPECT_EQ(fs::read_symlink(again.ready->folder + "/latest"), "lib/a.py");
  EXPECT_EQ(Read(again.ready->folder + "/lib/out.txt"), "result");
}

TEST(CodeCache, RequestsOnlyFilesMissingFromOtherTrees) {
  const TempDir folder;
  Filling first(folder / "cache", kTree);
  first.Fill();
  Content next = kTree;
  next["train.py"] = "print('changed')";
  next["moved/a.py"] = next["lib/a.py"];
  Filling second(folder / "cache", next);
  second.Fill();
  EXPECT_EQ(second.WantedPaths(), Paths{"train.py"});
  ASSERT_TRUE(second.ready);
  EXPECT_EQ(Read(second.ready->folder + "/moved/a.py"), "a = 1");
  // A file that a process wrote into the other tree is not reused, whatever its content.
  const std::string spoilt = first.ready->folder + "/run.sh";
  std::ofstream(spoilt) << "#!/bin/no\n";
  const std::array<timespec, 2> times = {timespec{kCodeTime, 0}, timespec{kCodeTime, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, spoilt.c_str(), times.data(), 0), 0);
  fs::remove_all(second.ready->folder);
  fs::remove(second.ready->folder + ".list");
  Filling third(folder / "cache", {{"run.sh", "#!/bin/sh\n"}});
  third.Fill();
  EXPECT_EQ(third.WantedPaths(), Paths{"run.sh"});
  EXPECT_EQ(Read(third.ready->folder + "/run.sh"), "#!/bin/sh\n");
}

TEST(CodeCache, NeverFollowsAPlantedLink) {
  const TempDir folder;
  std::string tree;
  {
    Filling first(folder / "cache", kTree);
    first.Fill();
    tree = first.ready->folder;
  }
  const TempDir elsewhere;
  fs::remove_all(tree + "/lib");
  fs::create_directory_symlink(elsewhere.path(), tree + "/lib");
  Filling again(folder / "cache", kTree);
  again.Fill();
  ASSERT_TRUE(again.ready);
  EXPECT_NE(again.ready->error, "");
  EXPECT_TRUE(fs::is_empty(elsewhere.path()));
}

TEST(CodeCache, RefusesEscapingPathsAndWrongHashes) {
  const TempDir folder;
  const auto refusal = [&](const Content& content, const std::string& hash) {
    Filling filling(folder / "cache", {});
    return filling.Offer(EntriesOf(content), hash.empty() ? CodeTreeHash(EntriesOf(content)) : hash);
  };
  EXPECT_NE(refusal({{"../a", "x"}}, ""), "");
  EXPECT_NE(refusal({{"/etc/a", "x"}}, ""), "");
  EXPECT_NE(refusal({{"a", "-> /etc"}, {"a/passwd", "x"}}, ""), "");
  EXPECT_NE(refusal({{"a", "x"}}, CodeTreeHash(EntriesOf({{"b", "x"}}))), "");
  EXPECT_NE(refusal({{"a", "x"}}, "../../a"), "");
  EXPECT_FALSE(fs::exists(folder / "cache"));
}

TEST(CodeCache, ReportsContentThatDiffersFromItsHash) {
  const TempDir folder;
  Filling filling(folder / "cache", {{"a.py", "right"}});
  filling.delivers = false;
  filling.Fill();
  filling.Deliver("wrong");
  ASSERT_TRUE(filling.ready);
  EXPECT_NE(filling.ready->error.find("\"a.py\" does not have the announced size and hash"), std::string::npos)
      << filling.ready->error;
  EXPECT_TRUE(fs::is_empty(folder / "cache")) << "nothing half is left";
}

TEST(CodeCache, RefusesUnrequestedBytes) {
  const TempDir folder;
  Filling filling(folder / "cache", {{"a.py", "right"}});
  EXPECT_NE(filling.cache().Take({0, "right"}), "") << "before anything was offered";
  filling.delivers = false;
  filling.Fill();
  EXPECT_NE(filling.cache().Take({0, "too long"}), "");
  EXPECT_NE(filling.cache().Take({7, "x"}), "");
  EXPECT_NE(filling.cache().Take({0, ""}), "");
}

TEST(CodeCache, LeavesNoPartialTreeWhenInterrupted) {
  const TempDir folder;
  {
    Filling filling(folder / "cache", kTree);
    filling.delivers = false;
    filling.Fill();
    EXPECT_FALSE(filling.ready);
    EXPECT_FALSE(fs::is_empty(folder / "cache"));
  }
  EXPECT_TRUE(fs::is_empty(folder / "cache"));
}

TEST(CodeCache, AllowsTwoRunsToCreateTheSameTree) {
  const TempDir folder;
  Filling slow(folder / "cache", kTree);
  slow.delivers = false;
  slow.Fill();
  Filling fast(folder / "cache", kTree);
  fast.Fill();
  ASSERT_TRUE(fast.ready);
  const std::vector<std::uint32_t> due = slow.wanted;
  for (const std::uint32_t entry : due) {
    const std::string& text = kTree.at(EntriesOf(kTree)[entry].path);
    EXPECT_EQ(slow.cache().Take({entry, text}), "");
  }
  slow.Run();
  ASSERT_TRUE(slow.ready);
  EXPECT_EQ(slow.ready->error, "");
  EXPECT_EQ(slow.ready->folder, fast.ready->folder);
  EXPECT_EQ(Read(fast.ready->folder + "/train.py"), "print('hello')");
}

TEST(CodeCache, RemovesOldTreesButNotFilesThatProcessesAdded) {
  const TempDir folder;
  std::string kept;
  std::string gone;
  {
    Filling one(folder / "cache", {{"lib/a.py", "one"}});
    one.Fill();
    gone = one.ready->folder;
    fs::create_directory(gone + "/lib/__pycache__");
    std::ofstream(gone + "/lib/__pycache__/a.pyc") << "bytecode";
    Filling two(folder / "cache", {{"lib/a.py", "two"}});
    two.Fill();
    kept = two.ready->folder;
    std::ofstream(kept + "/model.bin") << "a day's work";
  }
  const auto long_ago = fs::file_time_type::clock::now() - CodeCache::kKeep - std::chrono::hours(1);
  for (const std::string& tree : {kept, gone}) fs::last_write_time(tree + ".list", long_ago);
  Filling third(folder / "cache", {{"lib/a.py", "three"}});
  third.Fill();
  ASSERT_TRUE(third.ready);
  EXPECT_FALSE(fs::exists(gone));
  EXPECT_FALSE(fs::exists(gone + ".list"));
  EXPECT_EQ(Read(kept + "/model.bin"), "a day's work");
  EXPECT_FALSE(fs::exists(kept + "/lib"));
  // Remains of a tree do not prevent creating the same tree again.
  Filling again(folder / "cache", {{"lib/a.py", "two"}});
  again.Fill();
  ASSERT_TRUE(again.ready);
  EXPECT_EQ(Read(kept + "/lib/a.py"), "two");
}

TEST(CodeCache, KeepsRecentTreesAndThoseInUse) {
  const TempDir folder;
  std::vector<std::string> trees;
  const auto make = [&](int number) {
    Filling filling(folder / "cache", {{"a.py", std::to_string(number)}});
    filling.Fill();
    trees.push_back(filling.ready->folder);
  };
  for (int i = 0; i < static_cast<int>(CodeCache::kMaxTrees); ++i) make(i);
  const auto now = fs::file_time_type::clock::now();
  for (std::size_t i = 0; i < trees.size(); ++i) {
    fs::last_write_time(trees[i] + ".list", now - std::chrono::hours(100 - static_cast<int>(i)));
  }
  // Keeps the oldest tree in use.
  const UniqueFd used(::open(trees[0].c_str(), O_RDONLY | O_DIRECTORY));
  ASSERT_EQ(::flock(used.get(), LOCK_SH), 0);
  make(100);
  make(101);
  EXPECT_TRUE(fs::exists(trees[0]));
  EXPECT_FALSE(fs::exists(trees[1]));
  for (std::size_t i = 2; i < trees.size(); ++i) EXPECT_TRUE(fs::exists(trees[i])) << i;
}

TEST(CodeCache, RefusesAFolderWritableByOthers) {
  const TempDir folder;
  fs::create_directory(folder / "cache");
  fs::permissions(folder / "cache", fs::perms(0777));
  Filling filling(folder / "cache", kTree);
  filling.Fill();
  ASSERT_TRUE(filling.ready);
  EXPECT_NE(filling.ready->error.find("writable by others"), std::string::npos) << filling.ready->error;
}

}  // namespace
}  // namespace muster::testing
