// Drills of a small recipe with the muster program, and their JSON.
#pragma once

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/command.h"
#include "support/journal_records.h"
#include "support/places.h"
#include "support/temp_dir.h"

namespace muster::testing {

// The role of workers, whose `options` are fields of the recipe's role.
inline std::string DrillRecipe(const std::string& options, const std::string& command = "'sleep', '1000'",
                               const std::string& fields = "") {
  return "local muster = require 'muster'\nreturn muster.recipe {\n  name = 'job', doc = 'a job', framework = 'none',\n"
         "  checkpoint = { dir = 'checkpoints', latest = 'step_*.txt' },\n  " +
         fields + "\n  plan = function(p, job)\n    job:workers { devices = 0, command = { " + command + "}, " +
         options + " }\n  end,\n}\n";
}

class Drilled {
 public:
  // `words`: before the command of the drill, which is called in a folder of its own.
  Drilled(const std::string& recipe, const std::vector<std::string>& options,
          const std::vector<std::string>& words = {}) {
    std::ofstream(folder_ / "job.lua") << recipe;
    std::vector<std::string> drill = {MusterProgram(), "drill", "job.lua", "--json"};
    drill.insert(drill.begin(), words.begin(), words.end());
    drill.insert(drill.end(), options.begin(), options.end());
    result = CallInFolder(std::move(drill));
    json = nlohmann::json::parse(result.out, nullptr, false);
  }

  // The first row of a fault that begins so; null if there is none.
  nlohmann::json Row(const std::string& fault) const {
    if (!json.is_object() || !json.contains("faults")) return nullptr;
    for (const auto& row : json["faults"]) {
      if (row["fault"].get<std::string>().starts_with(fault)) return row;
    }
    return nullptr;
  }

  // What another command says in its folder.
  CommandResult Muster(std::vector<std::string> words) const {
    words.insert(words.begin(), MusterProgram());
    return CallInFolder(std::move(words));
  }
  // "exception: restart" for each failure of the runs.
  std::vector<std::string> Verdicts() const {
    std::vector<std::string> verdicts;
    if (!json.is_object() || !json.contains("runs")) return verdicts;
    for (const auto& run : json["runs"]) {
      for (const auto& judged : RecordsOf(run["run_dir"].get<std::string>() + "/journal.jsonl", "failure_judged"))
        verdicts.push_back(judged["class"].get<std::string>() + ": " + judged["verdict"].get<std::string>());
    }
    return verdicts;
  }

  CommandResult result;
  nlohmann::json json;

 private:
  CommandResult CallInFolder(std::vector<std::string> words) const {
    Command command;
    command.argv = std::move(words);
    command.env = {"PATH=/usr/bin:/bin", "XDG_STATE_HOME=" + folder_.path()};
    command.cwd = folder_.path();
    return RunCommand(command);
  }

  TempDir folder_;
};

}  // namespace muster::testing
