// Agents without descriptors that follow the test's script. Without a script they behave like real ones: every process
// starts, and succeeds when it is asked to finish.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "transport/transport.h"

namespace muster {

class ScriptedAgent {
 public:
  ScriptedAgent(boost::asio::io_context& loop, std::uint32_t index) : io(loop), host(index) {}

  // Delivers the message from the loop, in order, like a channel does.
  void Say(ChannelMessage message) {
    boost::asio::post(io, [this, message = std::move(message)] {
      if (receiver) receiver(message);
    });
  }
  void SayStarted(ProcessId process) {
    alive.insert(process);
    ++started;
    Say(ProcessStarted{process, 0, 1000 + static_cast<int>(process), 5, 7});
  }
  void SayExited(ProcessId process, int code, bool signalled = false) {
    alive.erase(process);
    ++reaped;
    ProcessExited exited;
    exited.process = process;
    exited.code = code;
    exited.signalled = signalled;
    exited.at = 2'000'000'000;
    Say(exited);
  }
  void SayEmpty() { Say(AgentEmpty{host, started, reaped, 0, {"pidfd"}}); }

  // Behaves like a correct agent.
  void Obey(const AgentCommand& command) {
    if (std::holds_alternative<Hello>(command)) {
      AgentReady ready;
      ready.pid = 4711;
      ready.host_name = "node-" + std::to_string(host);
      ready.mechanisms = {"pidfd"};
      Say(ready);
    } else if (const auto* hold = std::get_if<HoldPorts>(&command)) {
      PortsHeld held{hold->ports, ""};
      for (PortRequest& port : held.ports) {
        if (port.number == 0) port.number = static_cast<std::uint16_t>(20'000 + next_port_++);
      }
      Say(held);
    } else if (const auto* asked = std::get_if<AllocateResources>(&command)) {
      ResourcesAllocated given;
      for (const std::uint32_t device : asked->devices) given.devices.push_back(std::to_string(device + 4));
      for (std::size_t i = 0; i < asked->cores.size(); ++i) given.cores.push_back({static_cast<std::uint32_t>(i)});
      Say(given);
    } else if (std::holds_alternative<Activate>(command)) {
      Say(HostActivated{host, {{"ACTIVATED", "on " + std::to_string(host)}}, {"HOME"}, 400, 0, ""});
    } else if (const auto* start = std::get_if<StartProcess>(&command)) {
      SayStarted(start->process);
    } else if (const auto* stop = std::get_if<StopProcesses>(&command)) {
      for (const ProcessAttempt& each : stop->processes) {
        if (alive.count(each.process) == 0) continue;
        Say(SignalSent{each.process, each.attempt, stop->signal, 0, 8});
        SayExited(each.process, stop->signal, true);
      }
    } else if (std::holds_alternative<Finish>(command)) {
      SayEmpty();
    }
  }

  boost::asio::io_context& io;
  std::uint32_t host;
  std::vector<AgentCommand> heard;
  std::set<ProcessId> alive;
  std::uint32_t started = 0;
  std::uint32_t reaped = 0;
  Channel::Receiver receiver;

 private:
  int next_port_ = 0;
};

// Gets every command instead of Obey(), which it may call.
using Script = std::function<void(ScriptedAgent& agent, const AgentCommand& command)>;

class ScriptedTransport final : public Transport {
 public:
  explicit ScriptedTransport(Script script, std::string name = "scripted")
      : script_(std::move(script)), name_(std::move(name)) {}

  std::string_view name() const override { return name_; }
  bool remote() const override { return name_ != "local"; }
  std::map<std::uint32_t, std::unique_ptr<ScriptedAgent>> agents;
  std::set<std::uint32_t> unreachable;

 private:
  Result<std::unique_ptr<UncheckedChannel>> Open(boost::asio::io_context& io, const TransportHost& host) override {
    if (unreachable.count(host.index) != 0) return Fail(MachineError("connect", "no route to " + host.name));
    agents[host.index] = std::make_unique<ScriptedAgent>(io, host.index);
    return std::make_unique<ScriptedChannel>(*agents[host.index], script_);
  }

  class ScriptedChannel final : public UncheckedChannel {
   public:
    ScriptedChannel(ScriptedAgent& agent, Script& script) : agent_(agent), script_(script) {}
    ~ScriptedChannel() override { agent_.receiver = nullptr; }
    void Send(const AgentCommand& command) override {
      agent_.heard.push_back(command);
      script_(agent_, command);
    }
    void SetReceiver(Receiver receiver) override { agent_.receiver = std::move(receiver); }
    void BreakOff(const std::string& why) override {
      const Receiver last = std::exchange(agent_.receiver, nullptr);
      boost::asio::post(agent_.io, [last, lost = AgentLost{agent_.host, why, 0}] { last(lost); });
    }

   private:
    ScriptedAgent& agent_;
    Script& script_;
  };

  Script script_;
  std::string name_;
};

}  // namespace muster
