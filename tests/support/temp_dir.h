// A temporary folder for one test, removed by the destructor.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace muster::testing {

class TempDir {
 public:
  explicit TempDir(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string pattern = (parent / "muster-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
    path_ = pattern;
  }
  ~TempDir() {
    std::error_code ignored;
    if (const char* keep = std::getenv("MUSTER_KEEP_RUNS")) KeepRuns(keep);
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::string path() const { return path_.string(); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  // Moves run directories to that folder, for the check after all tests.
  void KeepRuns(const std::filesystem::path& keep) const {
    std::vector<std::filesystem::path> runs;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator it(path_, error), end; !error && it != end;
         it.increment(error)) {
      if (it->path().filename() == "journal.jsonl") runs.push_back(it->path().parent_path());
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
      std::filesystem::rename(runs[i], keep / (path_.filename().string() + "-" + std::to_string(i)), error);
    }
  }

  std::filesystem::path path_;
};

}  // namespace muster::testing
