// A temporary folder with a sweep as a head would write it: journal and sweep.json, but no index.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/system/unique_fd.h"
#include "support/command.h"
#include "support/places.h"
#include "support/temp_dir.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_journal.h"

namespace muster::testing {

class SweepFolder {
 public:
  SweepFolder(SweepFile file, const std::vector<SweepEntry>& entries) {
    auto made = MakeSweepDirectory(folder_ / "sweeps", file.name, "20261120-120616", file.sweep_id);
    EXPECT_TRUE(made);
    path_ = made->path();
    std::ofstream(path_ + "/sweep.json") << SweepFileText(file);
    ::chmod((path_ + "/sweep.json").c_str(), 0600);
    auto writer = SweepJournalWriter::Create(made->folder());
    EXPECT_TRUE(writer);
    for (const SweepEntry& entry : entries) {
      EXPECT_EQ(writer->Append(entry, 1'795'176'376'000'000'000 + 1'000'000'000 * writer->position().seq), 0);
    }
  }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return folder_ / name; }

  CommandResult Muster(std::vector<std::string> words) const {
    words.insert(words.begin(), MusterProgram());
    return RunCommand({words, {"PATH=/usr/bin:/bin", "TZ=UTC"}, folder_.path()});
  }
  CommandResult Checked(std::vector<std::string> words = {}) const {
    words.insert(words.begin(), {"/usr/bin/python3", "-B", MUSTER_SOURCE_DIR "/tests/support/check_sweep.py", path_});
    return RunCommand({words, {"PATH=/usr/bin:/bin"}, folder_.path()});
  }

 private:
  TempDir folder_;
  std::string path_;
};

}  // namespace muster::testing
