// Whole runs of muster inside an allocation of the testbed's Slurm, and what its nodes were like before.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "hosts/hosts_run.h"
#include "slurm/slurm_testbed.h"

namespace muster::testing {

// Words that run a command in a new allocation, and return its exit code: on the login machine, …
inline Words Salloc(Words options) {
  options.insert(options.begin(), {"salloc", "--quiet", "--job-name=muster"});
  return options;
}

// … or as a batch job on its first node, which writes into the testbed's folder.
inline Words Sbatch(const SlurmTestbed& testbed, Words options) {
  const std::string script = testbed.folder() + "/job.sh";
  std::ofstream(script) << "#!/bin/sh\nexec \"$@\"\n";
  options.insert(options.begin(),
                 {"sbatch", "--wait", "--job-name=muster", "--output=" + testbed.folder() + "/job.out"});
  options.push_back(script);
  return options;
}

// A recipe that is given as a text, in the folder that all nodes share.
inline RecipeFile RecipeIn(const SlurmTestbed& testbed, const std::string& text) {
  const std::string path = testbed.folder() + "/r.lua";
  std::ofstream(path) << text;
  return {path};
}

// Four processes that run until they are stopped, or until LetEnd. `fields`: further ones of the role.
inline std::string UntilFile(const SlurmTestbed& testbed, int hosts, const std::string& fields = {}) {
  return Recipe(hosts, "    job:workers { count = 4, devices = 0, cwd = '/', command = { '" MUSTER_TESTS_DIR
                       "/probe', 'print', 'runs', 'await', '" +
                           testbed.folder() + "/end' }" + fields + " }");
}
inline void LetEnd(const SlurmTestbed& testbed) { std::ofstream(testbed.folder() + "/end").flush(); }

class SlurmRun : public HostsRun {
 public:
  SlurmRun(const SlurmTestbed& testbed, const Words& by, const std::string& recipe, const Words& options = {})
      : SlurmRun(testbed, by, RecipeIn(testbed, recipe), options) {}
  SlurmRun(const SlurmTestbed& testbed, const Words& by, const RecipeFile& recipe, const Words& options = {})
      : HostsRun(testbed, testbed.folder(), by, recipe, options), testbed_(testbed) {}

  // Everything that was said: of a batch job it is in a file.
  std::string Said() {
    Result();
    return ContentOf(run_dir() + "/report.txt") + Result().out + Result().err +
           ContentOf(testbed_.folder() + "/job.out");
  }
  bool Says(const std::string& text) { return Said().find(text) != std::string::npos; }
  // The id of the only job of this name.
  std::string Job() const { return testbed_.Ask({"squeue", "--noheader", "--name=muster", "--format=%i"}); }

 private:
  const SlurmTestbed& testbed_;
};

inline Words NodeNames(int count) {
  Words names;
  for (int node = 1; node <= count; ++node) names.push_back("n" + std::to_string(node));
  return names;
}

// Nodes with nothing on them yet; at the end of the allocation nothing may be left.
class NodesBefore : public HostsBefore {
 public:
  NodesBefore(const SlurmTestbed& testbed, int count) : HostsBefore(testbed, NodeNames(count)), testbed_(testbed) {}

  void ExpectNothingLeft(SlurmRun& run) const {
    run.Result();
    HostsBefore::ExpectNothingLeft(run);
    const std::string dial = testbed_.folder() + "/muster/dial";
    EXPECT_TRUE(!std::filesystem::exists(dial) || std::filesystem::is_empty(dial)) << "the token is removed";
  }

 private:
  const SlurmTestbed& testbed_;
};

}  // namespace muster::testing
