#include "stub/program/stub.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/system/unique_fd.h"
#include "base/values/number_text.h"
#include "stub/program/greeting.h"
#include "stub/program/stub_checks.h"
#include "stub/program/training_stub.h"
#include "stub/records/stub_facts.h"
#include "stub/records/stub_report.h"

namespace muster {
namespace {

using Outcome = StubFinding::Outcome;

constexpr std::size_t kMaxFacts = std::size_t{64} << 20;
constexpr std::size_t kMaxContext = std::size_t{4} << 20;
constexpr int kWrongUsage = 2;
constexpr int kCannotReport = 3;

struct Options {
  std::string facts;  // a file; empty: run by hand
  std::uint32_t process = 0;
  bool json = false;
  bool help = false;
  RehearsedCommand command;
};

std::optional<Options> ParseOptions(std::span<char* const> words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool has_value = i + 1 < words.size();
    if (word == "--") {
      options.command.words.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      break;
    }
    if (word == "--facts" && has_value) {
      options.facts = words[++i];
    } else if (word == "--process" && has_value) {
      const auto process = ParseNumber<decltype(options.process)>(words[++i]);
      if (!process) return std::nullopt;
      options.process = *process;
    } else if (word == "--beside" && has_value) {
      options.command.beside.emplace_back(words[++i]);
    } else if (word == "--shell") {
      options.command.shell = true;
    } else if (word == "--json") {
      options.json = true;
    } else if (word == "--help" || word == "-h") {
      options.help = true;
    } else {
      return std::nullopt;
    }
  }
  return options;
}

// Nothing if it cannot be read, or is longer.
std::optional<std::string> ReadFile(const char* path, std::size_t most) {
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string bytes;
  char buffer[1 << 14];
  while (file) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) return bytes;
    if (got < 0 || bytes.size() + static_cast<std::size_t>(got) > most) break;
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
  return std::nullopt;
}

const char* Variable(const char* name) { return std::getenv(name); }

std::optional<std::string> Context() {
  const char* const path = Variable("MUSTER_CONTEXT");
  if (path == nullptr) return std::nullopt;
  auto text = ReadFile(path, kMaxContext);
  return text ? text : std::string();
}

void LookHere(const Options& options, bool first_of_host, StubReport& report) {
  CheckCommandFiles(options.command, report);
  if (!first_of_host) return;
  std::vector<PlaceWritten> places;
  if (const char* const run_dir = Variable("MUSTER_RUN_DIR")) places.push_back({"the run directory", run_dir});
  const char* const temporary = Variable("TMPDIR");
  places.push_back({"the folder for temporary files", temporary == nullptr || *temporary == '\0' ? "/tmp" : temporary});
  places.push_back({"shared memory", "/dev/shm", true});
  CheckPlaces(places, report);
}

// The variable of this meaning that the process gets; null if there is none.
const ContractVariable* VariableOf(const StubFacts& facts, const StubPeer& self, ContractVariable::Meaning is) {
  if (!facts.contract) return nullptr;
  for (const ContractVariable& variable : *facts.contract) {
    if (variable.is == is && GetsVariable(variable, self.plays)) return &variable;
  }
  return nullptr;
}

// The process that listens at the rendezvous endpoint; nothing if there is none in that role.
std::optional<std::uint32_t> RendezvousHost(const StubFacts& facts, const std::string& plays, const StubPeer& self) {
  for (std::uint32_t i = 0; i < facts.processes.size(); ++i) {
    const StubPeer& peer = facts.processes[i];
    if (peer.plays != plays) continue;
    if (peer.world.empty() || (peer.rank == 0U && (self.world.empty() || peer.world == self.world))) return i;
  }
  return std::nullopt;
}

