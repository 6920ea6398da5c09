// Messages of the agent protocol: trees of code on their way to a host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "wire/files/code_tree.h"

namespace muster {

// A tree of code that processes of this host are to find in its cache; in parts, the last one says so. Answered by
// CodeMissing. Once, before anything that may name a file of it.
struct OfferCode {
  std::string hash;  // CodeTreeHash of all the entries
  std::vector<CodeEntry> entries;
  bool last = false;
};

// So many bytes of CodeBytes may be on their way: sent, and not told by CodeReceived.
inline constexpr std::size_t kCodeWindow = 1U << 20;

// A part of the content of a wanted entry. Files come in the order in which they were wanted, each from its beginning
// to its end; an empty one is not sent.
struct CodeBytes {
  std::uint32_t entry = 0;
  std::string content;
};

// Answer to OfferCode: the entries whose content the host lacks, ascending. CodeReady follows when it has them.
struct CodeMissing {
  std::vector<std::uint32_t> entries;
};

// So many bytes of CodeBytes have been written.
struct CodeReceived {
  std::uint32_t bytes = 0;
};

// The tree is there as a whole, and stays until the agent ends; or it cannot be had.
struct CodeReady {
  std::string folder;  // absolute
  std::string error;   // empty: it is there
};

}  // namespace muster
