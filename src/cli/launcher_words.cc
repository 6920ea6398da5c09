#include "cli/launcher_words.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <span>

#include <fmt/format.h>

#include "base/shell_quote.h"
#include "base/suggest.h"

namespace muster {
namespace {

enum class Meaning : std::uint8_t {
  kHosts,        // a number, or torchrun's LOWEST:HIGHEST
  kPerHost,      // a number, or torchrun's auto, gpu, cpu
  kTotal,        // a number
  kRestarts,     // a number
  kModule,       // the program is a module
  kNoPython,     // the program is none of Python's
  kVariable,     // NAME or NAME=value
  kSets,         // `why` is the name of a variable
  kFolder,       // of the processes
  kForLauncher,  // MPI's launcher alone knows what it means
  kNothing,      // `why` says why
};

struct Option {
  std::string_view name;
  int values = 1;
  Meaning meaning = Meaning::kNothing;
  std::string_view why = {};
};

constexpr std::string_view kPort = "a free port is found and held, and every process told";
constexpr std::string_view kRanks = "the plan says which ranks a host has";
constexpr std::string_view kLogs = "every process has a log of its own: muster logs, muster run --tee";
constexpr std::string_view kEvents = "the end of a process is an event";
constexpr std::string_view kHostNames = "hosts are named when it is run: muster run … --host, or --hostfile";

constexpr Option kTorchrunOptions[] = {
    {"--nnodes", 1, Meaning::kHosts},
    {"--nproc-per-node", 1, Meaning::kPerHost},
    {"--max-restarts", 1, Meaning::kRestarts},
    {"-m", 0, Meaning::kModule},
    {"--module", 0, Meaning::kModule},
    {"--no-python", 0, Meaning::kNoPython},
    {"--rdzv-backend", 1, Meaning::kNothing, kPort},
    {"--rdzv-endpoint", 1, Meaning::kNothing, kPort},
    {"--rdzv-id", 1, Meaning::kNothing, kPort},
    {"--rdzv-conf", 1, Meaning::kNothing, kPort},
    {"--standalone", 0, Meaning::kNothing, kPort},
    {"--master-addr", 1, Meaning::kNothing, kPort},
    {"--master-port", 1, Meaning::kNothing, kPort},
    {"--local-addr", 1, Meaning::kNothing, kPort},
    {"--node-rank", 1, Meaning::kNothing, kRanks},
    {"--monitor-interval", 1, Meaning::kNothing, kEvents},
    {"--start-method", 1, Meaning::kNothing, "processes are started by the agent of their host"},
    {"--role", 1, Meaning::kNothing, "a role of another name: job:role \"NAME\" { as = \"worker\", … }"},
    {"--log-dir", 1, Meaning::kNothing, kLogs},
    {"--redirects", 1, Meaning::kNothing, kLogs},
    {"-r", 1, Meaning::kNothing, kLogs},
    {"--tee", 1, Meaning::kNothing, kLogs},
    {"-t", 1, Meaning::kNothing, kLogs},
    {"--local-ranks-filter", 1, Meaning::kNothing, kLogs},
};

constexpr Option kMsrunOptions[] = {
    {"--worker_num", 1, Meaning::kTotal},
    {"--local_worker_num", 1, Meaning::kPerHost},
    {"--cluster_time_out", 1, Meaning::kSets, "MS_TOPO_TIMEOUT"},
    {"--rank_table_file", 1, Meaning::kSets, "RANK_TABLE_FILE"},
    {"--sim_level", 1, Meaning::kSets, "MS_SIMULATION_LEVEL"},
    {"--master_addr", 1, Meaning::kNothing, kPort},
    {"--master_port", 1, Meaning::kNothing, kPort},
    {"--node_rank", 1, Meaning::kNothing, kRanks},
    {"--log_dir", 1, Meaning::kNothing, kLogs},
    {"--worker_log_name", 1, Meaning::kNothing, kLogs},
    {"--tail_worker_log", 1, Meaning::kNothing, kLogs},
    {"--join", 1, Meaning::kNothing, "muster run waits until all is over; --detach does not"},
    {"--bind_core", 1, Meaning::kNothing, "cores = N in a role gives its processes cores of their own"},
};

constexpr Option kMpirunOptions[] = {
    {"-n", 1, Meaning::kTotal},
    {"-np", 1, Meaning::kTotal},
    {"--np", 1, Meaning::kTotal},
    {"-c", 1, Meaning::kTotal},
    {"-x", 1, Meaning::kVariable},
    {"-wdir", 1, Meaning::kFolder},
    {"--wdir", 1, Meaning::kFolder},
    {"--host", 1, Meaning::kNothing, kHostNames},
    {"-host", 1, Meaning::kNothing, kHostNames},
    {"-H", 1, Meaning::kNothing, kHostNames},
    {"--hostfile", 1, Meaning::kNothing, kHostNames},
    {"-hostfile", 1, Meaning::kNothing, kHostNames},
    {"--machinefile", 1, Meaning::kNothing, kHostNames},
    {"-machinefile", 1, Meaning::kNothing, kHostNames},
    {"--output-filename", 1, Meaning::kNothing, kLogs},
    {"--tag-output", 0, Meaning::kNothing, kLogs},
    {"--bind-to", 1, Meaning::kForLauncher},
    {"--map-by", 1, Meaning::kForLauncher},
    {"--rank-by", 1, Meaning::kForLauncher},
    {"--mca", 2, Meaning::kForLauncher},
    {"-mca", 2, Meaning::kForLauncher},
    {"--npernode", 1, Meaning::kForLauncher},
    {"--report-bindings", 0, Meaning::kForLauncher},
    {"--oversubscribe", 0, Meaning::kForLauncher},
    {"--use-hwthread-cpus", 0, Meaning::kForLauncher},
    {"--allow-run-as-root", 0, Meaning::kForLauncher},
};

struct LauncherFacts {
  std::string_view name;
  std::span<const Option> options;
  bool calls_python = false;
  bool dashes_or_underscores = false;  // in the names of options
};

constexpr LauncherFacts kLaunchers[] = {
    {"torchrun", kTorchrunOptions, true, true},
    {"msrun", kMsrunOptions, true, false},
    {"mpirun", kMpirunOptions, false, false},
};

const LauncherFacts& FactsOf(JobLauncher launcher) { return kLaunchers[static_cast<std::size_t>(launcher)]; }

Diagnostics Wrong(const LauncherFacts& facts, const std::string& what, const std::string& hint) {
  return {Error("usage", {}, fmt::format("{}: {}", facts.name, what), hint)};
}

std::optional<int> Number(std::string_view text, int least) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least) return std::nullopt;
  return number;
}

