#include "launchers/shell_ranks.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "launchers/launcher_options.h"
#include "launchers/recipe_of_call.h"

namespace muster {
namespace {

using Env = std::map<std::string, std::string>;

// Frameworks whose variables scripts export by hand: the variable that identifies the framework, in this order, the
// variables that its contract sets instead, whatever they are, and those that it sets to the numbers of a process.
struct ByHand {
  std::string_view variable;
  std::string_view framework;
  std::string_view role;  // the variable with the role of a process; empty: all are workers
  std::vector<std::string_view> set_by_contract;
  std::vector<std::string_view> numbers;
};

const std::vector<ByHand>& FrameworksByHand() {
  static const std::vector<ByHand> all = {
      {"MS_ROLE",
       "mindspore",
       "MS_ROLE",
       {"MS_ROLE", "MS_WORKER_NUM", "MS_SERVER_NUM", "MS_SCHED_NUM", "MS_SCHED_HOST", "MS_SCHED_PORT", "MS_NODE_ID"},
       {"RANK_ID", "RANK_SIZE", "DEVICE_ID"}},
      {"DMLC_ROLE",
       "ps-lite",
       "DMLC_ROLE",
       {"DMLC_ROLE", "DMLC_NUM_WORKER", "DMLC_NUM_SERVER", "DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT", "DMLC_TASK_ID"},
       {}},
      {"RANK_TABLE_FILE",
       "mindspore-ranktable",
       "",
       {"RANK_TABLE_FILE", "MINDSPORE_HCCL_CONFIG_PATH"},
       {"RANK_ID", "RANK_SIZE", "DEVICE_ID", "LOCAL_RANK", "LOCAL_RANK_SIZE"}},
      {"WORLD_SIZE",
       "torch",
       "",
       {"MASTER_ADDR", "MASTER_PORT"},
       {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}},
  };
  return all;
}

constexpr std::string_view kRanks[] = {"RANK_ID", "RANK", "DMLC_WORKER_ID", "OMPI_COMM_WORLD_RANK"};
constexpr std::string_view kSizes[] = {"RANK_SIZE", "WORLD_SIZE", "MS_WORKER_NUM", "DMLC_NUM_WORKER"};

enum class Role : std::uint8_t { kScheduler, kServer, kWorker };

Role RoleOf(const Env& env) {
  for (const ByHand& by_hand : FrameworksByHand()) {
    const auto found = by_hand.role.empty() ? env.end() : env.find(std::string(by_hand.role));
    if (found == env.end()) continue;
    const std::string& value = found->second;
    if (value == "MS_SCHED" || value == "scheduler") return Role::kScheduler;
    if (value == "MS_PSERVER" || value == "MS_SERVER" || value == "server") return Role::kServer;
    return Role::kWorker;
  }
  return Role::kWorker;
}

std::string ValueIn(const Env& env, std::string_view name) {
  const auto found = env.find(std::string(name));
  return found == env.end() ? std::string() : found->second;
}

std::optional<int> RankOf(const ScriptLaunch& launch) {
  for (const std::string_view name : kRanks) {
    if (const auto rank = ParseNumber<int>(ValueIn(launch.env, name)); rank && *rank >= 0) return rank;
  }
  return std::nullopt;
}

std::optional<int> SizeOf(const ScriptLaunch& launch) {
  for (const std::string_view name : kSizes) {
    if (const auto size = ParseNumber<int>(ValueIn(launch.env, name)); size && *size > 0) return size;
  }
  return std::nullopt;
}

// The launcher of the words, which may stand behind others: `numactl -N 0 torchrun …`. Its importer reads those.
std::optional<KnownLauncher> LauncherOf(const std::vector<std::string>& words) {
  if (const auto first = LauncherOfWords(words)) return first;
  static const std::set<std::string_view> front = {"numactl", "srun", "timeout", "nice", "stdbuf", "ionice", "setsid"};
  if (words.empty() || !front.contains(FileName(words[0]))) return std::nullopt;
  constexpr std::size_t kMaxFront = 16;
  for (std::size_t i = 1; i < std::min(words.size(), kMaxFront); ++i) {
    if (words[i].ends_with(".py")) break;
    if (const auto launcher = LauncherOfWords({words.begin() + static_cast<std::ptrdiff_t>(i), words.end()}))
      return launcher;
  }
  return std::nullopt;
}

// The program, with its script if it is an interpreter's.
std::string ProgramOf(const ScriptLaunch& launch) {
  if (launch.words.empty()) return {};
  for (const std::string& word : launch.words) {
    if (word.ends_with(".py") || word.ends_with(".lua") || word.ends_with(".sh")) return launch.words[0] + " " + word;
  }
  return launch.words[0];
}

bool StartsProcessesElsewhere(const ScriptLaunch& launch) {
  static const std::set<std::string_view> known = {"ssh",    "sshpass", "pdsh",    "clush",     "srun",
                                                   "sbatch", "docker",  "podman",  "kubectl",   "torchrun",
                                                   "msrun",  "mpirun",  "mpiexec", "deepspeed", "horovodrun"};
  return !launch.words.empty() && known.contains(FileName(launch.words[0]));
}

tl::unexpected<Diagnostics> WrongAt(const std::string& file, std::uint32_t line, const std::string& what,
                                    const std::string& hint) {
  return Fail(Error("usage", Place{file, line}, what, hint));
}

constexpr const char* kByHand = "write a role for each of them by hand: muster docs recipes";

// The processes of the job on one machine.
struct Machine {
  ScriptOutcome outcome;
  std::vector<ScriptLaunch> workers, servers, schedulers;  // workers by rank, if they have ranks
  std::optional<ScriptLaunch> launcher;                    // mpirun, msrun, …
  std::vector<std::pair<std::size_t, bool>> beside;        // launches of `outcome` before (true) and after