// Finds the rendezvous endpoint in this process's environment.
void FindRendezvous(const StubFacts& facts, Greeting& greeting, StubReport& report) {
  const StubPeer& self = facts.processes[greeting.process];
  const ContractVariable* const endpoint = VariableOf(facts, self, ContractVariable::Meaning::kEndpoint);
  const ContractVariable* const place =
      endpoint != nullptr ? endpoint : VariableOf(facts, self, ContractVariable::Meaning::kAddress);
  const ContractVariable* const port_of =
      endpoint != nullptr ? endpoint : VariableOf(facts, self, ContractVariable::Meaning::kPort);
  if (place == nullptr || port_of == nullptr) return;
  const auto host = RendezvousHost(facts, place->of, self);
  if (!host) return;
  const auto failed = [&report](std::string text) {
    report.findings.push_back(
        {Check::kRendezvousEndpoint, Outcome::kFailed, std::move(text), "leave where they meet to the contract", {}});
  };
  const std::string& address_name = place->name;
  const char* const given = Variable(address_name.c_str());
  if (given == nullptr) return failed(address_name + " is not set");
  std::string address = given;
  const std::string& port_name = port_of->name;
  std::string port;
  if (endpoint != nullptr) {
    const std::size_t colon = address.rfind(':');
    port = colon == std::string::npos ? "" : address.substr(colon + 1);
    address = address.substr(0, colon);
  } else {
    const char* const number = Variable(port_name.c_str());
    if (number == nullptr) return failed(port_name + " is not set");
    port = number;
  }
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  if (address == "localhost") address = "127.0.0.1";
  greeting.rendezvous_port = ParseNumber<std::uint16_t>(port).value_or(0);
  if (greeting.rendezvous_port == 0) {
    return failed(fmt::format("{} is {}, and that is not a port", port_name, port.empty() ? "empty" : port));
  }
  if (address.find_first_not_of("0123456789.") != std::string::npos && address.find(':') == std::string::npos) {
    greeting.rendezvous_port = 0;
    report.findings.push_back({Check::kRendezvousEndpoint,
                               Outcome::kNotChecked,
                               fmt::format("{} is the name {}, and a stub looks up no names", address_name, address),
                               {},
                               {}});
    return;
  }
  greeting.rendezvous_address = address;
  greeting.host_of_rendezvous = *host;
  if (*host != greeting.process) return;
  for (std::uint32_t i = 0; i < facts.processes.size(); ++i) {
    const StubPeer& peer = facts.processes[i];
    if (GetsVariable(*place, peer.plays) && RendezvousHost(facts, place->of, peer) == greeting.process)
      greeting.visitors.push_back(i);
  }
}

int ByHand(const Options& options) {
  StubReport report;
  Options asked = options;
  asked.command.read = true;
  if (options.command.words.empty()) {
    report.findings.push_back(
        {Check::kFiles, Outcome::kNotChecked, "no command is given: muster stub -- COMMAND …", {}, {}});
  }
  std::string kind;
  for (const auto& [name, variable] :
       {std::pair{"ascend", "ASCEND_RT_VISIBLE_DEVICES"}, std::pair{"cuda", "CUDA_VISIBLE_DEVICES"},
        std::pair{"hip", "HIP_VISIBLE_DEVICES"}}) {
    if (kind.empty() && Variable(variable) != nullptr) kind = name;
  }
  CheckDevices(kind, Variable, report);
  LookHere(asked, true, report);
  const std::string reported = options.json ? StubReportLine(report) + "\n" : StubReportText(report);
  if (WriteAll(STDOUT_FILENO, reported) != 0) return kCannotReport;
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [](const StubFinding& finding) { return finding.outcome == Outcome::kFailed; })
             ? 1
             : 0;
}

int InRehearsal(const Options& options) {
  // Received while the stub waits; blocked until then.
  sigset_t asked;
  sigemptyset(&asked);
  sigaddset(&asked, SIGTERM);
  sigprocmask(SIG_BLOCK, &asked, nullptr);
  const auto text = ReadFile(options.facts.c_str(), kMaxFacts);
  if (!text) {
    std::fprintf(stderr, "the facts of the rehearsal cannot be read: %s\n", options.facts.c_str());
    return kWrongUsage;
  }
  const auto facts = ReadStubFacts(*text);
  if (!facts || options.process >= facts->processes.size()) {
    std::fprintf(stderr, "the facts of the rehearsal: %s\n",
                 facts ? "this process is not among them" : facts.error().c_str());
    return kWrongUsage;
  }
  const StubPeer& self = facts->processes[options.process];
  StubReport report;
  report.process = options.process;
  Options asked_for = options;
  asked_for.command.read = self.first_of_role;

  CheckPromises(*facts, options.process, Variable, Context(), report);
  CheckDevices(facts->device_kind, Variable, report);
  LookHere(asked_for, self.first_of_host, report);
  Greeting greeting;
  greeting.process = options.process;
  FindRendezvous(*facts, greeting, report);
  Greet(*facts, greeting, report);
  return WriteAll(STDOUT_FILENO, StubReportLine(report) + "\n") == 0 ? 0 : kCannotReport;
}

}  // namespace

int StubMain(std::span<char* const> words) {
  if (!words.empty() && std::string_view(words.front()) == kTrainingOption) return TrainingStubMain(words.subspan(1));
  const auto options = ParseOptions(words);
  if (!options) {
    std::fputs("muster stub: invalid arguments; see muster stub --help\n", stderr);
    return kWrongUsage;
  }
  if (options->help) return std::fputs(kStubHelp, stdout) < 0 ? kCannotReport : 0;
  return options->facts.empty() ? ByHand(*options) : InRehearsal(*options);
}

}  // namespace muster
