// A job in a temporary folder (a recipe, scripts, a stand-in for MindSpore), run by the muster program.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "support/command.h"
#include "support/file_content.h"
#include "support/places.h"
#include "support/temp_dir.h"

namespace muster::testing {

inline bool HasPython() { return ::access("/usr/bin/python3", X_OK) == 0; }

class PythonJob {
 public:
  // `standin`: a folder of tests/python/standins. `body`: the recipe's plan function. `fields`: further fields of the
  // recipe.
  explicit PythonJob(const std::string& standin, const std::string& body, const std::string& fields = "")
      : standins_(std::string(MUSTER_SOURCE_DIR) + "/tests/python/standins") {
    Put("recipe.lua",
        "local muster = require \"muster\"\nlocal context = require \"muster.context\"\n"
        "return muster.recipe { name = \"job\", framework = \"mindspore\", " +
            fields + "\nplan = function(p, job)\n" + body + "\nend }\n");
    python_path_ = standins_ + "/" + standin + ":" + standins_;
  }

  void Put(const std::string& name, const std::string& content) {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
  }
  std::string operator/(const std::string& name) const { return folder_ / name; }
  // Puts the folder before the caller's PYTHONPATH.
  void AddToPythonPath(const std::string& name) { python_path_ = (folder_ / name) + ":" + python_path_; }

  Command RunCommandOf(std::vector<std::string> words = {}, std::vector<std::string> variables = {}) const {
    Command command;
    command.argv = {program, "run", "recipe.lua", "--run-dir", folder_ / "run"};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.env.insert(command.env.end(), {"PYTHONPATH=" + python_path_, "PYTHONDONTWRITEBYTECODE=1",
                                           "STANDIN_CALLS=" + (folder_ / "calls")});
    command.env.insert(command.env.end(), variables.begin(), variables.end());
    command.cwd = folder_.path();
    return command;
  }
  CommandResult Run(std::vector<std::string> words = {}, std::vector<std::string> variables = {}) const {
    return RunCommand(RunCommandOf(std::move(words), std::move(variables)));
  }

  std::string run_dir() const { return folder_ / "run"; }
  std::string Log(const std::string& process) const { return ContentOf(run_dir() + "/logs/" + process + ".0.log"); }
  nlohmann::json ReportJson() const { return nlohmann::json::parse(ContentOf(run_dir() + "/report.json")); }
  std::string ReportText() const { return ContentOf(run_dir() + "/report.txt"); }

  // Returns the context of worker.INDEX in report.json; null if there is none.
  nlohmann::json ContextOf(unsigned index = 0, const std::string& role = "worker") const {
    const nlohmann::json report = ReportJson();
    for (const nlohmann::json& context : report.at("contexts")) {
      if (context.at("role") != role) continue;
      for (const nlohmann::json& each : context.at("indices")) {
        if (each == index) return context;
      }
    }
    return nullptr;
  }

  // Returns entries such as "set_context(mode)", in the order in which all processes of the job made the calls.
  std::vector<std::string> SettersCalled() const {
    std::vector<std::string> calls;
    std::ifstream file(folder_ / "calls");
    for (std::string line; std::getline(file, line);) {
      const nlohmann::json call = nlohmann::json::parse(line);
      const std::string function = call.at("function");
      if (function.starts_with("set_"))
        calls.push_back(function + "(" + call.at("names").at(0).get<std::string>() + ")");
    }
    return calls;
  }

  std::string program = MusterProgram();

 private:
  TempDir folder_;
  std::string standins_;
  std::string python_path_;
};

}  // namespace muster::testing