  std::vector<const ScriptLaunch*> Job() const {
    std::vector<const ScriptLaunch*> all;
    for (const auto* const group : {&workers, &servers, &schedulers}) {
      for (const ScriptLaunch& one : *group) all.push_back(&one);
    }
    if (launcher) all.push_back(&*launcher);
    return all;
  }
};

Result<Machine> MachineOf(ScriptOutcome outcome, const std::string& file) {
  Machine machine;
  machine.outcome = std::move(outcome);
  const auto& launches = machine.outcome.launches;
  std::vector<const ScriptLaunch*> job, launchers;
  for (const ScriptLaunch& launch : launches) {
    if (LauncherOf(launch.words)) launchers.push_back(&launch);
    if (launch.background) job.push_back(&launch);
  }
  if (launches.empty()) {
    const std::uint32_t line = machine.outcome.exit_line;
    if (line != 0) {
      return WrongAt(file, line, "with these arguments the script ends here, before it starts anything",
                     "give the script's arguments: muster init --from shell -- bash FILE ARGUMENT…");
    }
    return WrongAt(
        file, 0, "the script starts no process",
        "it is expected to start one, or to have a loop like: for i in 0 1 2 3; do RANK_ID=$i python train.py & done");
  }
  if (!launchers.empty()) {
    for (const ScriptLaunch* launch : job) {
      if (launch != launchers.front())
        return WrongAt(file, launch->line, "it starts other processes beside a launcher", kByHand);
    }
    if (launchers.size() > 1)
      return WrongAt(file, launchers[1]->line, "it calls launchers one after the other",
                     "write a recipe for each of them");
    machine.launcher = *launchers.front();
    job = launchers;
  }
  if (job.empty()) {
    if (launches.size() > 1) {
      return WrongAt(
          file, launches[1].line,
          fmt::format("it runs several programs one after the other, the first in line {}", launches[0].line),
          "write a recipe for each of them, or roles with `after`: muster docs recipes");
    }
    job = {&launches[0]};
  }
  if (!machine.launcher) {
    // A process that the script waits for belongs to the job if it runs the same program with a rank of its own.
    std::set<std::string> programs;
    std::set<std::vector<std::string>> words;
    std::set<std::string> ranks;
    for (const ScriptLaunch* launch : job) {
      programs.insert(ProgramOf(*launch));
      words.insert(launch->words);
      if (const auto rank = RankOf(*launch)) ranks.insert(std::to_string(*rank));
    }
    for (const ScriptLaunch& launch : launches) {
      if (launch.background || std::find(job.begin(), job.end(), &launch) != job.end()) continue;
      const auto rank = RankOf(launch);
      const bool own_rank = rank && !ranks.contains(std::to_string(*rank)) && programs.contains(ProgramOf(launch));
      if ((own_rank || words.contains(launch.words)) && launch.phase == job.front()->phase) job.push_back(&launch);
    }
  }
  for (const ScriptLaunch& launch : launches) {
    if (std::find(job.begin(), job.end(), &launch) != job.end()) continue;
    if (StartsProcessesElsewhere(launch))
      return WrongAt(file, launch.line,
                     "`" + Printable(ShellQuoted(launch.words)) + "` starts processes, beside others", kByHand);
    machine.beside.emplace_back(static_cast<std::size_t>(&launch - launches.data()), &launch < job.front());
  }
  for (const ScriptLaunch* launch : job) {
    if (launch->conditional) {
      return WrongAt(file, launch->line, "processes are started under a condition that does not follow from the script",
                     "give the script's arguments, or pass only the relevant part of the script: muster init --from "
                     "shell -- bash -c 'for …'");
    }
    if (!launch->trouble.empty()) return WrongAt(file, launch->line, launch->trouble, launch->hint);
    if (launch->phase != job.front()->phase)
      return WrongAt(file, launch->line, "it starts this process after it has waited for others", kByHand);
    if (machine.launcher) continue;
    const Role role = RoleOf(launch->env);
    (role == Role::kServer      ? machine.servers
     : role == Role::kScheduler ? machine.schedulers
                                : machine.workers)
        .push_back(*launch);
    // A launcher behind other words would be one more launcher in each process.
    for (std::size_t i = 1; i < launch->words.size() && i < 8 && !launch->words[i].ends_with(".py"); ++i) {
      static const std::set<std::string_view> known = {"torchrun",  "msrun",      "mpirun",    "mpiexec",
                                                       "deepspeed", "horovodrun", "accelerate"};
      if (known.contains(FileName(launch->words[i])))
        return WrongAt(file, launch->line,
                       fmt::format("{} is called by {}", FileName(launch->words[i]), Quoted(launch->words[0])),
                       fmt::format("muster init --from {} -- …", FileName(launch->words[i])));
    }
  }
  std::set<int> ranks;
  for (const ScriptLaunch& worker : machine.workers) {
    if (const auto rank = RankOf(worker)) ranks.insert(*rank);
  }
  // The first rank may be started last.
  if (ranks.size() == machine.workers.size())
    std::stable_sort(machine.workers.begin(), machine.workers.end(),
                     [](const ScriptLaunch& a, const ScriptLaunch& b) { return RankOf(a) < RankOf(b); });
  if (machine.workers.empty() && !machine.launcher)
    return WrongAt(file, job.front()->line, "it starts no worker", kByHand);
  return machine;
}

class Translation {
 public:
  Translation(std::string_view text, ScriptInput input, const ScriptWorld& world, const std::string& recipe_folder)
      : text_(text), input_(std::move(input)), world_(world), recipe_folder_(recipe_folder) {}