bool IsPython(const std::string& word) { return std::filesystem::path(word).filename().string().starts_with("python"); }

// What stands before the launcher's own options: its name, or the module that it is.
std::size_t WordsOfItsName(const LauncherFacts& facts, const std::vector<std::string>& words) {
  if (words.empty()) return 0;
  if (std::filesystem::path(words.front()).filename() == facts.name) return 1;
  const bool module = words.size() > 2 && IsPython(words[0]) && words[1] == "-m";
  if (module && (words[2] == "torch.distributed.run" || words[2] == "torch.distributed.launch")) return 3;
  return 0;
}

class Reader {
 public:
  Reader(JobLauncher launcher, const std::vector<std::string>& words)
      : facts_(FactsOf(launcher)), words_(words), at_(WordsOfItsName(facts_, words)) {
    call_.launcher = launcher;
  }

  Result<LauncherCall> Read() {
    while (at_ < words_.size() && words_[at_].starts_with('-') && words_[at_] != "--") {
      if (auto read = ReadOption(); !read) return Fail(read.error());
    }
    if (at_ < words_.size() && words_[at_] == "--") ++at_;
    if (at_ == words_.size()) {
      return Fail(
          Wrong(facts_, "there is no program",
                fmt::format("give the whole command line: muster init --from {0} -- {0} … train.py", facts_.name)));
    }
    if (module_) {
      call_.command = {"python3", "-m"};
    } else if (facts_.calls_python && !no_python_ && words_[at_].ends_with(".py")) {
      call_.command = {"python3"};
    }
    call_.command.insert(call_.command.end(), words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
    return Settled();
  }

 private:
  Result<void> ReadOption() {
    const std::string& word = words_[at_++];
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    std::string name = word.substr(0, equals);
    if (facts_.dashes_or_underscores) std::replace(name.begin(), name.end(), '_', '-');
    const auto option = std::find_if(facts_.options.begin(), facts_.options.end(),
                                     [&name](const Option& one) { return one.name == name; });
    if (option == facts_.options.end()) {
      std::vector<std::string> known;
      for (const Option& one : facts_.options) known.emplace_back(one.name);
      const std::string guess = DidYouMean(name, known);
      return Fail(Wrong(facts_, "what " + Quoted(name) + " means is not known",
                        guess.empty() ? "leave it away, and add what you need to the recipe" : guess));
    }
    std::vector<std::string> values;
    if (equals != std::string::npos) values.push_back(word.substr(equals + 1));
    while (values.size() < static_cast<std::size_t>(option->values)) {
      if (at_ == words_.size()) return Fail(Wrong(facts_, Quoted(name) + " wants a value", {}));
      values.push_back(words_[at_++]);
    }
    if (values.size() > static_cast<std::size_t>(option->values))
      return Fail(Wrong(facts_, Quoted(name) + " takes no value", {}));
    return Take(*option, word.substr(0, equals), values);
  }

  Result<void> TakeNumber(const std::string& name, const std::string& text, int least, int& to) {
    const auto number = Number(text, least);
    if (!number)
      return Fail(Wrong(facts_, fmt::format("{} {}: this is no number from {}", name, Quoted(text), least), {}));
    to = *number;
    return {};
  }

  Result<void> Take(const Option& option, const std::string& name, const std::vector<std::string>& values) {
    const std::string value = values.empty() ? std::string() : values.front();
    switch (option.meaning) {
      case Meaning::kHosts: {
        const std::size_t colon = value.find(':');
        if (colon != std::string::npos) {
          call_.without_effect.emplace_back(name + " " + value,
                                            "a job has as many hosts as its plan: the most of them here");
        }
        return TakeNumber(name, colon == std::string::npos ? value : value.substr(colon + 1), 1, call_.hosts);
      }
      case Meaning::kPerHost: {
        if (facts_.dashes_or_underscores && (value == "auto" || value == "gpu" || value == "cpu")) return {};
        int count = 0;
        auto taken = TakeNumber(name, value, 1, count);
        if (taken) call_.per_host = count;
        return taken;
      }
      case Meaning::kTotal: {
        int count = 0;
        auto taken = TakeNumber(name, value, 1, count);
        if (taken) call_.total = count;
        return taken;
      }
      case Meaning::kRestarts:
        return TakeNumber(name, value, 0, call_.restarts);
      case Meaning::kModule:
        module_ = true;
        return {};
      case Meaning::kNoPython:
        no_python_ = true;
        return {};
      case Meaning::kVariable: {
        const std::size_t equals = value.find('=');
        if (equals == std::string::npos) {
          call_.without_effect.emplace_back(name + " " + value, "processes inherit the environment");
        } else {
          call_.env.emplace_back(value.substr(0, equals), value.substr(equals + 1));
        }
        return {};
      }
      case Meaning::kSets:
        call_.env.emplace_back(option.why, value);
        return {};
      case Meaning::kFolder:
        call_.cwd = value;
        return {};
      case Meaning::kForLauncher:
        call_.launcher_args.push_back(name);
        call_.launcher_args.insert(call_.launcher_args.end(), values.begin(), values.end());
        return {};
      case Meaning::kNothing:
        call_.without_effect.emplace_back(value.empty() ? name : name + " " + value, option.why);
        return {};
    }
    return {};
  }

  // msrun says how many there are in all, and how many of them are here.
  Result<LauncherCall> Settled() {
    if (call_.launcher == JobLauncher::kMsrun) {
      constexpr int kItsDefault = 8;
      const int total = call_.total.value_or(kItsDefault);
      const int here = call_.per_host.value_or(std::min(total, kItsDefault));
      if (total % here != 0) {
        return Fail(Wrong(facts_, fmt::format("--worker_num {} is no multiple of --local_worker_num {}", total, here),
                          "hosts with different numbers of workers are named when it is run: --host n1:8,n2:4"));
      }
      call_.hosts = total / here;
      call_.per_host = here;
      call_.total.reset();
    }
    if (call_.launcher == JobLauncher::kTorchrun && call_.per_host == std::nullopt && !WasSaid("--nproc"))
      call_.per_host = 1;
    return std::move(call_);
  }

  bool WasSaid(std::string_view beginning) const {
    return std::any_of(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(at_),
                       [beginning](const std::string& word) { return word.starts_with(beginning); });
  }

  const LauncherFacts& facts_;
  const std::vector<std::string>& words_;
  std::size_t at_;
  LauncherCall call_;
  bool module_ = false;
  bool no_python_ = false;
};

}  // namespace

std::optional<JobLauncher> LauncherByName(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kLaunchers); ++i) {
    if (kLaunchers[i].name == name) return static_cast<JobLauncher>(i);
  }
  return std::nullopt;
}

std::string_view LauncherName(JobLauncher launcher) { return FactsOf(launcher).name; }

Result<LauncherCall> ReadLauncherCall(JobLauncher launcher, const std::vector<std::string>& words) {
  return Reader(launcher, words).Read();
}

}  // namespace muster
