#include "launchers/shell_ranks.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/values/parse_number.h"
#include "base/values/shell_quote.h"
#include "launchers/shell_script.h"

namespace muster {
namespace {

using Env = std::map<std::string, std::string>;

// Frameworks whose variables scripts export by hand: the variable that identifies the framework, in this order, and the
// variables that its contract sets instead.
struct ByHand {
  std::string_view variable;
  std::string_view framework;
  std::string_view role;  // the variable with the role of a process; empty: all are workers
  std::vector<std::string_view> set_by_contract;
};

const std::vector<ByHand>& FrameworksByHand() {
  static const std::vector<ByHand> all = {
      {"MS_ROLE",
       "mindspore",
       "MS_ROLE",
       {"MS_ROLE", "MS_WORKER_NUM", "MS_SERVER_NUM", "MS_SCHED_HOST", "MS_SCHED_PORT", "MS_NODE_ID", "RANK_ID",
        "RANK_SIZE", "DEVICE_ID"}},
      {"DMLC_ROLE",
       "ps-lite",
       "DMLC_ROLE",
       {"DMLC_ROLE", "DMLC_NUM_WORKER", "DMLC_NUM_SERVER", "DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT", "DMLC_TASK_ID"}},
      {"RANK_TABLE_FILE",
       "mindspore-ranktable",
       "",
       {"RANK_TABLE_FILE", "MINDSPORE_HCCL_CONFIG_PATH", "RANK_ID", "RANK_SIZE", "DEVICE_ID", "LOCAL_RANK",
        "LOCAL_RANK_SIZE"}},
      {"WORLD_SIZE",
       "torch",
       "",
       {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}},
  };
  return all;
}

enum class Role : std::uint8_t { kScheduler, kServer, kWorker };

Role RoleOf(const std::string& value) {
  if (value == "MS_SCHED" || value == "scheduler") return Role::kScheduler;
  return value == "MS_PSERVER" || value == "MS_SERVER" || value == "server" ? Role::kServer : Role::kWorker;
}

std::string ValueIn(const Env& env, std::string_view name) {
  const auto found = env.find(std::string(name));
  return found == env.end() ? std::string() : found->second;
}

// The texts as one word: all the same, or the same around a number that grows by one.
std::optional<CallWord> Common(const std::vector<std::string>& texts) {
  if (std::all_of(texts.begin(), texts.end(), [&](const std::string& one) { return one == texts.front(); }))
    return CallWord{texts.front()};
  const std::string &first = texts[0], &second = texts[1];
  std::size_t begin = 0;
  while (begin < first.size() && begin < second.size() && first[begin] == second[begin]) ++begin;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  while (begin > 0 && is_digit(first[begin - 1])) --begin;
  std::size_t end = begin;
  while (end < first.size() && is_digit(first[end])) ++end;
  const auto start = ParseNumber<int>(std::string_view(first).substr(begin, end - begin));
  if (!start) return std::nullopt;
  const CallWord word = {first.substr(0, begin), CallWord::Number::kLocalRank, *start, first.substr(end)};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i] != word.text + std::to_string(*start + static_cast<int>(i)) + word.after) return std::nullopt;
  }
  return word;
}

class Ranks {
 public:
  explicit Ranks(ScriptLaunches found, std::string name) : found_(std::move(found)), name_(std::move(name)) {}

  Result<LauncherCall> Read() {
    TakeLaunches();
    if (workers_.empty()) {
      return Wrong(
          "no processes are started in the background",
          "the script is expected to have a loop like: for i in 0 1 2 3; do RANK_ID=$i python train.py & done");
    }
    // By rank if it is given: the first rank may be started last.
    std::stable_sort(workers_.begin(), workers_.end(), [](const ScriptLaunch& a, const ScriptLaunch& b) {
      const auto rank = [](const Env& env) { return ParseNumber<int>(ValueIn(env, "RANK_ID")).value_or(0); };
      return rank(a.env) < rank(b.env);
    });
    if (auto taken = TakeCommand(); !taken) return Fail(taken.error());
    if (auto taken = TakeEnvironment(); !taken) return Fail(taken.error());
    call_.per_host = static_cast<int>(workers_.size());
    SettleFramework();
    for (const std::string& word : found_.passed_over) LeaveOut(word);
    call_.left_out.emplace_back("redirections",
                                "chose files for output; every process has its own log (`muster logs`)");
    return std::move(call_);
  }

