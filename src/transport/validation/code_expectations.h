// What an agent may report about shipped code.
#pragma once

#include <cstdint>

#include "transport/validation/message_verdict.h"
#include "wire/protocol/protocol.h"

namespace muster {

class CodeExpectations {
 public:
  void Note(const OfferCode& command);

  MessageVerdict On(const CodeMissing& message);
  MessageVerdict On(const CodeReceived& message) const;
  MessageVerdict On(const CodeReady& message);

 private:
  std::uint32_t lists_ = 0;  // CodeMissing messages that are allowed
  bool awaited_ = false;     // CodeReady is expected
};

}  // namespace muster
