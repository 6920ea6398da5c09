// Measures resuming a sweep with so many finished trials: loading its state from the index and the rest of the journal,
// without an index, and rebuilding the index; and all of `muster resume`, which finds nothing left to do. Also measures
// writing one entry.
//
// usage: sweep_resume [TRIALS]    default 1000000
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sweep/index/sweep_index.h"
#include "sweep/index/sweep_view.h"
#include "sweep/record/sweep_journal.h"
#include "whole_process.h"

namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double ResidentMiB() {
  std::ifstream statm("/proc/self/statm");
  double size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

void Make(int folder, std::uint64_t trials) {
  auto writer = muster::SweepJournalWriter::Create(folder);
  if (!writer) std::abort();
  const auto append = [&](muster::SweepEntry entry) {
    if (writer->Append(std::move(entry), 1'795'176'376'000'000'000 + writer->position().seq * 1'000'000) != 0)
      std::abort();
  };
  append(muster::SweepBegan{"5e11ab1e0001", "made", trials, 1, 2, "boot", "0", std::string(64, 'c'), false});
  constexpr std::uint64_t kBatch = 1000;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    if (trial % kBatch == 0) append(muster::PointsJudged{trial, std::min(kBatch, trials - trial), {}});
    const muster::Point point = {{"lr", 1.0 / static_cast<double>(trial + 1)},
                                 {"batch", static_cast<std::int64_t>(trial % 1024)},
                                 {"workers", static_cast<std::int64_t>(trial % 7)}};
    append(muster::AttemptBegan{trial, 0, muster::PointId(point), point, std::string(64, 'a'), "0123456789ab", {}});
    muster::AttemptEnded ended;
    ended.trial = trial;
    ended.loss = static_cast<double>(trial % 9973) / 9973;
    ended.metrics = {{"loss", *ended.loss}, {"step", std::int64_t{100}}};
    ended.ms = 1234;
    append(ended);
  }
}

// In a separate process, with separate memory.
template <class F>
void Measure(const char* what, const F& work) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto begin = Clock::now();
    const std::uint64_t over = work();
    std::printf("%-44s %7.2f s  %6.0f MiB  %llu trials over\n", what, SecondsSince(begin), ResidentMiB(),
                static_cast<unsigned long long>(over));
    std::fflush(stdout);
    ::_exit(0);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) < 0 || status != 0) std::exit(1);
}

// The whole command, for a sweep whose journal and index are replaced by the folder's. The generated journal is of
// another recipe, which is accepted the first time.
void MeasureResume(const std::string& folder, std::uint64_t trials) {
  namespace fs = std::filesystem;
  const auto time = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"env", "MUSTER_HOME=" + folder + "/home", muster::benchmark::Program("muster")});
    const auto seconds = muster::benchmark::TimeCommand(words, folder, std::chrono::seconds(600));
    if (!seconds) std::exit(1);
    return *seconds;
  };
  time({"sweep", muster::benchmark::Source("benchmarks/point.lua"), "--grid", "x=0.." + std::to_string(trials - 1),
        "--max-trials", "1", "--quiet"});
  fs::path sweep;
  for (const auto& entry : fs::recursive_directory_iterator(folder + "/home/sweeps")) {
    if (entry.path().filename() == "sweep.json") sweep = entry.path().parent_path();
  }
  for (const char* name : {"journal.jsonl", "index.sqlite"}) fs::rename(fs::path(folder) / name, sweep / name);
  std::printf("%-44s %7.2f s\n", "muster resume, with the index", time({"resume", sweep, "--accept", "--quiet"}));
  std::printf("%-44s %7.2f s   (wanted: under 3)\n", "muster resume, with a fresh index",
              time({"resume", sweep, "--quiet"}));
  fs::remove(sweep / "index.sqlite");
  std::printf("%-44s %7.2f s\n", "muster resume, rebuilding the index", time({"resume", sweep, "--quiet"}));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t trials = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const muster::benchmark::ScratchFolder scratch;
  const std::string& folder = scratch.path();
  const int at = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const auto begin = Clock::now();
  Make(at, trials);
  const double took = SecondsSince(begin);
  std::printf("%llu trials, %.0f MiB of journal; making and writing an entry: %.1f us\n",
              static_cast<unsigned long long>(trials),
              static_cast<double>(std::filesystem::file_size(folder + "/journal.jsonl")) / (1 << 20),
              took / static_cast<double>(2 * trials) * 1e6);
  Measure("floor: the bytes of the journal, read", [&] {
    const int journal = ::openat(at, "journal.jsonl", O_RDONLY);
    std::string bytes(1 << 20, '\0');
    while (::read(journal, bytes.data(), bytes.size()) > 0) {
    }
    return trials;
  });
  Measure("progress, of the whole journal", [&] { return muster::LoadSweepProgress(folder).progress.over().size(); });
  Measure("view of all trials, of the whole journal", [&] {
    const auto view = muster::SweepView::Open(folder);
    return view ? view->progress().over().size() : 0;
  });
  Measure("rebuilding the index, with the progress", [&] {
    muster::SweepIndex index = muster::SweepIndex::Open(folder);
    const muster::LoadedSweep loaded = index.CatchUp();
    index.Commit(loaded.progress, loaded.position, true);
    if (!index.problem().empty()) std::puts(index.problem().c_str());
    return loaded.progress.over().size();
  });
  std::printf("%.0f MiB of index\n",
              static_cast<double>(std::filesystem::file_size(folder + "/index.sqlite")) / (1 << 20));
  Measure("progress, by the index", [&] { return muster::LoadSweepProgress(folder).progress.over().size(); });
  Measure("resume: index opened, the progress by it", [&] {
    muster::SweepIndex index = muster::SweepIndex::Open(folder);
    return index.CatchUp().progress.over().size();
  });
  Measure("view of all trials, by the index", [&] {
    const auto view = muster::SweepView::Open(folder);
    return view ? view->progress().over().size() : 0;
  });
  Measure("the ten best, by the index", [&] {
    const auto view = muster::SweepView::Open(folder);
    int left = 10;
    const auto take = [&](const muster::AttemptRow&) { return --left > 0; };
    if (view && !view->ForEachTrial(muster::SweepView::Order::kLoss, take)) std::abort();
    return view ? view->progress().over().size() : 0;
  });
  MeasureResume(folder, trials);
  return 0;
}
