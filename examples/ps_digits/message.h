// What the processes say to each other, and its bytes. Decoding trusts nothing: every length is checked
// against what is there, and a message must be used up exactly. Knows no sockets.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ps_digits/address.h"
#include "ps_digits/failure.h"

namespace ps_digits {

using Bytes = std::vector<std::uint8_t>;

// --- with the scheduler ---

struct Register {
  std::uint8_t role = 0;  // a Role, not yet checked
  std::string node_id;
  std::uint16_t port = 0;  // where a server listens for workers; 0 for workers
  std::uint32_t worker_num = 0;
  std::uint32_t server_num = 0;
  bool operator==(const Register&) const = default;
};

struct ServerPlace {
  std::string node_id;
  Endpoint endpoint;
  bool operator==(const ServerPlace&) const = default;
};

// The answer to Register once everybody has come.
struct Topology {
  std::uint64_t job = 0;  // random; shown to servers, so that a process of another job is not mistaken for ours
  std::uint32_t rank = 0;
  std::vector<ServerPlace> servers;  // by rank
  bool operator==(const Topology&) const = default;
};

struct Heartbeat {  // answered with another one by the scheduler
  bool operator==(const Heartbeat&) const = default;
};

// --- with anybody ---

struct Refused {
  std::string reason;
  bool operator==(const Refused&) const = default;
};

// The sender ends because of this; the text names the process that noticed first.
struct Failed {
  std::string reason;
  bool operator==(const Failed&) const = default;
};

// "I am done", sent to scheduler and servers, and the answer after which nothing more is sent.
struct Unregister {
  bool operator==(const Unregister&) const = default;
};
struct Unregistered {
  bool operator==(const Unregistered&) const = default;
};

// --- worker to server ---

// What all workers must agree on; servers learn it from them.
struct TrainingSettings {
  double learning_rate = 0;
  std::uint32_t epochs = 0;
  std::uint32_t batch_size = 0;
  std::uint64_t data_fingerprint = 0;
  bool operator==(const TrainingSettings&) const = default;
};

struct Hello {
  std::uint64_t job = 0;
  std::uint32_t rank = 0;
  std::string node_id;
  TrainingSettings settings;
  bool operator==(const Hello&) const = default;
};

// Asks for the weights as they are after `step` steps; answered when they are.
struct Pull {
  std::uint64_t step = 0;
  bool operator==(const Pull&) const = default;
};

struct Weights {
  std::uint64_t step = 0;
  double loss = 0;  // mean loss of the step that led here
  std::vector<double> values;
  bool operator==(const Weights&) const = default;
};

struct Push {
  std::uint64_t step = 0;
  std::uint64_t image_count = 0;
  double loss = 0;
  std::vector<double> gradient;
  bool operator==(const Push&) const = default;
};

// The position in this list is the kind byte on the wire.
using Message =
    std::variant<Register, Topology, Heartbeat, Refused, Failed, Unregister, Unregistered, Hello, Pull, Weights, Push>;

// --- frames: a length of four bytes (little-endian, as all numbers), then that many bytes of message ---

// Room for the largest topology; anything longer is no message of ours.
inline constexpr std::size_t kMaxMessageBytes = 1 << 20;
// What somebody may send who has not yet said who he is.
inline constexpr std::size_t kMaxIntroductionBytes = 1024;
// Longer texts are cut when sent.
inline constexpr std::size_t kMaxReasonLength = 1000;

Bytes EncodeFrame(const Message& message);

Result<Message> DecodeMessage(std::span<const std::uint8_t> bytes);

// For texts from the network that go to a terminal: control characters become '?'.
std::string Printable(std::string text);

}  // namespace ps_digits
