// The messages between the processes, and their encoding. Decoding trusts nothing: every length is checked against the
// received bytes, and a message must be consumed exactly. Independent of sockets.
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
  std::uint8_t role = 0;  // a Role, not validated yet
  std::string node_id;
  std::uint16_t port = 0;  // on which a server listens for workers; 0 for workers
  std::uint32_t worker_num = 0;
  std::uint32_t server_num = 0;
  bool operator==(const Register&) const = default;
};

struct ServerPlace {
  std::string node_id;
  Endpoint endpoint;
  bool operator==(const ServerPlace&) const = default;
};

// The answer to Register once all processes have registered.
struct Topology {
  std::uint64_t job = 0;  // random; shown to servers, so that a process of another job is recognised
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

// The sender exits because of this; the text names the process that detected it first.
struct Failed {
  std::string reason;
  bool operator==(const Failed&) const = default;
};

// Sent to scheduler and servers when done; nothing more is sent after the answer.
struct Unregister {
  bool operator==(const Unregister&) const = default;
};
struct Unregistered {
  bool operator==(const Unregistered&) const = default;
};

// --- worker to server ---

// Settings on which all workers must agree; servers receive them from the workers.
struct TrainingSettings {
  double learning_rate = 0;
  std::uint32_t epochs = 0;
  std::uint32_t batch_size = 0;
  std::uint64_t data_fingerprint = 0;
  double decay = 1;
  double l2 = 0;
  double smoothing = 0;
  std::uint32_t first_epoch = 1;
  bool operator==(const TrainingSettings&) const = default;
};

struct Hello {
  std::uint64_t job = 0;
  std::uint32_t rank = 0;
  std::string node_id;
  TrainingSettings settings;
  bool operator==(const Hello&) const = default;
};

// Requests the weights after `step` steps; answered when these are complete.
struct Pull {
  std::uint64_t step = 0;
  bool operator==(const Pull&) const = default;
};

struct Weights {
  std::uint64_t step = 0;
  double loss = 0;  // mean loss of the latest step
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

// Space for the largest topology; longer messages are invalid.
inline constexpr std::size_t kMaxMessageBytes = 1 << 20;
// Limit for a peer that has not identified itself.
inline constexpr std::size_t kMaxIntroductionBytes = 1024;
// Longer texts are truncated when sent.
inline constexpr std::size_t kMaxReasonLength = 1000;

Bytes EncodeFrame(const Message& message);

Result<Message> DecodeMessage(std::span<const std::uint8_t> bytes);

// For texts from the network that are printed on a terminal: control characters become '?'.
std::string Printable(std::string text);

}  // namespace ps_digits