  Result<LauncherCall> Read() {
    auto first = Interpreted(input_);
    if (!first) return Fail(first.error());
    machines_.push_back(*std::move(first));
    if (machines_[0].launcher) return TakeLauncher();
    if (auto numbered = NumberMachines(); !numbered) return Fail(numbered.error());
    TakeShifted();
    call_.hosts = static_cast<int>(std::max<std::size_t>(machines_.size(), contract_hosts_));
    call_.per_host = static_cast<int>(machines_[0].workers.size());
    for (std::size_t host = 0; host < machines_.size(); ++host) {
      for (std::size_t i = 0; i < machines_[host].workers.size(); ++i) {
        workers_.push_back(&machines_[host].workers[i]);
        places_.push_back({static_cast<int>(workers_.size()) - 1, static_cast<int>(i), static_cast<int>(host)});
      }
    }
    if (auto taken = TakeWorkers(); !taken) return Fail(taken.error());
    SettleFramework();
    if (auto taken = TakeOthers(); !taken) return Fail(taken.error());
    if (!TakeBesides()) return Fail(beside_error_);
    return std::move(call_);
  }

 private:
  tl::unexpected<Diagnostics> Wrong(std::uint32_t line, const std::string& what, const std::string& hint) const {
    return WrongAt(input_.file, line, what, hint);
  }

  Result<Machine> Interpreted(const ScriptInput& input) const {
    auto outcome = OutcomeOfScript(text_, input, world_);
    if (!outcome) return Fail(outcome.error());
    return MachineOf(*std::move(outcome), input.file);
  }

