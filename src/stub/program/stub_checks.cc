#include "stub/program/stub_checks.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/system/host_devices.h"
#include "base/system/own_environment.h"
#include "base/system/unique_fd.h"
#include "base/values/fingerprint.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/value_json.h"
#include "spawn/start/spawn_spec.h"

namespace muster {

bool GetsVariable(const ContractVariable& variable, std::string_view plays) {
  if (plays == "other" || plays == "launcher") return false;
  return variable.roles.empty() ||
         std::find(variable.roles.begin(), variable.roles.end(), plays) != variable.roles.end();
}

namespace {

using Meaning = ContractVariable::Meaning;
using Outcome = StubFinding::Outcome;

std::vector<std::string> Split(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    words.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return words;
}

Check CheckOf(Meaning is) {
  return is == Meaning::kRank || is == Meaning::kLocalRank || is == Meaning::kRole ? Check::kRanks : Check::kCounts;
}

// The value according to the plan; nothing if the plan has no number for it.
std::optional<std::uint32_t> Planned(const StubFacts& facts, const StubPeer& self, const ContractVariable& variable) {
  switch (variable.is) {
    case Meaning::kRank:
      return self.rank;
    case Meaning::kWorldSize:
      return self.world_size;
    case Meaning::kLocalRank:
      return self.local_rank;
    case Meaning::kLocalSize:
      return self.local_size;
    case Meaning::kCount:
      return static_cast<std::uint32_t>(std::count_if(facts.processes.begin(), facts.processes.end(),
                                                      [&](const StubPeer& peer) { return peer.plays == variable.of; }));
    case Meaning::kWorkerHosts:
      return facts.worker_hosts;
    case Meaning::kRole:
    case Meaning::kTasks:
    case Meaning::kAddress:
    case Meaning::kPort:
    case Meaning::kEndpoint:
      break;
  }
  return std::nullopt;
}

class Promises {
 public:
  Promises(const StubFacts& facts, const StubPeer& self, const StubVariable& variable, StubReport& report)
      : facts_(facts), self_(self), variable_(variable), report_(report) {}

  void Look(const ContractVariable& variable) {
    if (variable.is == Meaning::kAddress || variable.is == Meaning::kPort || variable.is == Meaning::kEndpoint) return;
    const Check check = CheckOf(variable.is);
    const char* const value = variable_(variable.name.c_str());
    if (value == nullptr) {
      if (!variable.optional) Failed(check, fmt::format("{} is not set", variable.name));
      return;
    }
    if (variable.is == Meaning::kTasks) return LookAtTasks(variable.name, value);
    if (variable.is == Meaning::kRole) {
      const auto found = variable.words.find(self_.plays);
      const std::string& word = found == variable.words.end() ? self_.plays : found->second;
      if (value != word)
        Failed(check, fmt::format("{} is {}, and a {} is {}", variable.name, Quoted(value), self_.plays, word));
      return Seen(check, variable.name);
    }
    const auto number = ParseNumber<std::int64_t>(value);
    if (variable.is == Meaning::kRank && !report_.says_rank) report_.says_rank = number;
    const auto planned = Planned(facts_, self_, variable);
    if (planned && number != std::int64_t{*planned})
      Failed(check, fmt::format("{} is {}, and the plan has {}", variable.name, Quoted(value), *planned));
    Seen(check, variable.name);
  }

  void LookAtContext(const std::string& text) {
    const Value json = ValueFromJsonText(text).value_or(Value());
    const Value& context = ValueField(json, "context");
    if (context.AsMap() == nullptr) return Failed(Check::kCounts, "its context cannot be read");
    const auto compare = [&](const char* function, const char* attribute, Check check,
                             std::optional<std::uint32_t> planned) {
      const std::int64_t* found = ValueField(ValueField(context, function), attribute).AsInt();
      if (!planned || found == nullptr) return;
      if (*found != std::int64_t{*planned})
        Failed(check, fmt::format("{} of its context is {}, and the plan has {}", attribute, *found, *planned));
      Seen(check, attribute);
    };
    if (self_.plays != "worker") return;
    compare("set_auto_parallel_context", "device_num", Check::kCounts, facts_.workers);
    compare("set_auto_parallel_context", "global_rank", Check::kRanks, self_.rank);
  }

  void Report() {
    for (const Check check : {Check::kRanks, Check::kCounts}) {
      const std::string& seen = seen_[check == Check::kRanks ? 0 : 1];
      const bool failed = std::any_of(
          report_.findings.begin(), report_.findings.end(),
          [&](const StubFinding& finding) { return finding.check == check && finding.outcome == Outcome::kFailed; });
      if (!failed && !seen.empty()) report_.findings.push_back({check, Outcome::kOk, seen, {}, {}});
    }
  }

