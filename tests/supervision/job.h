// A small recipe, run by the muster program with real processes, and what is to be seen of it afterwards. Whatever the
// job does, nothing may be left of it.
#pragma once

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/command.h"
#include "support/places.h"
#include "support/processes.h"
#include "support/temp_dir.h"

namespace muster::testing {

using nlohmann::json;

inline std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Job {
 public:
  // `body` is the plan function; `probe` in it is the program that tests start. The words of `before` are put before
  // muster's command line.
  explicit Job(const std::string& body, const std::string& fields = "", const std::vector<std::string>& before = {}) {
    std::ofstream(folder_ / "recipe.lua") << "local muster = require \"muster\"\nlocal probe = \"" << MUSTER_TESTS_DIR
                                          << "/probe\"\nreturn muster.recipe { name = \"job\", " << fields
                                          << " plan = function(p, job)\n" + body + "\nend }\n";
    Command command;
    command.argv = before;
    for (const std::string& word :
         {MusterProgram(), std::string("run"), std::string("recipe.lua"), std::string("--run-dir"), folder_ / "run"}) {
      command.argv.push_back(word);
    }
    command.cwd = folder_.path();
    result = RunCommand(command);
    report = json::parse(ContentOf(folder_ / "run/report.json"), nullptr, false);
    EXPECT_FALSE(report.is_discarded()) << result.out << result.err;
    EXPECT_EQ(report.value("/receipt/left"_json_pointer, -1), 0);
    EXPECT_TRUE(ProcessesWith(folder_.path()).empty()) << "something is left";
  }

  // The journal's records of one event, in order.
  std::vector<json> Records(const std::string& event) const {
    std::vector<json> records;
    std::ifstream journal(folder_ / "run/journal.jsonl");
    for (std::string line; std::getline(journal, line);) {
      json record = json::parse(line);
      if (record["event"] == event) records.push_back(std::move(record));
    }
    return records;
  }

  // The names of the journal's events about processes, in order: "start_ordered 2 1" is process 2, attempt 1.
  std::vector<std::string> Events(const std::vector<std::string>& kinds) const {
    std::vector<std::string> events;
    std::ifstream journal(folder_ / "run/journal.jsonl");
    for (std::string line; std::getline(journal, line);) {
      const json record = json::parse(line);
      const std::string kind = record["event"];
      if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) continue;
      events.push_back(kind + " " + record["process"].dump() + " " + record["attempt"].dump());
    }
    return events;
  }
  std::string Log(const std::string& name) const { return ContentOf(folder_ / ("run/logs/" + name + ".log")); }

  std::string Text() const { return ContentOf(folder_ / "run/report.txt"); }

  CommandResult result;
  json report;

 private:
  TempDir folder_;
};

}  // namespace muster::testing
