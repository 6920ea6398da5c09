// Runs launch scripts with bash and recording stand-ins for the programs that they start, translates them with muster
// init
// --from shell, and compares the processes of the plan: folder, words, variables.
//
// tests/launchers/scripts/*.sh: `#: call ARGUMENT…` is a call of the script; further ones, and `#: edit FROM TO`, are
// those of other machines. `#: refused LINE ARGUMENT…`: the line that the refusal names.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "base/values/quoting.h"
#include "cli/muster_command.h"
#include "support/file_content.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

struct Started {
  std::vector<std::string> words;  // the program without its folder
  std::string folder;
  std::map<std::string, std::string> env;
};

struct ScriptCase {
  std::string name, text, refused_line;
  std::vector<std::string> calls;                          // arguments on each machine
  std::vector<std::pair<std::string, std::string>> edits;  // of the text on further machines
};

ScriptCase CaseOf(const fs::path& path) {
  ScriptCase one{path.filename().string(), ContentOf(path.string()), {}, {}, {}};
  std::istringstream lines(one.text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#: ")) continue;
    std::istringstream words(line.substr(3));
    std::string kind, rest;
    words >> kind;
    if (kind == "refused") words >> one.refused_line;
    if (kind == "edit") {
      std::string from, to;
      words >> from >> to;
      one.edits.emplace_back(from, to);
      continue;
    }
    std::getline(words, rest);
    one.calls.push_back(rest);
  }
  return one;
}

// A project as the scripts expect it, with the scripts in `scripts`, and stand-ins that record how they are called.
class Project {
 public:
  explicit Project(const ScriptCase& one) {
    const fs::path root = root_.path();
    for (const char* folder : {"scripts/data", "scripts/device", "scripts/work", "src", "bin"})
      fs::create_directories(root / folder);
    for (const char* file :
         {"train.py", "src/net.py", "default_config.yaml", "scripts/hccl.json", "scripts/old.ckpt", "scripts/hosts"})
      std::ofstream(root / file) << "";
    const fs::path scripts = fs::path(MUSTER_SOURCE_DIR) / "tests/launchers/scripts";
    for (const char* beside : {"paths.sh", "one_rank.sh"})
      fs::copy_file(scripts / (std::string(beside) + ".txt"), root / "scripts" / beside);
    std::ofstream(root / "scripts" / one.name) << one.text;
    for (const char* program : {"python", "python3", "pytest", "mpirun", "msrun", "torchrun"}) {
      Program(program,
              "f=$(mktemp \"$RECORDS/XXXXXX\")\n"
              "{ pwd -P; printf '%s\\n' \"$#\" \"${0##*/}\" \"$@\"; env; } > \"$f\"\n");
    }
    Program("taskset", "shift 2\nexec \"$@\"\n");
    Program("nvidia-smi", "exit 0\n");
  }

  std::string folder() const { return fs::canonical(fs::path(root_.path()) / "scripts").string(); }

  std::vector<std::string> Environment(const std::string& records) const {
    return {"PATH=" + root_.path() + "/bin:/usr/bin:/bin", "HOME=/root", "RECORDS=" + records};
  }

  // What the script starts. Descriptor 9 of all its processes is a pipe: `cat` ends when the last of them has.
  std::vector<Started> Run(const ScriptCase& one, const std::string& arguments) const {
    const TempDir records;
    Command command;
    command.argv = {"/bin/bash", "-c",
                    "bash " + one.name + " " + arguments + " 9>&1 > /dev/null 2>&1 < /dev/null | cat"};
    command.env = Environment(records.path());
    command.cwd = folder();
    EXPECT_EQ(RunCommand(command).exit_code, 0);
    std::vector<Started> all;
    for (const auto& file : fs::directory_iterator(records.path())) all.push_back(ReadRecord(file.path().string()));
    return all;
  }

  // `muster WORDS` in the folder of the scripts.
  CommandResult Muster(std::vector<std::string> words) const {
    Command command;
    command.argv = {MusterProgram()};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.env = Environment("");
    command.cwd = folder();
    return RunCommand(command);
  }

