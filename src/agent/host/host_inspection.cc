#include "agent/host/host_inspection.h"

#include <cerrno>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "agent/host/host_facts.h"
#include "agent/host/host_probes.h"
#include "agent/processes/memory_file.h"
#include "agent/processes/passed_text.h"
#include "base/system/clock.h"
#include "base/system/host_name.h"
#include "base/system/write_all.h"
#include "base/values/units.h"
#include "spawn/start/reap.h"
#include "wire/protocol/frame_reader.h"
#include "wire/protocol/protocol.h"

namespace muster {
namespace {

constexpr std::uint32_t kLooker = 0;

// Separates the output of our script from that of Python start-up files.
constexpr std::string_view kMark = "muster-python\t";
constexpr std::string_view kVersion = "version";
constexpr std::string_view kPackage = "package";
constexpr std::string_view kEndOfList = "whole";

// Reads the metadata of installed packages; imports none of them.
constexpr const char* kPackagesScript = R"python(
import sys
try:
    from importlib import metadata
except ImportError:
    metadata = None
print("\nmuster-python\tversion\t%d.%d.%d" % sys.version_info[:3])
for name in sys.argv[1:]:
    try:
        if metadata is not None:
            print("muster-python\tpackage\t%s\t%s" % (name, metadata.version(name)))
    except Exception:
        pass
print("muster-python\twhole")
)python";

// The shell looks up the program, which may be on a file system that does not respond.
constexpr const char* kShell = R"(cd -- "$0" 2>/dev/null; exec "$@")";

// A static program cannot resolve names, so getent does.
constexpr const char* kNameShell = R"(exec getent ahosts "$0")";

std::string ReadAll(int fd) {
  std::string bytes;
  char buffer[1 << 14];
  for (;;) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
}

// The last complete frame: everything known when it was written.
std::optional<Inspected> LastReport(const std::string& bytes) {
  FrameReader frames;
  frames.Feed(bytes);
  std::optional<Inspected> last;
  while (const auto payload = frames.Next()) {
    auto message = DecodeMessage(*payload);
    if (!message || !std::holds_alternative<Inspected>(*message)) break;
    last = std::get<Inspected>(std::move(*message));
  }
  return last;
}

}  // namespace

PythonFact ParsePythonOutput(const std::string& program, std::string_view bytes) {
  PythonFact fact;
  fact.program = program;
  fact.error = "it did not list its packages";
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    if (!line.starts_with(kMark)) continue;
    line.remove_prefix(kMark.size());
    const std::string_view what = line.substr(0, line.find('\t'));
    const std::string_view rest = line.substr(std::min(what.size() + 1, line.size()));
    if (what == kVersion) fact.version = rest;
    if (what == kEndOfList) fact.error.clear();
    const std::size_t tab = rest.find('\t');
    if (what != kPackage || tab == std::string_view::npos) continue;
    fact.packages.insert_or_assign(std::string(rest.substr(0, tab)), std::string(rest.substr(tab + 1)));
  }
  return fact;
}

bool InspectHost(int in, int out, const std::string& version) {
  FrameReader frames;
  frames.Feed(ReadAll(in));
  const auto payload = frames.Next();
  const auto command = payload ? DecodeCommand(*payload) : std::nullopt;
  if (!command || !std::holds_alternative<Inspect>(*command)) return false;
  const auto& wanted = std::get<Inspect>(*command);

  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
  Inspected reported;
  reported.facts = ReadHostFacts(wanted.variables, environment);
  reported.facts.muster = version;
  if (WriteAll(out, EncodeFrame(AgentMessage(reported))) != 0) return false;
  if (wanted.trials) reported.facts.trials = TryHost();
  reported.facts.drivers = ReadDrivers();
  for (const FolderQuery& place : wanted.places) reported.facts.disks.push_back(CheckDisk(place));
  for (const ProgramQuery& program : wanted.programs) {
    reported.facts.programs.push_back(FindProgramOnHost(program, wanted.search_dirs, wanted.cwd));
  }
  return WriteAll(out, EncodeFrame(AgentMessage(reported))) == 0;
}

HostInspection::HostInspection(boost::asio::io_context& io, Launcher& launcher, std::string agent, Observer observer)
    : io_(io),
      observer_(std::move(observer)),
      agent_(std::move(agent)),
      commands_(
          io, launcher,
          {.exited = [this](const ProcessExited& event) { OnExited(event); }, .signalled = [](const SignalSent&) {}}),
      deadline_(io.get_executor()) {}