 private:
  // {"cluster": {"worker": ["address:port", …], "ps": […]}, …}: as many tasks as the plan has processes.
  void LookAtTasks(const std::string& name, const char* text) {
    const Value json = ValueFromJsonText(text).value_or(Value());
    const Value& cluster = ValueField(json, "cluster");
    if (cluster.AsMap() == nullptr) return Failed(Check::kCounts, name + " cannot be read");
    for (const auto& [task, planned] : {std::pair{"worker", facts_.workers}, std::pair{"ps", facts_.servers}}) {
      const std::size_t count = ListField(cluster, task).size();
      if (count != planned)
        Failed(Check::kCounts, fmt::format("{} has {} tasks of {}, and the plan {}", name, count, task, planned));
    }
    Seen(Check::kCounts, name);
  }
  void Failed(Check check, std::string text) {
    report_.findings.push_back({check,
                                Outcome::kFailed,
                                std::move(text),
                                "something sets it over the contract: see job:env, env and each of the recipe, the "
                                "activation and --wrap",
                                {}});
  }
  void Seen(Check check, std::string_view name) {
    std::string& seen = seen_[check == Check::kRanks ? 0 : 1];
    seen += (seen.empty() ? "" : ", ") + std::string(name);
  }

  const StubFacts& facts_;
  const StubPeer& self_;
  const StubVariable& variable_;
  StubReport& report_;
  std::array<std::string, 2> seen_;
};

// Checks the contract's variables for a process that has a role in it.
void CheckContract(const StubFacts& facts, const StubPeer& self, Promises& promises, StubReport& report) {
  if (facts.contract) {
    for (const ContractVariable& variable : *facts.contract) {
      if (GetsVariable(variable, self.plays)) promises.Look(variable);
    }
    return;
  }
  for (const Check check : {Check::kCounts, Check::kRendezvousEndpoint}) {
    report.findings.push_back(
        {check,
         Outcome::kNotChecked,
         fmt::format("contract {} is the recipe's own: what its variables mean is not known", facts.framework),
         {},
         {}});
  }
}

}  // namespace

void CheckPromises(const StubFacts& facts, std::uint32_t process, const StubVariable& variable,
                   const std::optional<std::string>& context, StubReport& report) {
  const StubPeer& self = facts.processes[process];
  Promises promises(facts, self, variable, report);
  if (self.plays != "other") CheckContract(facts, self, promises, report);
  if (context) promises.LookAtContext(*context);
  // Every process has these, whatever the contract, and no option changes them.
  if (const char* rank = variable("MUSTER_RANK"); rank != nullptr && !report.says_rank)
    report.says_rank = ParseNumber<std::int64_t>(rank);
  promises.Report();
}

void CheckDevices(std::string_view kind, const StubVariable& variable, StubReport& report, const std::string& root) {
  const char* const given = variable("MUSTER_DEVICES");
  const std::vector<std::string> own = Split(given == nullptr ? "" : given);
  if (own.empty()) return;
  const auto reported = [&report](Outcome outcome, std::string text, std::string hint = {}) {
    report.findings.push_back({Check::kDevices, outcome, std::move(text), std::move(hint), {}});
  };
  const DeviceKind* const known = DeviceKindNamed(kind);
  if (known == nullptr) return reported(Outcome::kNotChecked, "the plan names no kind of device that muster knows");
  bool failed = false;
  const auto fail = [&](std::string text, std::string hint) {
    failed = true;
    reported(Outcome::kFailed, std::move(text), std::move(hint));
  };
  const std::string name(known->variable);
  const char* const list = variable(name.c_str());
  const std::vector<std::string> visible = Split(list == nullptr ? "" : list);
  const auto sees = [&](const std::string& device) {
    return std::find(visible.begin(), visible.end(), device) != visible.end();
  };
  for (const std::string& device : own) {
    if (list != nullptr && !sees(device))
      fail(fmt::format("{}={} hides its device {}", name, Quoted(list), device),
           "leave the variable to muster: devices, visible and --devices set it");
  }
  if (const char* const chosen = variable("DEVICE_ID"); chosen != nullptr && kind == "ascend") {
    const auto number = ParseNumber<std::int64_t>(chosen);
    const bool among =
        number && *number >= 0 && (list == nullptr || *number < static_cast<std::int64_t>(visible.size()));
    const std::string device = !among            ? ""
                               : list == nullptr ? std::string(chosen)
                                                 : visible[static_cast<std::size_t>(*number)];
    if (std::find(own.begin(), own.end(), device) == own.end()) {
      fail(fmt::format("DEVICE_ID is {}, which is {}, and its device is {}", Quoted(chosen),
                       device.empty() ? "none that it can see" : "device " + device, given),
           "leave DEVICE_ID to the contract");
    }
  }
  const std::uint32_t count = CountDevices(kind, root).count;
  const std::string node = kind == "ascend" ? "davinci" : kind == "cuda" ? "nvidia" : "";
  if (const char* const believed = variable(kHostDevicesVariable); believed != nullptr && ParseDeviceCount(believed)) {
    reported(Outcome::kNote,
             fmt::format("device nodes are not checked: {}={} stands for them", kHostDevicesVariable, believed));
  } else {
    for (const std::string& device : own) {
      const auto number = ParseNumber<std::int64_t>(device);
      if (failed || !number) continue;  // reported already; or an identifier that only the driver knows
      const std::string path = root + "dev/" + node + device;
      if (*number >= std::int64_t{count}) {
        fail(fmt::format("there {} {} of kind {} here, fewer than the plan gives", count == 1 ? "is" : "are",
                         Counted(count, "device"), kind),
             "see muster doctor; the driver may not be loaded");
      } else if (!node.empty() && ::access(path.c_str(), R_OK | W_OK) != 0) {
        fail(fmt::format("{} cannot be opened: {}", path, std::strerror(errno)),
             "this user needs the right to it: often a group, such as HwHiAiUser or video");
      }
    }
  }
  if (!failed) reported(Outcome::kOk, given);
}

namespace {

using Outcome = StubFinding::Outcome;

constexpr std::array<std::string_view, 8> kScripts = {".py", ".sh", ".lua", ".pl", ".rb", ".js", ".jl", ".R"};
constexpr std::array<std::string_view, 22> kData = {
    ".json", ".yaml", ".yml",  ".toml", ".ini", ".cfg",    ".conf",  ".txt", ".csv",     ".tsv",      ".npz",
    ".npy",  ".bin",  ".ckpt", ".pt",   ".pth", ".mindir", ".model", ".h5",  ".parquet", ".tfrecord", ".safetensors"};

template <std::size_t N>
bool EndsWithOne(std::string_view word, const std::array<std::string_view, N>& ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](std::string_view end) { return word.size() > end.size() && word.ends_with(end); });
}

