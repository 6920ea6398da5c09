// Tests muster pack: the same commands work on the unpacked archive of a run elsewhere.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/system/unique_fd.h"
#include "cli/muster_command.h"
#include "wire/files/run_layout.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

std::string Text(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}
CommandResult Call(std::vector<std::string> argv) {
  Command command;
  command.argv = std::move(argv);
  return RunCommand(command);
}

class Pack : public ::testing::Test {
 protected:
  Pack() {
    const CommandResult run =
        Muster({"run", recipe_.path(), "--quiet", "--run-dir", RunDir(), "--tag", "kept"}, {"HUB=se-cret"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
  }
  std::string RunDir() const { return folder_ / "a, run"; }

  OneRecipe recipe_{
      "job:file { \"token\", text = p.token }\n"
      "job:workers { count = 1, devices = 0, command = muster.shell [[echo said; mkdir "
      "\"$MUSTER_RUN_DIR/checkpoints\"; "
      "head -c 2000000 /dev/zero > \"$MUSTER_RUN_DIR/checkpoints/step_1\"]] }",
      "params = { token = muster.secret { from_env = \"HUB\" } },"};
  TempDir folder_;
};

TEST_F(Pack, UnpacksElsewhereForTheSameCommands) {
  for (const std::string ending : {"tar.gz", "tar.zst", "tar"}) {
    const std::string archive = folder_ / ("run." + ending);
    const CommandResult packed = Muster({"pack", RunDir(), "-o", archive});
    ASSERT_EQ(packed.exit_code, 0) << packed.err;
    EXPECT_NE(packed.err.find("omitted: files/token: it holds a secret"), std::string::npos) << packed.err;
    EXPECT_NE(packed.err.find("omitted: checkpoints: the job's own"), std::string::npos) << packed.err;
    const std::string first = Text(archive);
    ASSERT_EQ(Muster({"pack", RunDir(), "-o", archive}).exit_code, 0);
    EXPECT_EQ(Text(archive), first) << "the same run gives the same bytes";
    const TempDir there;
    ASSERT_EQ(Call({"tar", "-C", there.path(), "-xf", archive}).exit_code, 0);
    const std::string opened = there / "a, run";
    EXPECT_EQ(fs::status(opened).permissions(), fs::perms::owner_all);
    EXPECT_EQ(Call({"grep", "-r", "se-cret", opened}).exit_code, 1);
    EXPECT_FALSE(fs::exists(opened + "/checkpoints"));
    EXPECT_EQ(Muster({"logs", opened}).out, "said\n");
    EXPECT_EQ(Muster({"tag", opened}).out, "kept\n");
    const auto here = nlohmann::json::parse(Muster({"report", RunDir(), "--json"}).out);
    const auto report = nlohmann::json::parse(Muster({"report", opened, "--json"}).out);
    EXPECT_EQ(report["outcome"], "ok");
    EXPECT_EQ(report["run"], here["run"]);
    EXPECT_EQ(Muster({"diff", opened, RunDir()}, {"HUB=x"}).exit_code, 0);
    EXPECT_EQ(Muster({"explain", opened, "MUSTER_INDEX"}, {"HUB=x"}).exit_code, 0);
    const CommandResult replay = Muster({"replay", opened, "--quiet", "--run-dir", there / "again"}, {"HUB=another"});
    EXPECT_EQ(replay.exit_code, 0) << replay.err;
    EXPECT_EQ(Text(there / "again/files/token"), "another");
  }
}

TEST_F(Pack, IncludesEverythingButSecretsOnRequest) {
  const std::string archive = folder_ / "run.tar";
  ASSERT_EQ(Muster({"pack", RunDir(), "--all", "-o", archive}).exit_code, 0);
  const std::string names = Call({"tar", "-tf", archive}).out;
  EXPECT_NE(names.find("a, run/checkpoints/step_1\n"), std::string::npos) << names;
  EXPECT_EQ(names.find("files/token"), std::string::npos) << names;
  ASSERT_EQ(Muster({"pack", RunDir(), "--most", "10B", "-o", archive}).exit_code, 0);
  EXPECT_EQ(Call({"tar", "-tf", archive}).out.find("plan.json"), std::string::npos);
}

// A run with every file that a run directory can have: those of other hosts and of a submitted job are written here.
TEST(PackOfARunWithEveryFile, ContainsEachThatIsNotOfTheMoment) {
  const OneRecipe recipe(
      "job:file { \"data.json\", json = { a = 1 } }\n"
      "job:workers { count = 1, devices = 0, command = { \"python3\", \"-c\", [[import os, pathlib, subprocess\n"
      "run = pathlib.Path(os.environ['MUSTER_RUN_DIR'])\n"
      "open(os.environ['MUSTER_METRICS'], 'a').write('{\"step\": 1, \"loss\": 0.5}\\n')\n"
      "open(os.environ['MUSTER_ERROR_FILE'], 'w').write('{\"message\": \"none\"}')\n"
      "(run / 'checkpoints').mkdir(); (run / 'checkpoints' / 'step_1').write_text('x')\n"
      "for name in ('usage.jsonl', 'dumps', 'dumps/1', 'dumps/1/worker.0.0.txt'): subprocess.run(['" MUSTER_TESTS_DIR
      "/probe', 'await', str(run / name)], check=True)\n"
      "]] } }",
      "mindspore = \"2.3\",");
  const TempDir folder;
  const std::string run_dir = folder / "run";
  const CommandResult run =
      Muster({"run", recipe.path(), "--detach", "--tag", "kept", "--run-dir", run_dir}, {"MUSTER_USAGE_SECONDS=0.1"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(Muster({"note", run_dir, "a", "note"}).exit_code, 0);
  ASSERT_EQ(Muster({"dump", run_dir}).exit_code, 0);
  ASSERT_EQ(Muster({"watch", run_dir}).exit_code, 0);
  const UniqueFd lock(::open((run_dir + "/lock").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(lock.get(), LOCK_SH), 0) << "the head exits after its last record";
  const std::map<std::string, std::string> written = {
      {"job.json",
       R"({"format": 1, "engine": "slurm", "run": "x", "name": "t", "submitted_at": "2026-11-20T12:00:00Z"})"},
      {"job_id", "7\n"},
      {"job.sh", "#!/bin/sh\n"},
      {"job.out", "what the engine printed\n"},
      {"attempts.json",
       R"({"attempts": [{"end": "", "host": "a", "output_from": 0, "run": "x", "run_dir": "/nowhere"}], "format": 1})"},
      {"job_end.json", R"({"exit_code": 0, "format": 1, "hosts": "a", "reason": "", "state": "completed"})"},
      {"probe", "x"},
      {"notifications.jsonl", "{}\n"}};
  for (const auto& [name, text] : written) {
    std::ofstream(run_dir + "/" + name) << text;
    fs::permissions(run_dir + "/" + name, fs::perms::owner_read | fs::perms::owner_write);
  }

  const std::string archive = folder / "run.tar";
  const CommandResult packed = Muster({"pack", run_dir, "-o", archive});
  ASSERT_EQ(packed.exit_code, 0) << packed.err;
  const TempDir there;
  // The run directory is checked after all tests: its folders are as muster makes them.
  const std::string unpack = "umask 077 && tar -C '" + there.path() + "' -xf '" + archive + "'";
  ASSERT_EQ(Call({"sh", "-c", unpack}).exit_code, 0);
  const std::string opened = there / "run";
  for (const RunEntry& entry : RunEntries()) {
    if (entry.packing != Packing::kNever) {
      EXPECT_TRUE(fs::exists(run_dir + "/" + entry.name)) << "the run has no " << entry.name;
    }
    EXPECT_EQ(fs::exists(opened + "/" + entry.name), entry.packing == Packing::kPacked) << entry.name;
  }
  const auto report = [](const std::string& of) { return nlohmann::json::parse(Muster({"report", of, "--json"}).out); };
  nlohmann::json here = report(run_dir);
  nlohmann::json elsewhere = report(opened);
  EXPECT_EQ(elsewhere["job"]["id"], "7");
  EXPECT_GE(elsewhere["processes"][0]["usage"]["samples"], 1);
  for (nlohmann::json* const each : {&here, &elsewhere}) each->erase("run_dir");
  EXPECT_EQ(elsewhere, here);
}

// Programs print what they like.
TEST(PackOfARunThatPrintsItsSecret, ContainsItsValueNowhere) {
  const OneRecipe recipe(
      "job:workers { count = 2, devices = 0, env = { TOKEN = p.token, PIN = p.pin }, command = muster.shell [["
      "echo token is $TOKEN and $PIN; echo '{\"message\": \"no '$PIN'\", \"user '$PIN'\": \"'$PIN'\"}' > "
      "\"$MUSTER_ERROR_FILE\"; echo '{\"note\": \"of '$PIN'\", \"loss of '$PIN'\": 0.5}' >> \"$MUSTER_METRICS\"; head "
      "-c 1048570 /dev/zero | tr '\\0' x; echo $TOKEN; exit 7]] }",
      "params = { token = muster.secret { from_env = \"HUB\" }, pin = muster.secret { from_env = \"PIN\" } },");
  const TempDir folder;
  const std::string run_dir = folder / "run";
  const std::vector<std::string> secrets = {"HUB=s3cr3t\"value99", "PIN=817263"};
  const CommandResult run = Muster({"run", recipe.path(), "--quiet", "--run-dir", run_dir}, secrets);
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_NE(run.err.find("(hidden)"), std::string::npos) << run.err;
  const auto grep = [](const std::string& in) { return Call({"grep", "-rlE", "value99|817263", in}).out; };
  const std::string log = Text(run_dir + "/logs/worker.0.0.log");
  EXPECT_NE(log.find("s3cr3t\"value99 and 817263"), std::string::npos) << "a log is as its program wrote it";
  for (const std::string name : {"report.json", "report.txt", "journal.jsonl", "head.log"}) {
    EXPECT_EQ(grep(run_dir + "/" + name), "") << name;
  }
  EXPECT_EQ(run.err.find("value99"), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("817263"), std::string::npos) << run.err;
  const CommandResult report = Muster({"report", run_dir}, secrets);
  EXPECT_EQ(report.out.find("value99"), std::string::npos) << report.out;
  EXPECT_EQ(report.out.find("817263"), std::string::npos) << report.out;
  EXPECT_NE(report.out.find("note \"of (hidden)\""), std::string::npos) << report.out;
  const std::string page = folder / "page.html";
  const CommandResult written = Muster({"report", run_dir, "--html", page}, secrets);
  ASSERT_EQ(written.exit_code, 0) << written.err;
  EXPECT_EQ(grep(page), "");

  const std::string archive = folder / "run.tar";
  const CommandResult packed = Muster({"pack", run_dir, "-o", archive}, secrets);
  ASSERT_EQ(packed.exit_code, 0) << packed.err;
  EXPECT_NE(packed.err.find("masked: "), std::string::npos) << packed.err;
  const TempDir there;
  ASSERT_EQ(Call({"tar", "-C", there.path(), "-xf", archive}).exit_code, 0);
  EXPECT_EQ(grep(there.path()), "");
  const std::string opened = there / "run";
  EXPECT_EQ(Text(opened + "/logs/worker.0.0.log").size(), log.size()) << "positions in logs stay valid";
  EXPECT_EQ(fs::last_write_time(opened + "/logs/worker.0.0.log"),
            fs::last_write_time(run_dir + "/logs/worker.0.0.log"));
  EXPECT_EQ(Muster({"report", opened}).exit_code, 0);

  // Nobody can mask what is not known: that is said.
  const CommandResult unknown = Muster({"pack", run_dir, "-o", archive}, {secrets[1]});
  EXPECT_NE(unknown.err.find("the value of the secret \"token\" is not available here"), std::string::npos)
      << unknown.err;
}

TEST_F(Pack, ReportsSpecialFiles) {
  ASSERT_EQ(::mkfifo((RunDir() + "/logs/pipe").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((RunDir() + "/checkpoints/pipe").c_str(), 0600), 0);
  const std::string archive = folder_ / "run.tar";
  const std::string usual = Muster({"pack", RunDir(), "-o", archive}).err;
  EXPECT_NE(usual.find("omitted: logs/pipe: a named pipe\n"), std::string::npos) << usual;
  EXPECT_EQ(usual.find("checkpoints/pipe"), std::string::npos) << "its folder is left out: " << usual;
  const CommandResult all = Muster({"pack", RunDir(), "--all", "-o", archive});
  EXPECT_NE(all.err.find("omitted: checkpoints/pipe: a named pipe\n"), std::string::npos) << all.err;
  EXPECT_EQ(Call({"tar", "-tf", archive}).out.find("pipe"), std::string::npos);
  fs::remove(RunDir() + "/logs/pipe");  // the run directory is checked after all tests
}

TEST_F(Pack, CreatesAnArchiveThatOthersCannotRead) {
  for (const std::string ending : {"tar.gz", "tar"}) {
    const std::string archive = folder_ / ("run." + ending);
    { std::ofstream(archive + ".part") << "of an earlier one, for everybody"; }
    ASSERT_EQ(Muster({"pack", RunDir(), "-o", archive}).exit_code, 0);
    EXPECT_EQ(fs::status(archive).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  }
}

TEST_F(Pack, ReportsWhyItFails) {
  EXPECT_EQ(Muster({"pack", RunDir(), "-o", folder_ / "run.zip"}).exit_code, 2);
  const CommandResult nowhere = Muster({"pack", RunDir(), "-o", folder_ / "no/run.tar"});
  EXPECT_EQ(nowhere.exit_code, 3);
  EXPECT_NE(nowhere.err.find("No such file"), std::string::npos) << nowhere.err;
  EXPECT_EQ(Muster({"pack", folder_ / "nothing/there"}).exit_code, 2);
}

// The variables of a command whose temporary files are in a folder of their own.
class PackThatIsNotUnpacked : public Pack {
 protected:
  PackThatIsNotUnpacked() {
    fs::create_directory(tmp());
    EXPECT_EQ(Muster({"pack", RunDir(), "-o", archive()}).exit_code, 0);
  }
  std::string archive() const { return folder_ / "run.tar.gz"; }
  std::string tmp() const { return folder_ / "tmp"; }
  // Of a command that leaves nothing in the folder of temporary files.
  CommandResult Read(const std::vector<std::string>& words) const {
    CommandResult result = Muster(words, {"TMPDIR=" + tmp()});
    EXPECT_TRUE(fs::is_empty(tmp())) << words.front();
    EXPECT_EQ(result.out.find(tmp()), std::string::npos) << result.out;
    return result;
  }
};

TEST_F(PackThatIsNotUnpacked, IsReadByTheSameCommands) {
  const CommandResult report = Read({"report", archive()});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_NE(report.out.find("run       " + archive()), std::string::npos) << report.out;
  const auto of_archive = nlohmann::json::parse(Read({"report", archive(), "--json"}).out);
  auto of_run = nlohmann::json::parse(Read({"report", RunDir(), "--json"}).out);
  EXPECT_EQ(of_archive["run_dir"], archive());
  of_run["run_dir"] = archive();
  EXPECT_EQ(of_archive, of_run);
  EXPECT_EQ(Read({"logs", archive()}).out, "said\n");
  const CommandResult page = Read({"report", archive(), RunDir(), "--html", "-"});
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_NE(page.out.find("page-data"), std::string::npos);
  EXPECT_EQ(Read({"export", archive(), "--curves", "--csv"}).exit_code, 0);
}

TEST_F(PackThatIsNotUnpacked, IsOnlyRead) {
  const CommandResult replayed = Read({"replay", archive()});
  EXPECT_EQ(replayed.exit_code, 2);
  EXPECT_NE(replayed.err.find("is an archive, which is only read"), std::string::npos) << replayed.err;
  EXPECT_NE(replayed.err.find("tar -xf"), std::string::npos) << replayed.err;
}

TEST_F(PackThatIsNotUnpacked, IsRefusedIfItIsDamagedOrSomethingElse) {
  const std::string whole = Text(archive());
  const auto refusal = [&](const std::string& bytes) {
    std::ofstream(folder_ / "bad.tar.gz", std::ios::binary) << bytes;
    const CommandResult refused = Read({"report", folder_ / "bad.tar.gz"});
    EXPECT_EQ(refused.exit_code, 2) << refused.err;
    EXPECT_NE(refused.err.find("hint: "), std::string::npos) << refused.err;
    return refused.err;
  };
  EXPECT_NE(refusal(whole.substr(0, whole.size() / 2)).find("it ends in the middle of a file"), std::string::npos);
  EXPECT_NE(refusal("no archive").find("it ends in the middle of a file"), std::string::npos);
  EXPECT_NE(refusal("").find("it is empty"), std::string::npos);
  fs::create_directories(folder_ / "other/folder");
  std::ofstream(folder_ / "other/folder/file") << "x";
  ASSERT_EQ(Call({"tar", "-C", folder_ / "other", "-czf", folder_ / "other.tar.gz", "folder"}).exit_code, 0);
  EXPECT_NE(refusal(Text(folder_ / "other.tar.gz")).find("holds no run: there is no plan.json in it"),
            std::string::npos);
}

}  // namespace
}  // namespace muster::testing
