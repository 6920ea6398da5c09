#include "run/report/dropped_logs.h"

#include <map>
#include <variant>

#include <fmt/format.h>

#include "run/directory/process_output.h"
#include "wire/files/log_bytes.h"

namespace muster {

std::vector<DroppedLog> ReadDroppedLogs(const Plan& plan, const CheckedJournal& journal, int run_dir) {
  std::vector<DroppedLog> dropped;
  std::map<std::uint32_t, std::string> means;  // by host
  for (const JournalRecord& record : journal.records()) {
    if (const auto* agent = std::get_if<AgentConnected>(&record.entry)) {
      for (const std::string& name : agent->mechanisms) {
        if (name == "collapse-range" || name == "log-pipe") means[agent->host] = name;
      }
    }
    const auto* order = std::get_if<StartOrdered>(&record.entry);
    if (order == nullptr) continue;
    const Process& process = plan.processes[order->process];
    if (plan.roles[process.role].limits.log_bytes == 0) continue;
    const std::string log = LogPath(plan, order->process, order->attempt);
    const auto head = ReadLogHead(run_dir, log);
    if (head && head->kept > 0) dropped.push_back({log, head->kept, head->limit, means[process.host]});
  }
  return dropped;
}

std::string DroppedLogsText(const std::vector<DroppedLog>& dropped) {
  if (dropped.empty()) return {};
  const DroppedLog& first = dropped.front();
  if (dropped.size() == 1) {
    return fmt::format("the first {} bytes of {} were dropped by its limit of {} bytes (by {})", first.bytes, first.log,
                       first.limit, first.by);
  }
  std::uint64_t bytes = 0;
  for (const DroppedLog& log : dropped) bytes += log.bytes;
  return fmt::format("the first bytes of {} logs were dropped by their limits, {} in all (by {})", dropped.size(),
                     bytes, first.by);
}

}  // namespace muster