void HostInspection::Begin(Inspect command, const ResourceLimit& descriptors) {
  going_ = true;
  asked_at_ = WallNowNs();
  command_ = std::move(command);
  accounts_.clear();
  failures_.clear();
  for (std::uint32_t number = 0; number <= command_.pythons.size() + (command_.trials ? 1 : 0); ++number) {
    if (const auto started = Start(number, descriptors); !started) {
      failures_.emplace(number, SpawnErrorText(started.error()));
    }
  }
  if (commands_.empty()) return ReportSoon();
  deadline_.expires_after(std::chrono::milliseconds(command_.within_ms));
  deadline_.async_wait([this](const boost::system::error_code& error) {
    if (error || !going_) return;
    const std::string late =
        fmt::format("it took longer than {}", DurationText(static_cast<double>(command_.within_ms) / 1000));
    for (const auto& [number, account] : accounts_) {
      if (commands_.Runs(number, 0)) failures_.emplace(number, late);
    }
    Report();
    commands_.KillAll();
  });
}

tl::expected<void, SpawnError> HostInspection::Start(std::uint32_t number, const ResourceLimit& descriptors) {
  auto account = CreateMemoryFile("muster-inspection", kMostOutputBytes);
  if (!account) return tl::unexpected<SpawnError>(std::move(account.error()));
  SpawnSpec spec;
  UniqueFd question;
  if (number == kLooker) {
    auto held = HoldText(EncodeFrame(AgentCommand(command_)));
    if (!held) return tl::unexpected<SpawnError>(std::move(held.error()));
    question = std::move(*held);
    spec.argv = {agent_, "--inspect"};
    for (char** variable = environ; *variable != nullptr; ++variable) spec.env.push_back(*variable);
  } else if (number == NameNumber()) {
    spec.argv = {"/bin/sh", "-c", kNameShell, OwnHostName()};
    spec.env = EnvPointers(command_.environment);
  } else {
    spec.argv = {"/bin/sh", "-c", kShell, command_.cwd, command_.pythons[number - 1], "-c", kPackagesScript};
    spec.argv.insert(spec.argv.end(), command_.packages.begin(), command_.packages.end());
    spec.env = EnvPointers(command_.environment);
  }
  spec.stdin_fd = question.get();
  spec.stdout_fd = account->get();
  spec.cwd = "/";
  spec.limits.push_back(descriptors);
  auto started = commands_.Start(number, 0, std::move(spec));
  if (!started) return tl::unexpected<SpawnError>(std::move(started.error()));
  accounts_.insert_or_assign(number, std::move(*account));
  return {};
}

void HostInspection::OnExited(const ProcessExited& event) {
  if (going_) {
    EndedProcess end;
    end.signalled = event.signalled;
    end.code = event.code;
    if (event.signalled || event.code != 0) failures_.emplace(event.process, "it " + EndText(end));
    if (commands_.empty()) Report();
  }
  if (commands_.empty()) observer_.idle();
}

// Not before Begin() has returned, as with every other answer.
void HostInspection::ReportSoon() {
  boost::asio::post(io_, [this] {
    if (going_) Report();
  });
}

void HostInspection::Report() {
  going_ = false;
  deadline_.cancel();
  Inspected reported;
  if (const auto account = accounts_.find(kLooker); account != accounts_.end()) {
    auto looked = LastReport(ReadMemoryFile(account->second.get(), kMostOutputBytes));
    if (looked) reported = std::move(*looked);
  }
  if (const auto failed = failures_.find(kLooker); failed != failures_.end()) {
    reported.error = "its file systems and programs are not known: " + failed->second;
  }
  for (std::uint32_t number = 1; number <= command_.pythons.size(); ++number) {
    const auto account = accounts_.find(number);
    PythonFact fact = ParsePythonOutput(
        command_.pythons[number - 1],
        account == accounts_.end() ? std::string() : ReadMemoryFile(account->second.get(), kMostOutputBytes));
    if (const auto failed = failures_.find(number); failed != failures_.end()) fact.error = failed->second;
    reported.facts.pythons.push_back(std::move(fact));
  }
  if (const auto account = accounts_.find(NameNumber()); account != accounts_.end()) {
    reported.facts.trials.push_back(NameTrial(OwnHostName(), ReadMemoryFile(account->second.get(), kMostOutputBytes),
                                              !failures_.contains(NameNumber())));
  }
  accounts_.clear();
  reported.asked_at = asked_at_;
  reported.answered_at = WallNowNs();
  observer_.done(reported);
}

void HostInspection::Kill() {
  going_ = false;
  deadline_.cancel();
  commands_.KillAll();
}

void HostInspection::Abandon() {
  going_ = false;
  deadline_.cancel();
  commands_.Abandon();
}

}  // namespace muster
