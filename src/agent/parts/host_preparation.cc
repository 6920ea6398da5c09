#include "agent/parts/host_preparation.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/devices/device_use.h"
#include "agent/processes/child_set.h"
#include "base/system/sockets.h"

namespace muster {

PathProbe::PathProbe(boost::asio::io_context& io) : io_(io), deadline_(io.get_executor()) {}

PathProbe::~PathProbe() { Close(); }

PathsOpen PathProbe::Open(const OpenPaths& command) {
  listening_.clear();
  PathsOpen open;
  std::vector<std::uint16_t> ports = command.ports;
  ports.push_back(0);
  for (std::uint16_t port : ports) {
    const bool own = port == 0;
    auto socket = ListenAt(port, PortUse::kShared);  // in addition to the socket that holds the port
    if (!socket) {
      open.error = fmt::format("cannot listen on port {}: {}", port, std::strerror(socket.error()));
      listening_.clear();
      return open;
    }
    listening_.push_back(std::move(*socket));
    if (own) open.port = port;
  }
  return open;
}

void PathProbe::Try(const ProbePaths& command, Done done) {
  done_ = std::move(done);
  ++round_;
  reported_.errors.assign(command.targets.size(), kNoAnswer);
  left_ = command.targets.size();
  going_.clear();
  going_.resize(command.targets.size());
  // Not before it returns, as with every other answer.
  boost::asio::post(io_, [this, round = round_, command] {
    if (round != round_ || !done_) return;
    if (left_ == 0) return Report();
    deadline_.expires_after(std::chrono::milliseconds(command.within_ms));
    deadline_.async_wait([this, round](const boost::system::error_code& error) {
      if (!error && round == round_ && done_) Report();
    });
    for (std::size_t i = 0; i < command.targets.size() && done_; ++i) Begin(i, command.targets[i]);
  });
}

void PathProbe::Begin(std::size_t target, const PathTarget& to) {
  auto socket = ConnectTo(to.address, to.port);
  if (!socket) return Ended(target, socket.error());
  auto watched = std::make_unique<WatchedFd>(io_.get_executor());
  boost::system::error_code refused;
  watched->assign(socket->get(), refused);
  if (refused) return Ended(target, refused.value());
  const int fd = socket->release();
  going_[target] = std::move(watched);
  going_[target]->async_wait(WatchedFd::wait_write,
                             [this, target, fd, round = round_](const boost::system::error_code& gone) {
                               if (gone || round != round_ || !done_) return;
                               int error = 0;
                               socklen_t size = sizeof error;
                               ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
                               Ended(target, error);
                             });
}

void PathProbe::Ended(std::size_t target, int error) {
  reported_.errors[target] = ConnectErrorText(error);
  going_[target].reset();
  if (--left_ == 0) Report();
}

void PathProbe::Report() {
  deadline_.cancel();
  going_.clear();
  const Done done = std::exchange(done_, nullptr);
  done(std::exchange(reported_, {}));
}

void PathProbe::Close() {
  listening_.clear();
  deadline_.cancel();
  going_.clear();
  done_ = nullptr;
}

namespace {

constexpr std::chrono::seconds kMaxInquiryTime{5};

std::string AgentSearchPath() {
  const char* path = std::getenv("PATH");
  return path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
}

}  // namespace

DeviceInquiry::DeviceInquiry(AgentState& state)
    : state_(state),
      limit_(state.io.get_executor()),
      tools_(state.io, state.process.launcher, notes_,
             {.exited = [this](const ToolProcesses::Exit& exit) { OnExited(exit); },
              .idle = [this] { state_.emptied(); }}) {}

void DeviceInquiry::Ask(const std::string& kind, Done done) {
  kind_ = kind;
  done_ = std::move(done);
  outputs_.clear();
  const auto commands = DeviceProcessCommands(kind);
  complete_ = !commands.empty() && tools_.empty();  // one may not exit although it was killed
  for (std::size_t i = 0; complete_ && i < commands.size(); ++i) {
    outputs_.emplace_back();
    const auto number = tools_.Start(commands[i], AgentSearchPath());
    complete_ = number.has_value();
    if (number) asked_.emplace(*number, i);
  }
  if (asked_.empty()) return Answer();
  limit_.expires_after(kMaxInquiryTime);
  limit_.async_wait([this](const boost::system::error_code& error) {
    if (error || asked_.empty()) return;
    for (const auto& [number, which] : std::exchange(asked_, {})) tools_.Stop(number, std::chrono::milliseconds(0));
    complete_ = false;
    Answer();
  });
}

void DeviceInquiry::OnExited(const ToolProcesses::Exit& exit) {
  const auto asked = asked_.find(exit.number);
  if (asked == asked_.end()) return;
  if (exit.signalled || exit.code != 0) {
    complete_ = false;
  } else {
    outputs_[asked->second] = ToolProcesses::OutputOf(exit);
  }
  asked_.erase(asked);
  if (!asked_.empty()) return;
  limit_.cancel();
  Answer();
}

void DeviceInquiry::Answer() {
  DeviceUserTexts users;
  for (auto& [number, text] : DeviceUsers(kind_, ::getpid())) users.emplace(std::to_string(number), std::move(text));
  const DeviceProcesses reported = complete_ ? ParseDeviceProcesses(kind_, outputs_) : DeviceProcesses();
  for (const auto& [device, processes] : reported) {
    for (const DeviceProcess& process : processes) {
      if (users.contains(device)) break;
      if (auto text = DeviceUserText(process.pid, ::getpid(), process.name)) users.emplace(device, *std::move(text));
    }
  }
  if (const Done done = std::exchange(done_, nullptr)) done(std::move(users));
}

void DeviceInquiry::Kill() {
  done_ = nullptr;
  asked_.clear();
  limit_.cancel();
  tools_.KillAll();
}

void DeviceInquiry::Abandon() {
  done_ = nullptr;
  asked_.clear();
  limit_.cancel();
  tools_.Abandon();
}

HostPreparation::HostPreparation(AgentState& state)
    : state_(state),
      activation_(state.io, state.process.launcher,
                  [this](HostActivated reported) {
                    if (!state_.serving()) return state_.emptied();
                    reported.host = state_.host;
                    state_.send(reported);
                  }),
      inspection_(state.io, state.process.launcher, state.process.program,
                  {.done =
                       [this](const Inspected& reported) {
                         if (state_.serving()) state_.send(reported);
                       },
                   .idle = [this] { state_.emptied(); }}),
      paths_(state.io),
      code_(state.io, CodeCacheFolder(), state.send),
      device_users_(state),
      allotment_(state.io, {.ask_users = [this](const std::string& kind,
                                                DeviceInquiry::Done done) { device_users_.Ask(kind, std::move(done)); },
                            .given = [this](const ResourcesAllocated& given) { state_.send(given); },
                            .awaited =
                                [this](DevicesAwaited awaited) {
                                  awaited.host = state_.host;
                                  state_.send(awaited);
                                }}) {}

std::string HostPreparation::Do(const Activate& command) {
  if (!state_.serving()) return "an activation after the finish";
  if (!state_.preparing() || activation_.begun()) return "an activation that is not the first thing done";
  if (std::string error = VariableError(command.environment); !error.empty()) return error;
  EnvironmentBlock block = ByName(command.environment);
  AddHostVariables(command.of_host, block);
  Activate here = command;
  here.environment.clear();
  for (auto& [name, variable] : block) here.environment.push_back(std::move(variable));
  state_.host_folder.Expect(command.log_path);
  activation_.Begin(here, state_.run_folder.At(command.log_path), {RLIMIT_NOFILE, state_.process.child_descriptors});
  return {};
}

std::string HostPreparation::Do(Inspect& command) {
  if (!state_.serving()) return "an inspection after the finish";
  if (inspection_.going()) return "an inspection within another";
  if (std::string error = VariableError(command.environment); !error.empty()) return error;
  inspection_.Begin(std::move(command), {RLIMIT_NOFILE, state_.process.child_descriptors});
  return {};
}

std::string HostPreparation::Do(const AllocateResources& command) {
  if (allotted_ || state_.started > 0) return "devices and cores were requested twice, or after a start";
  allotted_ = true;
  allotment_.Give(command);
  return {};
}

std::string HostPreparation::Do(const OpenPaths& command) {
  if (!state_.preparing()) return "network paths are checked before the first start";
  state_.send(paths_.Open(command));
  return {};
}

std::string HostPreparation::Do(const ProbePaths& command) {
  if (!state_.preparing() || paths_.trying()) return "network paths are checked only once, before the first start";
  if (command.targets.size() > PathProbe::kMaxTargets) return "too many network paths to check";
  paths_.Try(command, [this](const PathsProbed& reported) { state_.send(reported); });
  return {};
}

std::string HostPreparation::Do(const ClosePaths& command) {
  static_cast<void>(command);
  paths_.Close();
  state_.send(PathsOpen{});
  return {};
}

std::string HostPreparation::Do(OfferCode& command) {
  if (!state_.preparing()) return "code is offered before the first start";
  return code_.Offer(command);
}

std::string HostPreparation::Do(const CodeBytes& bytes) { return code_.Take(bytes); }

void HostPreparation::Finish() {
  activation_.Kill();
  inspection_.Kill();
  paths_.Close();
  code_.End();
  allotment_.StopWaiting();
  device_users_.Kill();
}

void HostPreparation::Abandon() {
  activation_.Abandon();
  inspection_.Abandon();
  device_users_.Abandon();
}

}  // namespace muster
