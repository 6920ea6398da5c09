#include "agent/parts/device_inquiry.h"

#include <cstdlib>
#include <utility>

#include <unistd.h>

#include "agent/devices/device_users.h"
#include "agent/usage/device_processes.h"

namespace muster {
namespace {

constexpr std::chrono::seconds kMostInquiryTime{5};

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
  limit_.expires_after(kMostInquiryTime);
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

}  // namespace muster