  // A script that is started on each of several machines with another argument is interpreted for each of them.
  Result<void> NumberMachines() {
    const auto& workers = machines_[0].workers;
    const std::uint32_t line = workers[0].line;
    const auto size = SizeOf(workers[0]);
    const int local = static_cast<int>(workers.size());
    for (const ScriptLaunch& worker : workers) {
      // An evaluator may have another size.
      if (SizeOf(worker) != size) return {};
    }
    const bool ranked =
        std::all_of(workers.begin(), workers.end(), [](const auto& one) { return RankOf(one).has_value(); });
    if (!size || *size <= local || (local == 1 && !ranked)) return {};
    const bool by_contract =
        ValueIn(workers[0].env, "MS_ROLE") == "MS_WORKER" || ValueIn(workers[0].env, "DMLC_ROLE") == "worker";
    if (!ranked && by_contract && *size % local == 0) {
      contract_hosts_ = static_cast<std::size_t>(*size / local);
      return {};
    }
    // One process of several: the script is started for each device.
    if (!ranked || local == 1) return {};
    constexpr int kMaxHosts = 1024;
    if (*size % local == 0 && *size / local <= kMaxHosts) {
      const int hosts = *size / local;
      std::vector<std::function<void(ScriptInput&, const std::string&)>> inputs;
      std::vector<std::string> values;
      for (std::size_t i = 0; i < input_.arguments.size() && i < 64; ++i) {
        inputs.emplace_back([i](ScriptInput& input, const std::string& value) { input.arguments[i] = value; });
        values.push_back(input_.arguments[i]);
      }
      for (const auto& [literal, value] : machines_[0].outcome.literals) {
        if (inputs.size() > 128) break;
        inputs.emplace_back(
            [literal = literal](ScriptInput& input, const std::string& other) { input.literals[literal] = other; });
        values.push_back(value);
      }
      std::vector<std::vector<Machine>> found;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto own = ParseNumber<int>(values[i]);
        if (!own || *own < 0) continue;
        for (const int scale : {1, local}) {
          if (*own % scale != 0 || *own / scale >= hosts) continue;
          if (auto machines = MachinesBy(inputs[i], scale, hosts, *own / scale)) found.push_back(*std::move(machines));
        }
      }
      if (found.size() == 1) {
        machines_ = std::move(found.front());
        return {};
      }
    }
    return Wrong(line,
                 fmt::format("{} of {} processes are started here, and which argument numbers the machine does not "
                             "follow from the script",
                             local, *size),
                 "give the arguments of one machine, of which one is the number of the machine or its first rank");
  }

  // The machines if `set` gives each its number, times `scale`; nothing unless they have all ranks, in their order.
  std::optional<std::vector<Machine>> MachinesBy(const std::function<void(ScriptInput&, const std::string&)>& set,
                                                 int scale, int hosts, int own) {
    std::vector<Machine> machines;
    std::vector<ScriptInput> inputs;
    const std::size_t local = machines_[0].workers.size();
    // Another machine first: most inputs do not number machines.
    for (const int probed : {own == 0 ? 1 : 0, -1}) {
      for (int host = probed < 0 ? 0 : probed; host < (probed < 0 ? hosts : probed + 1); ++host) {
        ScriptInput input = input_;
        set(input, std::to_string(host * scale));
        constexpr std::size_t kMaxInterpreted = 4'000'000;
        interpreted_ += machines_[0].outcome.commands + 1000;
        if (interpreted_ > kMaxInterpreted) return std::nullopt;
        auto machine = Interpreted(input);
        if (!machine || machine->launcher || machine->workers.size() != local) return std::nullopt;
        for (std::size_t i = 0; i < local; ++i) {
          if (RankOf(machine->workers[i]) != host * static_cast<int>(local) + static_cast<int>(i)) return std::nullopt;
          if (SizeOf(machine->workers[i]) != SizeOf(machines_[0].workers[i])) return std::nullopt;
        }
        if (probed < 0) {
          inputs.push_back(input);
          machines.push_back(*std::move(machine));
        }
      }
    }
    inputs_ = std::move(inputs);
    return machines;
  }

  // What the processes of the first machine would be with other ranks.
  void TakeShifted() {
    ScriptInput input = inputs_.empty() ? input_ : inputs_.front();
    constexpr std::int64_t kOffset = 1'000'000;
    input.rank_offset = kOffset;
    auto machine = Interpreted(input);
    if (machine && !machine->launcher && machine->workers.size() == machines_[0].workers.size())
      shifted_ = machine->workers.front();
  }

  CallWord Fitted(const std::vector<std::string>& texts, const std::string& shifted, bool by_rank) const {
    return FittedWord(texts, places_, shifted, by_rank);
  }

  // Below the caller's folder, paths are relative: the recipe is run from there as well.
  std::string Folder(const std::string& folder) const {
    if (folder == world_.folder) return {};
    const std::string prefix = world_.folder == "/" ? "/" : world_.folder + "/";
    return folder.starts_with(prefix) ? folder.substr(prefix.size()) : folder;
  }

