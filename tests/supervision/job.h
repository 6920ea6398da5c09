// A small recipe, run by the muster program with real processes, and its results. Checks that no process of the job
// remains.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/run_folder.h"

namespace muster::testing {

class Job : public RunFolder {
 public:
  // `body` is the plan function, in which `probe` is the tests' child process. `before` is put before muster's command
  // line.
  explicit Job(const std::string& body, const std::string& fields = "", const std::vector<std::string>& before = {}) {
    WriteRecipe(body, fields);
    Command command;
    command.argv = before;
    for (const std::string& word : RunWords()) command.argv.push_back(word);
    command.cwd = Folder();
    result = RunCommand(command);
    report = json::parse(ContentOf(RunDir() + "/report.json"), nullptr, false);
    EXPECT_FALSE(report.is_discarded()) << result.out << result.err;
    EXPECT_EQ(report.value("/receipt/left"_json_pointer, -1), 0);
    EXPECT_TRUE(ProcessesWith(Folder()).empty()) << "something is left";
  }

  // Returns the journal's events about processes in order, such as "start_ordered 2 1": process 2, attempt 1.
  std::vector<std::string> Events(const std::vector<std::string>& kinds) const {
    std::vector<std::string> events;
    for (const std::string& line : LinesOf(RunDir() + "/journal.jsonl")) {
      const json record = json::parse(line);
      const std::string kind = record["event"];
      if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) continue;
      events.push_back(kind + " " + record["process"].dump() + " " + record["attempt"].dump());
    }
    return events;
  }
  std::string Text() const { return ContentOf(RunDir() + "/report.txt"); }

  CommandResult result;
  json report;
};

}  // namespace muster::testing
