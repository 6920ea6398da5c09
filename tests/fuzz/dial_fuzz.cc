// Fuzzes bytes that are read before an agent and its head trust each other: a dial file or a greeting must be refused
// or round-trip, and no bytes may be accepted as a proof.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wire/connection/dial.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto file = muster::ParseDialFile(bytes)) {
    Require(file->addresses.size() <= muster::kMaxDialAddresses);
    Require(muster::ParseDialFile(muster::DialFileText(*file)) == *file);
  }
  if (const auto greeting = muster::ParseGreeting(bytes)) Require(muster::GreetingBytes(*greeting) == bytes);

  static const std::string token(32, 'a');
  static const std::string greeting = muster::GreetingBytes({std::string(32, 'b'), std::string(64, 'c'), "n1"});
  static const std::string answer = muster::HeadProof(token, greeting, std::string(64, 'd'));
  Require(!muster::ProvesHead(token, greeting, bytes) || bytes == answer);
  Require(!muster::ProvesAgent(token, greeting, answer, bytes) || bytes == muster::AgentProof(token, greeting, answer));
  return 0;
}