  Result<void> TakeWorkers() {
    auto role = RoleOfLaunches(workers_, shifted_ ? &*shifted_ : nullptr);
    if (!role) return Fail(role.error());
    call_.command = std::move(role->command);
    call_.env = std::move(role->env);
    if (role->folder.number) {
      call_.folder = std::move(role->folder);
    } else {
      call_.cwd = role->folder.text;
    }
    call_.unset = workers_[0]->unset;
    const bool bound =
        std::all_of(workers_.begin(), workers_.end(), [](const auto* one) { return !one->cores.empty(); });
    if (bound && workers_.size() > 1) call_.cores = "auto";
    return {};
  }

  Result<CallRole> RoleOfLaunches(const std::vector<const ScriptLaunch*>& launches, const ScriptLaunch* shifted) const {
    CallRole role;
    const std::size_t words = launches[0]->words.size();
    std::set<std::string> names;
    for (const ScriptLaunch* launch : launches) {
      if (launch->words.size() != words)
        return Wrong(launch->line, "the processes have commands of different lengths", kByHand);
      if (launch->unset != launches[0]->unset)
        return Wrong(launch->line, "the processes differ in the variables that they do not inherit", kByHand);
      for (const auto& [name, value] : launch->env) names.insert(name);
    }
    if (shifted != nullptr && shifted->words.size() != words) shifted = nullptr;
    std::vector<std::string> texts(launches.size());
    const auto collect = [&](const auto& text) {
      for (std::size_t i = 0; i < launches.size(); ++i) texts[i] = text(*launches[i]);
    };
    for (std::size_t i = 0; i < words; ++i) {
      collect([i](const ScriptLaunch& launch) { return launch.words[i]; });
      role.command.push_back(Fitted(texts, shifted != nullptr ? shifted->words[i] : std::string(), false));
    }
    if (role.command.front().text.ends_with(".py") && !role.command.front().text.starts_with('.') &&
        !role.command.front().text.starts_with('/'))
      role.command.insert(role.command.begin(), CallWord{"python3"});
    for (const std::string& name : names) {
      for (const ScriptLaunch* launch : launches) {
        if (!launch->env.contains(name))
          return Wrong(launch->line, fmt::format("{} is exported for some processes and not for others", name),
                       kByHand);
      }
      collect([&name](const ScriptLaunch& launch) { return ValueIn(launch.env, name); });
      const bool rank = std::find(std::begin(kRanks), std::end(kRanks), name) != std::end(kRanks);
      role.env.emplace_back(name,
                            Fitted(texts, shifted != nullptr ? ValueIn(shifted->env, name) : std::string(), rank));
    }
    collect([this](const ScriptLaunch& launch) { return Folder(launch.folder); });
    role.folder = Fitted(texts, shifted != nullptr ? Folder(shifted->folder) : std::string(), false);
    if (role.folder.number == CallWord::Number::kListed) {
      for (std::string& text : role.folder.listed) text = text.empty() ? "." : text;
    }
    return role;
  }

  CallWord* Variable(std::string_view name) {
    const auto found =
        std::find_if(call_.env.begin(), call_.env.end(), [name](const auto& one) { return one.first == name; });
    return found == call_.env.end() ? nullptr : &found->second;
  }

  // Whether the variable has the value that a contract gives it.
  bool IsOfContract(std::string_view name, const CallWord& value) const {
    const auto is = [&value](CallWord::Number number) {
      return value.number == number && value.text.empty() && value.after.empty() && value.rest.empty() &&
             value.added == 0 && value.times == 1;
    };
    const bool single = workers_.size() == 1 && call_.hosts == 1;
    const int world = call_.hosts * *call_.per_host;
    if (name == "RANK_ID" || name == "RANK") return is(CallWord::Number::kRank) || (single && value.text == "0");
    if (name == "RANK_SIZE" || name == "WORLD_SIZE") return !value.number && value.text == std::to_string(world);
    if (name == "LOCAL_WORLD_SIZE" || name == "LOCAL_RANK_SIZE")
      return !value.number && value.text == std::to_string(*call_.per_host);
    return is(CallWord::Number::kLocalRank) || (*call_.per_host == 1 && !value.number && value.text == "0");
  }

