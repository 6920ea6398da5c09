// See last_words.h.
#include "ps_digits/last_words.h"

namespace ps_digits {

Failure LastWords(const std::string& self, const Failure& failure, std::span<Link* const> links) {
  const std::string reason = failure.relayed ? failure.message : self + ": " + failure.message;
  for (Link* link : links) link->Send(Failed{reason.substr(0, kMaxReasonLength)});
  FlushLinks(links);
  return Failure{failure.relayed ? self + ": stopped: " + reason : reason};
}

Failure Relayed(const Failed& message) { return Failure{Printable(message.reason), true}; }

}  // namespace ps_digits
