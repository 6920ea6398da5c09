#include "stub/records/stub_facts.h"

#include <algorithm>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/values/number_text.h"
#include "base/values/value_text.h"

namespace muster {
namespace {

using Json = nlohmann::json;

bool IsPort(const std::string& text) { return ParseNumber<std::uint16_t>(text).value_or(0) != 0; }

StubPeer PeerOf(const Json& json) {
  StubPeer peer;
  json.at("name").get_to(peer.name);
  json.at("plays").get_to(peer.plays);
  json.at("world").get_to(peer.world);
  json.at("host").get_to(peer.host);
  if (!json.at("rank").is_null()) peer.rank = json.at("rank").get<std::uint32_t>();
  json.at("world_size").get_to(peer.world_size);
  json.at("local_rank").get_to(peer.local_rank);
  json.at("local_size").get_to(peer.local_size);
  json.at("first_of_host").get_to(peer.first_of_host);
  json.at("first_of_role").get_to(peer.first_of_role);
  json.at("hello").get_to(peer.hello);
  json.at("ports").get_to(peer.ports);
  return peer;
}

}  // namespace

std::string StubFactsText(const StubFacts& facts) {
  Json processes = Json::array();
  for (const StubPeer& peer : facts.processes) {
    processes.push_back({{"name", peer.name},
                         {"plays", peer.plays},
                         {"world", peer.world},
                         {"host", peer.host},
                         {"rank", peer.rank ? Json(*peer.rank) : Json(nullptr)},
                         {"world_size", peer.world_size},
                         {"local_rank", peer.local_rank},
                         {"local_size", peer.local_size},
                         {"first_of_host", peer.first_of_host},
                         {"first_of_role", peer.first_of_role},
                         {"hello", peer.hello},
                         {"ports", peer.ports}});
  }
  const Json json = {{"format", 1},
                     {"run", facts.run},
                     {"framework", facts.framework},
                     {"device_kind", facts.device_kind},
                     {"within_ms", facts.within_ms},
                     {"workers", facts.workers},
                     {"servers", facts.servers},
                     {"worker_hosts", facts.worker_hosts},
                     {"addresses", facts.addresses},
                     {"processes", std::move(processes)}};
  return SerializedJson(json) + "\n";
}

tl::expected<StubFacts, std::string> ReadStubFacts(std::string_view text) {
  StubFacts facts;
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != 1) return tl::unexpected<std::string>("they are of another format");
    json.at("run").get_to(facts.run);
    json.at("framework").get_to(facts.framework);
    json.at("device_kind").get_to(facts.device_kind);
    json.at("within_ms").get_to(facts.within_ms);
    json.at("workers").get_to(facts.workers);
    json.at("servers").get_to(facts.servers);
    json.at("worker_hosts").get_to(facts.worker_hosts);
    json.at("addresses").get_to(facts.addresses);
    for (const Json& one : json.at("processes")) facts.processes.push_back(PeerOf(one));
  } catch (const Json::exception&) {
    return tl::unexpected<std::string>("they were not written by a rehearsal");
  }
  for (const StubPeer& peer : facts.processes) {
    if (peer.host >= facts.addresses.size()) return tl::unexpected<std::string>(peer.name + " is on no host");
    if (!IsPort(peer.hello) || !std::all_of(peer.ports.begin(), peer.ports.end(), IsPort))
      return tl::unexpected<std::string>("a port of " + peer.name + " is not a number");
  }
  return facts;
}

namespace {

// `after`: peers after the process, else those before it.
std::vector<std::uint32_t> Greeting(const StubFacts& facts, std::uint32_t process, bool after) {
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
  return Greeting(facts, process, true);
}

std::vector<std::uint32_t> GreetersOf(const StubFacts& facts, std::uint32_t process) {
  return Greeting(facts, process, false);
}

}  // namespace muster