  void SettleFramework() {
    call_.framework = "none";
    call_.servers = static_cast<int>(machines_[0].servers.size());
    for (std::size_t host = 1; host < machines_.size(); ++host)
      call_.servers += static_cast<int>(machines_[host].servers.size());
    for (const ByHand& by_hand : FrameworksByHand()) {
      const CallWord* variable = Variable(by_hand.variable);
      if (variable == nullptr) continue;
      const bool roles = !by_hand.role.empty();
      const bool as_contract = std::all_of(by_hand.numbers.begin(), by_hand.numbers.end(), [&](std::string_view name) {
        const CallWord* const value = Variable(name);
        return value == nullptr || IsOfContract(name, *value);
      });
      if (!roles && !as_contract) break;
      if (by_hand.framework == "torch" && Variable("RANK") == nullptr) break;
      if (by_hand.framework == "mindspore-ranktable" && !TakeRankTable(*variable)) break;
      call_.framework = by_hand.framework;
      if (call_.framework == "mindspore" && call_.servers > 0) call_.framework = "mindspore-ps";
      std::string set;
      const auto erase = [&](std::string_view name) {
        if (Variable(name) == nullptr) return;
        set += (set.empty() ? "" : ", ") + std::string(name);
        std::erase_if(call_.env, [name](const auto& one) { return one.first == name; });
      };
      for (const std::string_view name : by_hand.set_by_contract) erase(name);
      for (const std::string_view name : by_hand.numbers) {
        CallWord* const value = Variable(name);
        if (value == nullptr) continue;
        // The parameter server's contract leaves these to MindSpore, depending on its release.
        if (IsOfContract(name, *value) && call_.framework != "mindspore-ps") {
          erase(name);
        } else {
          value->overrides = true;
        }
      }
      call_.left_out.emplace_back(set, "were exported by hand; framework " + call_.framework + " sets them");
      contract_ = &by_hand;
      break;
    }
    // The plan computes the numbers of a process.
    const std::string world = std::to_string(call_.hosts * *call_.per_host);
    for (auto& [name, value] : call_.env) {
      if (std::find(std::begin(kSizes), std::end(kSizes), name) != std::end(kSizes) && !value.number &&
          value.text == world) {
        const bool overrides = value.overrides;
        value = {{}, CallWord::Number::kWorldSize};
        value.overrides = overrides;
      }
    }
  }

  // Whether the table can be given to the framework: muster reads it below the recipe's folder, and checks it.
  bool TakeRankTable(const CallWord& file) {
    const auto leave = [this] {
      call_.left_out.emplace_back(
          "RANK_TABLE_FILE",
          "is set as it was; framework = { \"mindspore-ranktable\", table = … } also checks the table");
      return false;
    };
    if (file.number || file.text.empty()) return leave();
    for (const ScriptLaunch* worker : workers_) {
      if (!file.text.starts_with('/') && worker->folder != world_.folder) return leave();
    }
    const std::string path =
        std::filesystem::path(file.text.starts_with('/') ? file.text : world_.folder + "/" + file.text)
            .lexically_normal()
            .string();
    if (!path.starts_with(recipe_folder_ + "/")) return leave();
    const auto text = world_.read(path);
    if (!text) return leave();
    // A table of other processes is the script's affair.
    std::size_t ranks = 0;
    for (std::size_t at = text->find("\"rank_id\""); at != std::string::npos; at = text->find("\"rank_id\"", at + 1))
      ++ranks;
    if (ranks != static_cast<std::size_t>(call_.hosts * *call_.per_host) || Variable("RANK_ID") == nullptr)
      return leave();
    call_.rank_table = path.substr(recipe_folder_.size() + 1);
    return true;
  }