// A word with a slash may be the name of a model or an image, so only words that begin like a path are taken for one.
bool LooksLikePath(std::string_view word) {
  if (word.empty() || word.size() >= PATH_MAX || word.find_first_of("\n\t*?{}$") != std::string_view::npos)
    return false;
  if (word.find("://") != std::string_view::npos) return false;
  return (word.starts_with('/') && word.size() > 1) || word.starts_with("./") || word.starts_with("../") ||
         EndsWithOne(word, kScripts) || EndsWithOne(word, kData);
}

std::string RealPath(const std::string& path) {
  char* const resolved = ::realpath(path.c_str(), nullptr);
  std::string text = resolved == nullptr ? std::string() : resolved;
  std::free(resolved);
  return text;
}

// Sets its length and, if requested and the file is not too long, its hash. Folders and devices have neither.
void Measure(CheckedFile& file, bool read) {
  const UniqueFd opened(::open(file.path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status = {};
  if (!opened || ::fstat(opened.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  file.bytes = static_cast<std::uint64_t>(status.st_size);
  if (!read || file.bytes > kMaxHashedBytes) return;
  Sha256 hash;
  std::string buffer(std::size_t{1} << 18, '\0');
  for (;;) {
    const ssize_t got = ::read(opened.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;
    if (got == 0) break;
    hash.Add(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
  }
  file.hash = hash.Hex().substr(0, 16);
}

CheckedFile Look(CheckedFile::Kind kind, const std::string& word, const std::string& path, bool read) {
  CheckedFile file{kind, word, RealPath(path), {}, 0, {}};
  if (file.path.empty()) {
    const int error = errno;
    file.why = std::strerror(error);
    // The file cannot be examined. Unlike a missing file, it will not be created by the job.
    std::error_code ignored;
    if (kind == CheckedFile::Kind::kPath && error != ENOENT) file.path = std::filesystem::absolute(path, ignored);
  } else if (::access(file.path.c_str(), R_OK) != 0) {
    file.why = std::strerror(errno);
    if (kind == CheckedFile::Kind::kScript) file.path.clear();
  }
  if (!file.path.empty()) Measure(file, read);
  return file;
}

}  // namespace

void CheckCommandFiles(const RehearsedCommand& command, StubReport& report) {
  if (command.words.empty()) return;
  std::string seen;
  bool failed = false;
  const auto take = [&](CheckedFile file) {
    seen += (seen.empty() ? "" : ", ") + file.word;
    report.files.push_back(std::move(file));
  };
  const auto fail = [&](std::string text, std::string hint) {
    failed = true;
    report.findings.push_back({Check::kFiles, Outcome::kFailed, std::move(text), std::move(hint), {}});
  };
  const auto take_path = [&](CheckedFile file) {
    if (!file.path.empty() && !file.why.empty()) {
      fail(fmt::format("{} cannot be read: {}", Quoted(file.word), file.why),
           "this user needs the right to it, and to the folders above it");
    }
    take(std::move(file));
  };

  SpawnSpec spec;
  spec.argv = command.words;
  spec.search_dirs = command.beside;
  spec.env = OwnEnvironment();
  const std::string& name = command.words.front();
  const auto program = FindProgram(spec);
  if (program) {
    take(Look(CheckedFile::Kind::kProgram, name, *program, command.read));
  } else {
    report.files.push_back({CheckedFile::Kind::kProgram, name, {}, SpawnErrorText(program.error()), 0, {}});
    fail("the program cannot be started: " + SpawnErrorText(program.error()),
         "install it there, or bring PATH about with job:activate or env");
  }

  bool script = !command.shell && !EndsWithOne(name, kScripts);
  for (std::size_t i = 1; i < command.words.size() && !command.shell; ++i) {
    std::string word = command.words[i];
    if (word == "-c" || word == "-m" || word == "-e") {  // the next word is code, or a module
      script = false;
      ++i;
      continue;
    }
    if (word.starts_with('-')) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) continue;
      word = word.substr(equals + 1);
      if (LooksLikePath(word)) take_path(Look(CheckedFile::Kind::kPath, word, word, command.read));
      continue;
    }
    if (!LooksLikePath(word)) continue;
    if (!script || !EndsWithOne(word, kScripts)) {
      take_path(Look(CheckedFile::Kind::kPath, word, word, command.read));
      continue;
    }
    script = false;
    CheckedFile file = Look(CheckedFile::Kind::kScript, word, word, command.read);
    if (file.path.empty()) {
      fail(fmt::format("the script {} cannot be read: {}", Quoted(word), file.why),
           "name it from a folder that all hosts have, or bring it: --ship-code");
    }
    take(std::move(file));
  }
  if (!failed) report.findings.push_back({Check::kFiles, Outcome::kOk, seen, {}, {}});
}

namespace {

// 0, or the errno of writing a few bytes there.
int TryWrite(const std::string& folder) {
  const UniqueFd file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file) {
    // A file system without unnamed files: check the permission only.
    if (errno == EOPNOTSUPP || errno == EISDIR) return ::access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
    return errno;
  }
  const std::string bytes(std::size_t{64} << 10, 'm');
  return ::pwrite(file.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()) ? 0
         : errno != 0                                                                              ? errno
                                                                                                   : ENOSPC;
}

}  // namespace

void CheckPlaces(const std::vector<PlaceWritten>& places, StubReport& report) {
  std::string seen;
  bool failed = false;
  for (const PlaceWritten& place : places) {
    struct statvfs room = {};
    const bool there = ::statvfs(place.path.c_str(), &room) == 0;
    if (!there && errno == ENOENT && place.may_lack) continue;
    std::string why;
    if (!there) {
      why = fmt::format("{} ({}): {}", place.what, place.path, std::strerror(errno));
    } else if (const std::uint64_t free = std::uint64_t{room.f_bavail} * room.f_frsize; free < kMinRoomBytes) {
      why = fmt::format("{} ({}) is full: {} MiB are free", place.what, place.path, free >> 20);
    } else if (room.f_files > 0 && room.f_favail < kMinRoomInodes) {
      why = fmt::format("{} ({}) is full: {} inodes are free", place.what, place.path, room.f_favail);
    } else {
      errno = 0;
      if (const int error = TryWrite(place.path); error != 0)
        why = fmt::format("{} ({}) cannot be written to: {}", place.what, place.path, std::strerror(error));
    }
    if (why.empty()) {
      seen += (seen.empty() ? "" : ", ") + place.path;
      continue;
    }
    failed = true;
    report.findings.push_back(
        {Check::kDisk, StubFinding::Outcome::kFailed, std::move(why), "free space there: see df -h and df -i", {}});
  }
  if (!failed && !seen.empty()) report.findings.push_back({Check::kDisk, StubFinding::Outcome::kOk, seen, {}, {}});
}

}  // namespace muster