 private:
  void Program(const std::string& name, const std::string& text) const {
    const std::string path = root_.path() + "/bin/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << text;
    ::chmod(path.c_str(), 0755);
  }

  static Started ReadRecord(const std::string& path) {
    std::istringstream lines(ContentOf(path));
    Started one;
    std::string line;
    std::getline(lines, one.folder);
    std::getline(lines, line);
    for (int words = std::stoi(line) + 1; words > 0; --words) {
      std::getline(lines, line);
      one.words.push_back(line);
    }
    static const std::vector<std::string> own = {"PATH", "HOME", "RECORDS", "PWD", "OLDPWD", "SHLVL", "_"};
    while (std::getline(lines, line)) {
      const std::string name = line.substr(0, line.find('='));
      if (std::find(own.begin(), own.end(), name) == own.end()) one.env[name] = line.substr(name.size() + 1);
    }
    return one;
  }

  TempDir root_;
};

// Variables that a contract sets to values of its own: addresses, ports, the number of a node.
bool IsOfContract(const std::string& framework, const std::string& name) {
  return framework != "none" && (name.starts_with("MS_SCHED") || name == "MS_NODE_ID" || name == "RANK_TABLE_FILE");
}

bool HasVariables(const nlohmann::json& env, const Started& real, const std::string& framework) {
  return std::all_of(real.env.begin(), real.env.end(), [&](const auto& one) {
    const auto& [name, value] = one;
    if (IsOfContract(framework, name)) return true;
    if (!env.contains(name)) return false;
    const std::string planned = env[name];
    // muster's own folder comes before the value.
    return planned == value || (name == "PYTHONPATH" && planned.find(value) != std::string::npos);
  });
}

std::string Shown(const std::vector<Started>& all) {
  std::string text;
  for (const Started& one : all) {
    text += "  in " + one.folder + ": " + ShellQuoted(one.words);
    for (const auto& [name, value] : one.env) text += " " + name + "=" + value;
    text += "\n";
  }
  return text;
}

// A launcher in the script is started with the words, the folder and the variables of the script; its own translation
// has other tests.
std::string DifferenceOfLauncher(const nlohmann::json& plan, const Started& real, const std::string& folder) {
  for (const auto& process : plan["processes"]) {
    if (process["role"] == "files") continue;
    std::vector<std::string> words = process["command"];
    if (words[0] == "mpirun") {
      const auto host = std::find(words.begin(), words.end(), "--host");
      if (host != words.end()) words.erase(host, host + 2);
    }
    // python3 before a program is the launcher's; mpirun's options are in another order.
    std::vector<std::string> own = real.words;
    if (words[0] == "mpirun") {
      std::sort(words.begin(), words.end());
      std::sort(own.begin(), own.end());
    } else if (words[0] == "python3") {
      words.erase(words.begin());
    }
    if (words.size() > own.size() || !std::equal(words.rbegin(), words.rend(), own.rbegin()))
      return "words: " + ShellQuoted(words);
    if ((fs::path(folder) / process["cwd"].get<std::string>()).lexically_normal().string().find(real.folder) != 0)
      return "folder: " + process["cwd"].get<std::string>();
    if (!HasVariables(process["env"], real, plan["framework"])) return "variables: " + process["env"].dump();
  }
  return {};
}

std::string Difference(const nlohmann::json& plan, std::vector<Started> real, const std::string& folder) {
  if (real.size() == 1 &&
      (real[0].words[0] == "mpirun" || real[0].words[0] == "msrun" || real[0].words[0] == "torchrun"))
    return DifferenceOfLauncher(plan, real[0], folder);
  const std::string framework = plan["framework"];
  for (const auto& process : plan["processes"]) {
    if (process["role"] == "files") continue;
    std::vector<std::string> words = process["command"];
    words[0] = fs::path(words[0]).filename().string();
    std::string planned = (fs::path(folder) / process["cwd"].get<std::string>()).lexically_normal().string();
    while (planned.ends_with('/')) planned.pop_back();
    const auto found = std::find_if(real.begin(), real.end(), [&](const Started& one) {
      return one.words == words && one.folder == planned && HasVariables(process["env"], one, framework);
    });
    if (found == real.end())
      return "the plan has " + ShellQuoted(words) + " in " + planned + " with " + process["env"].dump() + ", bash:\n" +
             Shown(real);
    real.erase(found);
  }
  return real.empty() ? std::string() : "bash starts also:\n" + Shown(real);
}