  // Schedulers and servers.
  Result<void> TakeOthers() {
    const auto drop = [this](CallRole& role) {
      if (contract_ == nullptr) return;
      std::erase_if(role.env, [this](const auto& one) {
        return std::find(contract_->set_by_contract.begin(), contract_->set_by_contract.end(), one.first) !=
               contract_->set_by_contract.end();
      });
    };
    std::vector<const ScriptLaunch*> servers, schedulers;
    for (const Machine& machine : machines_) {
      for (const ScriptLaunch& one : machine.servers) servers.push_back(&one);
    }
    for (const ScriptLaunch& one : machines_[0].schedulers) schedulers.push_back(&one);
    if (contract_ == nullptr && !(servers.empty() && schedulers.empty()))
      return Wrong(workers_[0]->line, "the processes have roles of a framework that is not known", kByHand);
    if (schedulers.size() > 1) return Wrong(schedulers[1]->line, "it starts a second scheduler", kByHand);
    if (!schedulers.empty()) {
      places_ = {{0, 0, 0}};
      auto role = RoleOfLaunches(schedulers, nullptr);
      if (!role) return Fail(role.error());
      drop(*role);
      const bool same = schedulers[0]->words == workers_[0]->words && schedulers[0]->folder == workers_[0]->folder &&
                        role->env.empty();
      if (!same) {
        for (auto& [name, value] : role->env) value.overrides = true;
        call_.scheduler = *std::move(role);
      } else {
        call_.left_out.emplace_back("the scheduler", "was started by hand; the framework starts it");
      }
    }
    if (servers.empty()) return {};
    places_.clear();
    for (std::size_t i = 0; i < servers.size(); ++i) places_.push_back({static_cast<int>(i), static_cast<int>(i), 0});
    auto role = RoleOfLaunches(servers, nullptr);
    if (!role) return Fail(role.error());
    drop(*role);
    const auto index = [](CallWord& word) {
      // The servers of all hosts have one sequence of numbers, which is not the rank.
      if (word.number && word.number != CallWord::Number::kListed) {
        word.number = CallWord::Number::kIndex;
        for (CallWord& rest : word.rest) rest.number = CallWord::Number::kIndex;
      }
    };
    for (CallWord& word : role->command) index(word);
    for (auto& [name, value] : role->env) {
      index(value);
      value.overrides = true;
    }
    index(role->folder);
    const bool same =
        servers[0]->words == workers_[0]->words && servers[0]->folder == workers_[0]->folder && role->env.empty();
    if (!same || call_.folder) call_.server = *std::move(role);
    return {};
  }

  // Files, activations, programs before and after, and what has no counterpart.
  bool TakeBesides() {
    const Machine& first = machines_[0];
    std::vector<std::string> files;
    for (const Machine& machine : machines_) files.push_back(FilesOf(machine));
    if (std::all_of(files.begin(), files.end(), [&](const std::string& one) { return one == files[0]; }))
      files.resize(1);
    if (contract_hosts_ > 1 || !(files.size() == 1 && files[0].empty())) call_.files = std::move(files);
    if (call_.files.size() == 1 && call_.files[0].empty()) call_.files.clear();
    for (const Machine& machine : machines_) {
      if (machine.outcome.activations != first.outcome.activations) {
        beside_error_ = {
            Error("usage", Place{input_.file, 0}, "the machines activate different environments", kByHand)};
        return false;
      }
    }
    using Kind = ScriptActivation::Kind;
    for (const ScriptActivation& one : first.outcome.activations)
      call_.activations.push_back({one.kind == Kind::kSource   ? "source"
                                   : one.kind == Kind::kModule ? "module"
                                                               : "conda",
                                   one.value});
    std::vector<ScriptNote> notes = first.outcome.left_out;
    for (const auto& [index, before] : first.beside) {
      const ScriptLaunch& launch = first.outcome.launches[index];
      notes.push_back({ShellQuoted(launch.words),
                       before ? "ran before the processes; run it before `muster run`"
                              : "ran after the processes; run it after `muster run`",
                       launch.line});
    }
    const std::size_t used = StepsBefore(first);
    for (std::size_t i = used; i < first.outcome.steps.size(); ++i)
      notes.push_back({first.outcome.steps[i].text, "changed files after the start", first.outcome.steps[i].line});
    LeaveOut(notes);
    return true;
  }

  static std::size_t StepsBefore(const Machine& machine) {
    std::size_t steps = 0;
    for (const ScriptLaunch* launch : machine.Job()) steps = std::max(steps, launch->steps);
    return steps;
  }

  std::string FilesOf(const Machine& machine) const {
    const std::size_t count = StepsBefore(machine);
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      const ScriptStep& step = machine.outcome.steps[i];
      const std::string folder = Folder(step.folder);
      text += folder.empty() ? step.text + "\n" : "(cd " + ShellQuoted(folder) + " && " + step.text + ")\n";
    }
    if (text.empty()) return text;
    // A command that fails does not end such a script.
    return machine.outcome.stops_at_errors ? "set -e\n" + text : text + "true\n";
  }

  // Commands with the same effect are listed once, with their lines.
  void LeaveOut(const std::vector<ScriptNote>& notes) {
    std::vector<std::string> effects;
    std::map<std::string, std::vector<std::string>> commands;
    std::map<std::pair<std::string, std::string>, std::set<std::uint32_t>> lines;
    for (const ScriptNote& note : notes) {
      if (!commands.contains(note.effect)) effects.push_back(note.effect);
      auto& all = commands[note.effect];
      if (std::find(all.begin(), all.end(), note.command) == all.end()) all.push_back(note.command);
      lines[{note.effect, note.command}].insert(note.line);
    }
    for (const std::string& effect : effects) {
      std::string text;
      for (const std::string& command : commands[effect]) {
        const auto& at = lines[{effect, command}];
        std::string numbers;
        for (const std::uint32_t line : at) numbers += (numbers.empty() ? "" : ", ") + std::to_string(line);
        text += (text.empty() ? "" : ", ") + command + (at.size() == 1 ? " (line " : " (lines ") + numbers + ")";
      }
      call_.left_out.emplace_back(text, effect);
    }
  }

