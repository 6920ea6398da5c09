// A temporary folder with a small recipe and its run: writes the recipe, calls muster, reads the results.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "support/await.h"
#include "support/command.h"
#include "support/file_content.h"
#include "support/places.h"
#include "support/processes.h"
#include "support/temp_dir.h"

namespace muster::testing {

using nlohmann::json;
using Words = std::vector<std::string>;

class RunFolder {
 public:
  std::string Folder() const { return folder_.path(); }
  std::string RunDir() const { return folder_ / run_name; }
  std::string Log(const std::string& name) const { return ContentOf(RunDir() + "/logs/" + name + ".log"); }

  // Writes recipe.lua with this plan function, in which `probe` is the tests' child process and `here` the folder.
  void WriteRecipe(const std::string& body, const std::string& fields = "") const {
    std::ofstream(folder_ / "recipe.lua")
        << "local muster = require \"muster\"\nlocal probe = \"" << MUSTER_TESTS_DIR << "/probe\"\nlocal here = \""
        << folder_.path()
        << "\"\nreturn muster.recipe { name = \"job\", " + fields + " plan = function(p, job)\n" + body + "\nend }\n";
  }

  // The command line that runs the recipe in RunDir().
  Words RunWords(const Words& more = {}) const {
    Words words = {MusterProgram(), "run", "recipe.lua", "--run-dir", RunDir()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  CommandResult Muster(Words words) const {
    words.insert(words.begin(), MusterProgram());
    return RunCommand({words, {"PATH=/usr/bin:/bin", "HERE=" + folder_.path()}, folder_.path()});
  }

  // Returns the records of one event written so far, in order.
  std::vector<json> Records(const std::string& event) const {
    std::vector<json> records;
    for (const std::string& line : LinesOf(RunDir() + "/journal.jsonl")) {
      json record = json::parse(line);
      if (record["event"] == event) records.push_back(std::move(record));
    }
    return records;
  }

  // Waits until every process with the folder in its environment or command has exited.
  void AwaitNothingLeft() const {
    for (const pid_t left : ProcessesWith(folder_.path())) AwaitEnd(left);
  }

  std::string run_name = "run";  // name of the run's folder

 private:
  TempDir folder_;
};

}  // namespace muster::testing