 private:
  tl::unexpected<Diagnostics> Wrong(const std::string& what, const std::string& hint) const {
    return Fail(Error("usage", Place{name_, workers_.empty() ? 0 : workers_.front().line}, what, hint));
  }

  void TakeLaunches() {
    std::set<std::vector<std::string>> in_background;
    for (const ScriptLaunch& launch : found_.launches) {
      if (launch.background) in_background.insert(launch.words);
    }
    for (ScriptLaunch& launch : found_.launches) {
      // A process that the script waits for belongs to the job if it runs the same program.
      if (!launch.background && !in_background.contains(launch.words)) continue;
      Role role = Role::kWorker;
      for (const ByHand& by_hand : FrameworksByHand()) {
        if (!by_hand.role.empty() && launch.env.contains(std::string(by_hand.role)))
          role = RoleOf(ValueIn(launch.env, by_hand.role));
      }
      if (role == Role::kServer) ++call_.servers;
      if (role == Role::kScheduler) has_scheduler_ = true;
      if (role == Role::kWorker) workers_.push_back(std::move(launch));
    }
  }

  Result<void> TakeCommand() {
    const std::size_t words = workers_.front().words.size();
    for (const ScriptLaunch& launch : workers_) {
      if (launch.words.size() != words)
        return Wrong("the processes have commands of different lengths",
                     "write a role for each of them by hand: docs/recipes.md");
    }
    for (std::size_t i = 0; i < words; ++i) {
      std::vector<std::string> texts;
      for (const ScriptLaunch& launch : workers_) texts.push_back(launch.words[i]);
      const auto word = Common(texts);
      if (!word) {
        return Wrong(fmt::format("the processes differ in {} and {}, and not by a number that counts them",
                                 Quoted(texts[0]), Quoted(texts[1])),
                     "write `each` by hand: docs/recipes.md");
      }
      call_.command.push_back(*word);
    }
    const std::string& program = call_.command.front().text;
    if (program.ends_with(".py")) call_.command.insert(call_.command.begin(), CallWord{"python3"});
    return {};
  }

  Result<void> TakeEnvironment() {
    std::set<std::string> names;
    for (const ScriptLaunch& launch : workers_) {
      for (const auto& [name, value] : launch.env) names.insert(name);
    }
    for (const std::string& name : names) {
      std::vector<std::string> texts;
      for (const ScriptLaunch& launch : workers_) texts.push_back(ValueIn(launch.env, name));
      const auto word = Common(texts);
      if (!word) {
        return Wrong(fmt::format("{} is {} for one process and {} for the next, and does not count them", name,
                                 Quoted(texts[0]), Quoted(texts[1])),
                     "write `each` by hand: docs/recipes.md");
      }
      call_.env.emplace_back(name, *word);
    }
    return {};
  }

  const CallWord* Variable(std::string_view name) const {
    const auto found =
        std::find_if(call_.env.begin(), call_.env.end(), [name](const auto& one) { return one.first == name; });
    return found == call_.env.end() ? nullptr : &found->second;
  }

  void Erase(std::string_view name) {
    std::erase_if(call_.env, [name](const auto& one) { return one.first == name; });
  }