  // mpirun, msrun, torchrun: their own translation, with the folder and the variables of the script.
  Result<LauncherCall> TakeLauncher() {
    const ScriptLaunch& launch = *machines_[0].launcher;
    const auto launcher = LauncherOf(launch.words);
    std::vector<std::string> words;
    for (const auto& [name, value] : launch.env) {
      // What the launcher itself gives its processes; the script's value never reaches them.
      const bool own =
          std::any_of(FrameworksByHand().begin(), FrameworksByHand().end(), [&, &name = name](const ByHand& one) {
            const std::string_view framework = FactsOf(*launcher).framework;
            return one.framework == framework &&
                   (std::find(one.set_by_contract.begin(), one.set_by_contract.end(), name) !=
                        one.set_by_contract.end() ||
                    std::find(one.numbers.begin(), one.numbers.end(), name) != one.numbers.end());
          });
      if (!own) words.push_back(name + "=" + value);
    }
    words.insert(words.end(), launch.words.begin(), launch.words.end());
    const ReadText read = [&](const std::string& path) {
      return world_.read(path.starts_with('/') ? path : launch.folder + "/" + path);
    };
    auto call = ReadLauncherCall(*launcher, words, read);
    if (!call) {
      Diagnostics errors = call.error();
      for (Diagnostic& one : errors) {
        if (one.place.file.empty()) one.place = {input_.file, launch.line};
      }
      return Fail(errors);
    }
    call_ = *std::move(call);
    if (call_.cwd.empty()) {
      call_.cwd = Folder(launch.folder);
    } else if (!call_.cwd.starts_with('/')) {
      call_.cwd = Folder((std::filesystem::path(launch.folder) / call_.cwd).lexically_normal().string());
    }
    call_.unset.insert(call_.unset.end(), launch.unset.begin(), launch.unset.end());
    if (!TakeBesides()) return Fail(beside_error_);
    return std::move(call_);
  }

  std::string_view text_;
  ScriptInput input_;
  const ScriptWorld& world_;
  std::string recipe_folder_;
  std::vector<Machine> machines_;
  std::size_t interpreted_ = 0;      // commands, in the search for the number of the machine
  std::vector<ScriptInput> inputs_;  // of the machines, if there are several
  std::size_t contract_hosts_ = 1;   // hosts that a contract numbers
  std::optional<ScriptLaunch> shifted_;
  std::vector<const ScriptLaunch*> workers_;
  std::vector<ProcessPlace> places_;
  const ByHand* contract_ = nullptr;
  LauncherCall call_;
  Diagnostics beside_error_;
};

}  // namespace

Result<LauncherCall> ReadShellRanks(const std::vector<std::string>& words, const ScriptWorld& world,
                                    const std::string& recipe_folder) {
  std::size_t at = 0;
  const auto is_shell = [](const std::string& word) {
    const std::string_view name = FileName(word);
    return name == "bash" || name == "sh" || name == "zsh" || name == "dash";
  };
  bool text_given = false, named = false;
  if (at < words.size() && is_shell(words[at])) ++at;
  while (at < words.size() && words[at].size() > 1 && words[at].front() == '-') {
    named = named || words[at].ends_with('c');
    ++at;
  }
  if (at == words.size()) {
    return Fail(Error("usage", {}, "shell: there is no script",
                      "give the file and its arguments: muster init --from shell -- bash run.sh 8"));
  }
  text_given = named || words[at].find('\n') != std::string::npos || words[at].find(';') != std::string::npos;
  ScriptInput input;
  input.arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
  std::string text = words[at];
  if (!text_given) {
    auto read = world.read(words[at].starts_with('/') ? words[at] : world.folder + "/" + words[at]);
    if (!read) return Fail(Error("usage", {}, "shell: the script cannot be read: " + read.error()));
    text = *std::move(read);
  }
  input.file = text_given ? "script" : words[at];
  // `bash -c TEXT NAME ARGUMENT…`: the first is $0.
  if (named && !input.arguments.empty()) input.arguments.erase(input.arguments.begin());
  return Translation(text, std::move(input), world, recipe_folder).Read();
}

}  // namespace muster