// Prevents: a translation starts something else than the script, or most scripts are refused.
TEST(LaunchScripts, StartTheSameProcessesAsBashOrAreRefusedWithALine) {
  std::vector<fs::path> paths;
  for (const auto& file : fs::directory_iterator(fs::path(MUSTER_SOURCE_DIR) / "tests/launchers/scripts")) {
    if (file.path().extension() == ".sh") paths.push_back(file.path());
  }
  std::sort(paths.begin(), paths.end());
  ASSERT_GE(paths.size(), 40U);
  std::size_t translated = 0;
  for (const fs::path& path : paths) {
    const ScriptCase one = CaseOf(path);
    SCOPED_TRACE(one.name);
    ASSERT_FALSE(one.calls.empty());
    const Project project(one);
    std::vector<std::string> words = {"init", "made", "--from", "shell", "--", "bash", one.name};
    const auto arguments = ShellWords(one.calls[0]);
    words.insert(words.end(), arguments->begin(), arguments->end());
    const CommandResult made = project.Muster(words);
    if (!one.refused_line.empty()) {
      EXPECT_EQ(made.exit_code, 2) << made.out;
      EXPECT_NE(made.err.find(one.name + ":" + one.refused_line + ":"), std::string::npos) << made.err;
      EXPECT_FALSE(fs::exists(project.folder() + "/made"));
      continue;
    }
    EXPECT_EQ(made.exit_code, 0) << made.err;
    if (made.exit_code != 0) continue;
    std::string recipe;
    for (const auto& file : fs::directory_iterator(project.folder() + "/made")) {
      if (file.path().extension() == ".lua") recipe = "made/" + file.path().filename().string();
    }
    const CommandResult planned = project.Muster({"plan", "--json", recipe});
    EXPECT_EQ(planned.exit_code, 0) << planned.err << ContentOf(project.folder() + "/" + recipe);
    if (planned.exit_code != 0) continue;
    ++translated;
    std::vector<Started> real;
    for (const std::string& call : one.calls) {
      for (Started& started : project.Run(one, call)) real.push_back(std::move(started));
    }
    for (const auto& [from, to] : one.edits) {
      ScriptCase other = one;
      other.text.replace(other.text.rfind(from), from.size(), to);
      other.name = "edited.sh";
      std::ofstream(project.folder() + "/edited.sh") << other.text;
      for (Started& started : project.Run(other, one.calls[0])) real.push_back(std::move(started));
    }
    EXPECT_FALSE(real.empty());
    EXPECT_EQ(Difference(nlohmann::json::parse(planned.out), std::move(real), project.folder()), "");
  }
  std::printf("%zu of %zu scripts are translated, the others refused with a line\n", translated, paths.size());
  EXPECT_GE(translated * 100, paths.size() * 60);
}

// Prevents: folders that a script makes for its processes are missing when they start.
TEST(LaunchScripts, RunInTheFoldersThatTheScriptMakes) {
  const ScriptCase one = CaseOf(fs::path(MUSTER_SOURCE_DIR) / "tests/launchers/scripts/first_device.sh");
  const Project project(one);
  ASSERT_EQ(project.Muster({"init", "made", "--from", "shell", "--", "bash", one.name, "2", "4"}).exit_code, 0);
  const CommandResult run = project.Muster({"run", "made/train.lua"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_TRUE(fs::is_directory(project.folder() + "/train_4"));
  EXPECT_TRUE(fs::is_directory(project.folder() + "/train_5"));
}

}  // namespace
}  // namespace muster::testing
