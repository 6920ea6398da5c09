// The files of a run on hosts that do not see its run directory: generated files are sent there, logs come back.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "muster/result.h"
#include "wire/protocol/file_messages.h"

namespace muster {

class AgentLinks;
struct LiveRun;

class FilesElsewhere {
 public:
  FilesElsewhere(LiveRun& run, AgentLinks& links) : run_(run), links_(links) {}

  // The file by which an agent sees that it has the same run directory.
  Result<void> WriteProbe();
  void RemoveProbe();

  // The host, which has this name for itself, does not see the run directory.
  void Add(std::uint32_t host, std::string host_name) { hosts_[host] = {std::move(host_name), false}; }
  bool Has(std::uint32_t host) const { return hosts_.contains(host); }

  // By path below the run directory: to all hosts that do not see it.
  void Send(const std::map<std::string, std::string>& files);
  // A part of a file of such a host. The first that cannot be kept is reported.
  void Keep(std::uint32_t host, const FileBytes& bytes);
  // All parts have come: such a host may remove its copies if all were kept.
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