  void SettleFramework() {
    // A script that is started on each host has the ranks of one host.
    for (const char* name : {"RANK_SIZE", "MS_WORKER_NUM", "WORLD_SIZE"}) {
      const CallWord* size = Variable(name);
      const auto number = size == nullptr || size->number ? std::nullopt : ParseNumber<int>(size->text);
      if (number && *number > *call_.per_host && *number % *call_.per_host == 0)
        call_.hosts = *number / *call_.per_host;
    }
    call_.framework = "none";
    for (const ByHand& by_hand : FrameworksByHand()) {
      const CallWord* variable = Variable(by_hand.variable);
      if (variable == nullptr) continue;
      if (by_hand.framework == "mindspore-ranktable" && !TakeRankTable(*variable)) break;
      call_.framework = by_hand.framework;
      if (call_.framework == "mindspore" && call_.servers > 0) call_.framework = "mindspore-ps";
      std::string set;
      for (const std::string_view name : by_hand.set_by_contract) {
        if (Variable(name) != nullptr) set += (set.empty() ? "" : ", ") + std::string(name);
        Erase(name);
      }
      call_.left_out.emplace_back(set, "were exported by hand; framework " + call_.framework + " sets them");
      if (has_scheduler_) call_.left_out.emplace_back("the scheduler", "was started by hand; the framework starts it");
      return;
    }
    // The plan computes the numbers of a process.
    for (auto& [name, value] : call_.env) {
      if (name == "RANK_ID" && value.number)
        value = {value.text, CallWord::Number::kRank, call_.hosts > 1 ? 0 : value.added, value.after};
      if (name == "RANK_SIZE" && !value.number) value = {{}, CallWord::Number::kWorldSize};
    }
  }

  // Whether the table can be passed to the framework: muster reads it below the recipe's folder, and its devices start
  // at 0.
  bool TakeRankTable(const CallWord& file) {
    const CallWord* device = Variable("DEVICE_ID");
    const std::string path = std::filesystem::path(file.text).lexically_normal().string();
    const bool from_zero = device == nullptr || (device->number ? device->added == 0 : *call_.per_host == 1);
    if (file.number || path.starts_with('/') || path.starts_with("..") || !from_zero) {
      call_.left_out.emplace_back(
          "RANK_TABLE_FILE",
          "is set as it was; framework = { \"mindspore-ranktable\", table = … } also checks the table");
      return false;
    }
    call_.rank_table = path;
    return true;
  }

  void LeaveOut(const std::string& word) {
    if (word == "nohup") {
      call_.left_out.emplace_back(word,
                                  "kept processes alive after the terminal was closed; `muster run --detach` does");
    } else if (word.starts_with("export ")) {
      call_.left_out.emplace_back(
          word, "has a value that does not follow from the script; processes inherit the variable if you export it");
    } else {
      call_.left_out.emplace_back(word, "bound processes to cores; `cores = N` in the role gives each process its own");
    }
  }

  ScriptLaunches found_;
  std::string name_;
  std::vector<ScriptLaunch> workers_;
  bool has_scheduler_ = false;
  LauncherCall call_;
};

}  // namespace

Result<LauncherCall> ReadShellRanks(const std::vector<std::string>& words, const ReadText& read_text) {
  std::size_t at = 0;
  const auto is_shell = [](const std::string& word) {
    const std::string name = word.substr(word.rfind('/') + 1);
    return name == "bash" || name == "sh" || name == "zsh" || name == "dash";
  };
  bool text_given = false;
  if (at < words.size() && is_shell(words[at])) ++at;
  while (at < words.size() && words[at].size() > 1 && words[at].front() == '-') {
    text_given = text_given || words[at].ends_with('c');
    ++at;
  }
  if (at == words.size()) {
    return Fail(Error("usage", {}, "shell: there is no script",
                      "give the file and its arguments: muster init --from shell -- bash run.sh 8"));
  }
  text_given = text_given || words[at].find('\n') != std::string::npos || words[at].find(';') != std::string::npos;
  const std::vector<std::string> arguments(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
  std::string text = words[at];
  if (!text_given) {
    auto read = read_text(words[at]);
    if (!read) return Fail(Error("usage", {}, "shell: the script cannot be read: " + read.error()));
    text = *std::move(read);
  }
  const std::string name = text_given ? "script" : words[at];
  auto launches = LaunchesOfScript(text, name, arguments);
  if (!launches) return Fail(launches.error());
  return Ranks(*std::move(launches), name).Read();
}

}  // namespace muster
