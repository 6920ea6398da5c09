// Runs muster run to its end on the testbed's login machine.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "hosts/hosts_testbed.h"
#include "support/journal_records.h"

namespace muster::testing {

class CalledRun {
 public:
  // Runs in `folder`, which holds recipe.lua. Only the login machine sees the run directory.
  CalledRun(const HostsTestbed& testbed, const std::string& folder, const std::string& name,
            std::vector<std::string> options)
      : run_dir_(testbed.own_folder() + '/' + name) {
    options.insert(options.begin(), {MusterProgram(), "run", folder + "/recipe.lua", "--run-dir", run_dir_});
    result = RunCommand({.argv = testbed.Login(std::move(options)),
                         .env = {"PATH=/usr/bin:/bin", "MUSTER_SSH=" + testbed.ssh(), "HOME=/root",
                                 "XDG_STATE_HOME=" + testbed.own_folder() + "/state"},
                         .cwd = folder});
  }

  std::string Log(const std::string& process) const { return Read("logs/" + process + ".0.log"); }
  std::string Read(const std::string& name) const {
    std::ifstream file(run_dir_ + '/' + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<nlohmann::json> Journal(const std::string& event) const {
    return RecordsOf(run_dir_ + "/journal.jsonl", event);
  }
  bool Said(const std::string& text) const { return result.err.find(text) != std::string::npos; }

  CommandResult result;

 private:
  std::string run_dir_;
};

// Writes a recipe for `hosts` hosts; `body` is that of its plan function.
inline void WriteRecipe(const std::string& folder, int hosts, const std::string& body,
                        const std::string& framework = "none") {
  std::ofstream(folder + "/recipe.lua")
      << "local muster = require 'muster'\nreturn muster.recipe {\n  name = 'job', doc = 'a job', framework = '"
      << framework << "',\n  cluster = { hosts = " << hosts << ", devices_per_host = 1 },\n  plan = function(p, job)\n"
      << body << "\n  end,\n}\n";
}

}  // namespace muster::testing
