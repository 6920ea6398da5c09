// Transfers the files of a run to and from hosts that do not share its run directory: generated files are sent there,
// logs come back.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "muster/result.h"
#include "wire/protocol/protocol.h"

namespace muster {

class AgentLinks;
struct LiveRun;

class FilesElsewhere {
 public:
  FilesElsewhere(LiveRun& run, AgentLinks& links) : run_(run), links_(links) {}

  // Writes the file by which an agent recognises that it shares the run directory.
  Result<void> WriteProbe();
  void RemoveProbe();

  // The host, with this host name, does not share the run directory.
  void Add(std::uint32_t host, std::string host_name) { hosts_[host] = {std::move(host_name), false}; }
  bool Has(std::uint32_t host) const { return hosts_.contains(host); }

  // Sends the files, by path below the run directory, to all hosts that do not share it.
  void Send(const std::map<std::string, std::string>& files);
  // Writes a part of a file of such a host. The first one that cannot be written is reported.
  void Keep(std::uint32_t host, const FileBytes& bytes);
  // All parts have arrived: permits the host to remove its copies if all of them were written.
  void Finish(std::uint32_t host);

 private:
  struct Host {
    std::string name;
    bool incomplete = false;
  };

  LiveRun& run_;
  AgentLinks& links_;
  std::map<std::uint32_t, Host> hosts_;
};

}  // namespace muster
