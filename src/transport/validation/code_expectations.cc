#include "transport/validation/code_expectations.h"

#include <string>
#include <utility>

#include "base/values/plain_text.h"
#include "wire/protocol/protocol_bounds.h"

namespace muster {
namespace {

constexpr std::uint32_t kCodeTries = 3;  // for an agent that waits while another run copies the code

// Whether the path is absolute and free of characters that have a meaning in the text into which it is inserted.
bool IsPlainFolder(const std::string& path) {
  return path.starts_with('/') && path.size() <= protocol_bounds::kPath && IsPlain(path, " ");
}

}  // namespace

void CodeExpectations::Note(const OfferCode& command) {
  if (!command.last) return;
  lists_ = kCodeTries;
  awaited_ = true;
}

MessageVerdict CodeExpectations::On(const CodeMissing&) {
  return MessageVerdict::If(TakeOne(lists_), "a list of missing code");
}

MessageVerdict CodeExpectations::On(const CodeReceived&) const {
  return MessageVerdict::If(awaited_, "code that it has received");
}

MessageVerdict CodeExpectations::On(const CodeReady& message) {
  if (!std::exchange(awaited_, false)) return MessageVerdict::If(false, "code that is ready");
  lists_ = 0;
  if (!message.error.empty() || IsPlainFolder(message.folder)) return {};
  return MessageVerdict::Unfit("the folder of its code is invalid");
}

}  // namespace muster
