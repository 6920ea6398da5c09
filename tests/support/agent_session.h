// A head for tests: one agent behind a Channel. Sends commands and stores all messages in order.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "base/values/fingerprint.h"
#include "support/await.h"
#include "support/places.h"
#include "support/temp_dir.h"
#include "support/transports.h"
#include "transport/transport.h"

namespace muster::testing {

inline std::string AgentPath() { return std::string(MUSTER_BIN_DIR) + "/muster-agent"; }
inline std::string ProbeProgram() { return std::string(MUSTER_TESTS_DIR) + "/probe"; }

// Where the agent runs, and a folder with the same path here and there.
struct AgentPlace {
  TransportSettings settings = {AgentPath()};
  std::string host = "localhost";
  std::string parent = std::filesystem::temp_directory_path();  // parent of the session's folder
  std::string run_dir = {};  // below the session's folder, created by the agent; empty: the agent shares the session's
  std::uint64_t usage_ms = 0;  // Hello::usage_ms and device_kind
  std::string device_kind = {};
};

class AgentSession {
 public:
  explicit AgentSession(const TransportEntry& entry, const AgentPlace& place = {})
      : folder_(place.parent), transport_(entry.make(place.settings)) {
    auto connected = transport_->Connect(io_, {0, place.host});
    if (!connected) {
      ADD_FAILURE() << connected.error().front().message;
      return;
    }
    channel_ = std::move(*connected);
    channel_->SetReceiver([this](ChannelMessage message) { messages_.push_back(std::move(message)); });
    const bool makes = !place.run_dir.empty();
    // An id of its own: agents in several pid namespaces have the same pid, and their cgroups are named by both.
    Send(Hello{kProtocolVersion, RandomHex(6), 0, "", 0, makes ? folder_ / place.run_dir : folder_.path(), makes,
               place.usage_ms, place.device_kind});
    Send(DefineEnvironment{0, {token()}});
  }

  // In the environment of every process.
  std::string token() const { return "MUSTER_PROCESS=" + folder_.path(); }
  const TempDir& folder() const { return folder_; }
  std::string Log(ProcessId process, std::uint32_t attempt = 0) const {
    return folder_ / (std::to_string(process) + "." + std::to_string(attempt) + ".log");
  }

  void Send(const AgentCommand& command) { channel_->Send(command); }
  void ExpectAnswer(bool at_once) { channel_->ExpectAnswer(at_once); }

  // A probe with these verbs; tests may change it before sending.
  StartProcess Probe(ProcessId process, const std::vector<std::string>& verbs, std::uint32_t attempt = 0) const {
    StartProcess start;
    start.process = process;
    start.attempt = attempt;
    start.argv = {ProbeProgram()};
    start.argv.insert(start.argv.end(), verbs.begin(), verbs.end());
    start.cwd = folder_.path();
    start.log_path = Log(process, attempt);
    return start;
  }

  // Runs the loop until `done` returns true; false if the deadline passes without further messages.
  bool Until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (!done()) {
      io_.restart();
      if (io_.run_one_until(deadline) == 0) return false;
    }
    return true;
  }

  template <class Message>
  std::vector<Message> All() const {
    std::vector<Message> all;
    for (const ChannelMessage& message : messages_) {
      if (const auto* one = std::get_if<Message>(&message)) all.push_back(*one);
    }
    return all;
  }

  // Waits for the first message of this kind about the process.
  template <class Message>
  std::optional<Message> Await(ProcessId process, std::uint32_t attempt = 0) {
    std::optional<Message> found;
    Until([&] {
      for (const Message& one : All<Message>()) {
        if (!found && one.process == process && one.attempt == attempt) found = one;
      }
      return found.has_value();
    });
    return found;
  }

  template <class Message>
  std::optional<Message> Await() {
    if (!Until([this] { return !All<Message>().empty(); })) return std::nullopt;
    return All<Message>().front();
  }

  std::optional<AgentEmpty> Finish() {
    Send(muster::Finish{});
    return Await<AgentEmpty>();
  }

  void CloseChannel() { channel_.reset(); }
  const std::vector<ChannelMessage>& messages() const { return messages_; }

 private:
  TempDir folder_;
  boost::asio::io_context io_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Channel> channel_;
  std::vector<ChannelMessage> messages_;
};

}  // namespace muster::testing
