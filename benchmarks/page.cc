// Measures the page of a sweep (muster report --html): the time to write it and its size at 1,000 trials of 10,000
// points, and in Debian's Chromium its first paint, and the frames a second while a range is dragged at 5,000 trials.
//
// usage: page
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "page/collect/make_page.h"
#include "page/write/page_html.h"
#include "page/written_sweep.h"

namespace {

double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void Measure(const std::string& folder, std::uint64_t trials, std::uint64_t points) {
  const std::string sweep = folder + "/sweep" + std::to_string(trials);
  const std::string file = sweep + ".html";
  std::filesystem::create_directory(sweep);
  muster::testing::WriteSweep(sweep, {.trials = trials, .points = points});
  const auto begin = std::chrono::steady_clock::now();
  const auto page = muster::MakePage({{sweep, true}});
  if (!page) std::abort();
  const std::string html = muster::PageHtml(*page);
  const double seconds = SecondsSince(begin);
  std::ofstream(file) << html;
  std::filesystem::remove_all(sweep);
  std::printf("%5llu trials of %llu points: written in %.2f s, %.2f MB  (wanted at 1,000 trials: below 3 MB)\n",
              static_cast<unsigned long long>(trials), static_cast<unsigned long long>(points), seconds,
              static_cast<double>(html.size()) / 1e6);
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/usr/bin/python3", "python3", "-B", MUSTER_SOURCE_DIR "/benchmarks/page_in_browser.py", file.c_str(),
            nullptr);
    ::_exit(127);
  }
  ::waitpid(child, nullptr, 0);
}

}  // namespace

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "muster-page-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) std::abort();
  Measure(folder, 1'000, 10'000);
  Measure(folder, 5'000, 200);
  std::filesystem::remove_all(folder);
}
