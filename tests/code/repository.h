// A git repository for a test, isolated from the user's own configuration.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/temp_dir.h"

#define SKIP_WITHOUT_GIT() \
  if (RunCommand({.argv = {"git", "--version"}}).exit_code != 0) GTEST_SKIP() << "git is missing (tools/setup)"

namespace muster::testing {

class Repository {
 public:
  Repository() { Git({"init", "-q", "-b", "main"}); }

  std::string folder() const { return std::filesystem::canonical(folder_.path()); }
  std::string operator/(const std::string& name) const { return folder() + '/' + name; }
  std::vector<std::string> environment() const { return {"PATH=/usr/bin:/bin", "HOME=" + folder()}; }

  void Write(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(*this / path).parent_path());
    std::ofstream(*this / path, std::ios::binary) << content;
  }
  CommandResult Git(std::vector<std::string> words) const {
    words.insert(words.begin(), {"git", "-c", "user.name=t", "-c", "user.email=t@t"});
    return RunCommand({.argv = std::move(words), .env = environment(), .cwd = folder()});
  }
  void Commit() const {
    Git({"add", "-A"});
    Git({"commit", "-q", "-m", "all"});
  }

 private:
  TempDir folder_;
};

}  // namespace muster::testing
