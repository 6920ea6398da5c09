#include "stub/records/stub_facts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/values/number_text.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/value_archive.h"

namespace muster {
// Members are in the order of their names.

template <class V>
void Fields(V& v, StubPeer& peer) {
  v("first_of_host", peer.first_of_host), v("first_of_role", peer.first_of_role), v("hello", peer.hello);
  v("host", peer.host), v("local_rank", peer.local_rank), v("local_size", peer.local_size), v("name", peer.name);
  v("plays", peer.plays), v("ports", peer.ports), v("rank", peer.rank), v("world", peer.world);
  v("world_size", peer.world_size);
}

template <class V>
void Fields(V& v, StubFacts& facts) {
  std::int64_t format = 1;
  v("addresses", facts.addresses), v("contract", facts.contract), v("device_kind", facts.device_kind),
      v("format", format);
  v("framework", facts.framework), v("processes", facts.processes), v("run", facts.run), v("servers", facts.servers);
  v("within_ms", facts.within_ms), v("worker_hosts", facts.worker_hosts), v("workers", facts.workers);
  if constexpr (V::kReading) {
    if (format != 1) v.Fail("they are of another format");
  }
}

namespace {

bool IsPort(const std::string& text) { return ParseNumber<std::uint16_t>(text).value_or(0) != 0; }

}  // namespace

std::string StubFactsText(const StubFacts& facts) { return JsonOf(facts) + "\n"; }

tl::expected<StubFacts, std::string> ReadStubFacts(std::string_view text) {
  auto facts = FromJson<StubFacts>(text);
  if (!facts) return tl::unexpected("they were not written by a rehearsal: " + facts.error());
  for (const StubPeer& peer : facts->processes) {
    if (peer.host >= facts->addresses.size()) return tl::unexpected<std::string>(peer.name + " is on no host");
    if (!IsPort(peer.hello) || !std::all_of(peer.ports.begin(), peer.ports.end(), IsPort))
      return tl::unexpected<std::string>("a port of " + peer.name + " is not a number");
  }
  return facts;
}

namespace {

// `after`: peers after the process, else those before it.
std::vector<std::uint32_t> PeersOnSide(const StubFacts& facts, std::uint32_t process, bool after) {
  const auto count = static_cast<std::uint32_t>(facts.processes.size());
  std::set<std::uint32_t> others;
  if (count <= kMaxInFull) {
    for (std::uint32_t other = 0; other < count; ++other) others.insert(other);
  } else {
    for (std::uint32_t step = 1; step < count; step *= 2)
      others.insert((process + (after ? step : count - step)) % count);
    for (std::uint32_t other = 0; other < count && facts.processes[process].first_of_host; ++other) {
      if (facts.processes[other].first_of_host) others.insert(other);
    }
  }
  others.erase(process);
  return {others.begin(), others.end()};
}

}  // namespace

std::vector<std::uint32_t> GreetedBy(const StubFacts& facts, std::uint32_t process) {
  return PeersOnSide(facts, process, true);
}

std::vector<std::uint32_t> GreetersOf(const StubFacts& facts, std::uint32_t process) {
  return PeersOnSide(facts, process, false);
}

}  // namespace muster
