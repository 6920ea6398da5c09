// Messages of the agent protocol: code trees that are sent to a host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "wire/files/code_tree.h"

namespace muster {

// Offers a code tree that processes of this host need in its cache, in parts; `last` marks the last one. The agent
// answers with CodeMissing. Sent once, before any message that may name a file of the tree.
struct OfferCode {
  std::string hash;  // CodeTreeHash of all entries
  std::vector<CodeEntry> entries;
  bool last = false;
};

// Flow control: maximum bytes of CodeBytes sent and not yet confirmed by CodeReceived.
inline constexpr std::size_t kCodeWindow = 1U << 20;

// Part of the content of a missing entry. Files are sent in the order of CodeMissing, each from beginning to end; empty
// files are not sent.
struct CodeBytes {
  std::uint32_t entry = 0;
  std::string content;
};

// Answer to OfferCode: entries whose content the host lacks, ascending. CodeReady follows when all are stored.
struct CodeMissing {
  std::vector<std::uint32_t> entries;
};

// Confirms that this many bytes of CodeBytes have been written.
struct CodeReceived {
  std::uint32_t bytes = 0;
};

// The tree is complete, and remains until the agent exits; or it could not be stored.
struct CodeReady {
  std::string folder;  // absolute
  std::string error;   // empty: the tree is complete
};

}  // namespace muster
