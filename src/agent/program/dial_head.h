// Dialling back: from a dial file to a connection whose other end has proven to be the head that wrote the file.
//
// Blocks, and knows no event loop: nothing has been started yet. Of several addresses the first is used at which the
// head's proof holds (wire/dial/dial_handshake.h), so that it does not matter which networks the two have in common.
#pragma once

#include <chrono>
#include <string>

#include <tl/expected.hpp>

#include "base/system/unique_fd.h"

namespace muster {

struct DialedHead {
  UniqueFd connection;  // a connected socket, closed on exec
  std::string address;  // the own one, as an IP literal; empty if it is a loopback address
};

// How long to go on trying; a head that writes the file listens already.
inline constexpr std::chrono::seconds kDialPatience{60};

// `path`: of a regular file that the caller owns and nobody else may read; its last part must not be a link. Retries
// with growing, random pauses. The error is a phrase: what is wrong with the file, which node the head refused and why,
// or what happened at each address.
tl::expected<DialedHead, std::string> DialHead(const std::string& path,
                                               std::chrono::milliseconds patience = kDialPatience);

}  // namespace muster
