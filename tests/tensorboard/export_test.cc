// Tests muster export --tensorboard on a run and a sweep.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "support/command.h"
#include "support/temp_dir.h"
#include "tensorboard/read_events.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

class TensorboardExport : public ::testing::Test {
 protected:
  TensorboardExport() {
    std::ofstream(folder_ / "curve.lua") << R"(local muster = require "muster"
return muster.recipe {
  name = "curve",
  params = { lr = muster.float { 0.5 }, tags = muster.list { { "a" } } },
  plan = function(p, job)
    job:check(p.lr < 9, "too large")
    job:workers { count = 1, command = { "sh", "-c", [[
      for step in 1 2; do "$0" report-metric step=$step loss=$1 || exit 1; done; test "$1" != 4 ]], ")"
                                         << MusterProgram() << R"(", tostring(p.lr) } }
  end,
})";
  }

  CommandResult Muster(std::vector<std::string> words) const {
    words.insert(words.begin(), MusterProgram());
    return RunCommand({words, {"PATH=/usr/bin:/bin"}, folder_.path()});
  }
  // The folders and files below `tb`, by paths without ids.
  Lines Files() const {
    Lines files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "tb")) {
      if (entry.is_directory()) continue;
      std::string path = fs::relative(entry.path(), folder_ / "tb").string();
      const std::size_t dash = path.find('-');
      path.erase(dash, path.find('/') - dash);
      files.push_back(path);
    }
    std::sort(files.begin(), files.end());
    return files;
  }
  std::string FileOf(const std::string& below) const {
    return fs::directory_iterator(folder_ / "tb")->path().string() + below + "/events.out.tfevents.muster";
  }

  TempDir folder_;
};

TEST_F(TensorboardExport, HasAFolderForARun) {
  ASSERT_EQ(Muster({"run", "-q", "curve.lua", "lr=0.25"}).exit_code, 0);
  const CommandResult exported = Muster({"export", "curve", "--tensorboard", "tb"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_TRUE(exported.out.starts_with("tb/curve-")) << exported.out;
  EXPECT_TRUE(exported.out.ends_with(": event files of 1 run, 2 values\n")) << exported.out;
  EXPECT_EQ(Files(), Lines{"curve/events.out.tfevents.muster"});
  const auto events = EventsOf(FileOf(""));
  EXPECT_EQ(ScalarsOf(events), (Lines{"loss 1 0.25", "loss 2 0.25"}));
  EXPECT_EQ(SessionOf(events, "session_start_info")["hparams"],
            nlohmann::json::parse(R"({"lr": 0.25, "tags": "[\"a\"]"})"));
  EXPECT_EQ(SessionOf(events, "session_end_info")["status"], 1);
  double last = 0;
  for (const auto& event : events) {
    EXPECT_GE(event["wall_time"].get<double>(), last);
    last = event["wall_time"].get<double>();
  }
}

TEST_F(TensorboardExport, HasAFolderForEachTrialOfASweep) {
  ASSERT_EQ(Muster({"sweep", "curve.lua", "--grid", "lr=0.5,4,9", "--minimize", "loss"}).exit_code, 4);
  const CommandResult exported = Muster({"export", "--tensorboard", "tb"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_TRUE(exported.out.ends_with(": event files of 2 runs, 4 values\n")) << exported.out;
  EXPECT_EQ(Files(), (Lines{"curve/0/events.out.tfevents.muster", "curve/1/events.out.tfevents.muster"}));
  const auto failed = EventsOf(FileOf("/1"));
  EXPECT_EQ(ScalarsOf(failed), (Lines{"loss 1 4.0", "loss 2 4.0"}));
  EXPECT_EQ(SessionOf(failed, "session_start_info")["hparams"], nlohmann::json::parse(R"({"lr": 4.0})"));
  EXPECT_EQ(SessionOf(failed, "session_end_info")["status"], 2);
}

TEST_F(TensorboardExport, ReplacesFilesOnRequestOnly) {
  ASSERT_EQ(Muster({"run", "-q", "curve.lua"}).exit_code, 0);
  ASSERT_EQ(Muster({"export", "curve", "--tensorboard", "tb"}).exit_code, 0);
  std::ofstream(FileOf("")) << "before";
  const CommandResult refused = Muster({"export", "curve", "--tensorboard", "tb"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("exists already"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("--overwrite"), std::string::npos) << refused.err;
  EXPECT_EQ(fs::file_size(FileOf("")), 6U);
  EXPECT_EQ(Muster({"export", "curve", "--tensorboard", "tb", "--overwrite"}).exit_code, 0);
  EXPECT_EQ(Files(), Lines{"curve/events.out.tfevents.muster"}) << "no draft remains";
  EXPECT_EQ(ScalarsOf(EventsOf(FileOf(""))).size(), 2U);
}

TEST_F(TensorboardExport, RefusesOtherFormatsBesideItAndUnknownRuns) {
  for (const Lines& words : std::vector<Lines>{{"export", "x", "--tensorboard", "tb", "--csv"},
                                               {"export", "x", "file", "--tensorboard", "tb"},
                                               {"export", "x", "--overwrite", "--csv"},
                                               {"export", "nosuch", "--tensorboard", "tb"}}) {
    EXPECT_EQ(Muster(words).exit_code, 2) << words.back();
  }
  EXPECT_FALSE(fs::exists(folder_ / "tb"));
}

TEST_F(TensorboardExport, IsReadByTheCompilerOfProtocolBuffers) {
  if (!fs::exists("/usr/bin/protoc")) GTEST_SKIP() << "protoc is missing";
  ASSERT_EQ(Muster({"run", "-q", "curve.lua", "lr=0.25"}).exit_code, 0);
  ASSERT_EQ(Muster({"export", "curve", "--tensorboard", "tb"}).exit_code, 0);
  // The data of the third record, which is the first scalar.
  std::ofstream(folder_ / "decode.py") << R"(import struct, subprocess, sys
data = open(sys.argv[1], "rb").read()
for _ in range(3):
    size = struct.unpack("<Q", data[:8])[0]
    record, data = data[12:12 + size], data[16 + size:]
print(subprocess.run(["/usr/bin/protoc", "--decode_raw"], input=record, stdout=-1, check=True).stdout.decode())
)";
  const CommandResult decoded = RunCommand({{"/usr/bin/python3", "-B", folder_ / "decode.py", FileOf("")}});
  ASSERT_EQ(decoded.exit_code, 0) << decoded.err;
  EXPECT_NE(decoded.out.find("2: 1\n"), std::string::npos) << decoded.out;
  EXPECT_NE(decoded.out.find("    1: \"loss\"\n    2: 0x3e800000\n"), std::string::npos) << decoded.out;
}

}  // namespace
}  // namespace muster::testing
