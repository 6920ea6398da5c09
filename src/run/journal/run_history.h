// What happened in a run, as one value: folded once from its journal, checked against its plan, and read by everything
// that reports, draws or classifies the run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/system/unique_fd.h"
#include "muster/event.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "run/journal/event_order.h"
#include "run/journal/head_facts.h"
#include "run/journal/journal.h"

namespace muster {

// An event or a fact, and its record.
template <class E>
struct Recorded : E, RecordMark {
  bool operator==(const Recorded&) const = default;
};

// The log of a process had the same size at every look in between.
struct Silence {
  MonotonicNs from = 0;           // on the head's clock
  std::optional<MonotonicNs> to;  // empty: until the end of the attempt, or of the journal

  bool operator==(const Silence&) const = default;
};

struct AttemptHistory {
  std::optional<RecordMark> ordered;  // only the first attempt of a process may not have been ordered
  std::uint32_t machine = 0;          // where it was; for one that was not ordered, where it would be
  std::optional<Recorded<ProcessStarted>> started;
  std::optional<Recorded<ProcessReady>> ready;
  std::optional<MonotonicNs> first_output;  // by the clock of its host
  std::optional<Recorded<ProcessExited>> exited;
  std::optional<Recorded<SpawnFailed>> spawn_failed;
  bool stop_ordered = false;  // before it ended
  std::vector<Recorded<SignalSent>> signals;
  std::vector<Recorded<LimitPassed>> limits;  // that it exceeded, and for which it was stopped
  std::vector<EndEvidence> evidence;          // of kind "port": a port that it needs was taken
  std::vector<Silence> silences;

  bool Ended() const { return exited || spawn_failed; }
};

// A host of the plan, or a spare (run/supervise/host_replacement.h).
struct MachineHistory {
  std::string name;  // its own host name; before that is known, the name given by the user, else the plan's label
  std::vector<std::string> devices;  // names of the plan's devices; empty before they were allocated
  std::optional<Recorded<AgentConnected>> agent;
  std::optional<Recorded<AgentLost>> lost;
  std::optional<AgentEmpty> empty;
};

struct DumpHistory {
  Recorded<DumpOrdered> order;
  std::vector<ProcessId> running;  // when it was ordered, ascending
  std::vector<ProcessDumped> reported;
  std::vector<std::pair<std::uint32_t, DumpNote>> notes;  // with the machine
  std::optional<DumpEnded> ended;
};

// A spare took the place of a lost machine.
struct ReplacementHistory {
  std::uint32_t machine = 0;
  std::uint32_t by = 0;
  std::string wall;
  MonotonicNs on_head = 0;
};

// The code of a run: its state in git, and the shipped code.
struct CodeReport {
  std::optional<CodeSeen> seen;
  std::vector<CodeShipped> shipped;  // one entry for each host
};

// Numbers of processes, attempts and machines in it are valid indices. Lists are in the order of the journal.
struct RunHistory {
  std::optional<Recorded<RunBegan>> began;
  std::optional<Recorded<RunEnded>> ended;  // empty: the run is active, or its head was killed
  RecordMark first;                         // record of the journal
  RecordMark last;
  // Why records are missing: why reading stopped before the end of the journal, and how many did not fit the plan.
  // Empty if none are missing.
  std::string damage;

  std::vector<std::vector<AttemptHistory>> attempts;  // by process; at least one of each
  std::map<std::uint32_t, MachineHistory> machines;   // those of the plan, and spares that are known
  HostClocks clocks;                                  // by machine; known for a run on the head's own host alone
  std::map<std::string, std::string> cores;           // by process: "worker.2" -> "0-3"
  std::vector<Recorded<PhaseChanged>> phases;
  std::vector<Recorded<StopRequested>> stop_requests;
  std::vector<Recorded<RestartPlanned>> restarts;
  std::vector<Recorded<FailureJudged>> judged;
  std::vector<Recorded<FaultInjected>> faults;  // by a drill
  // Whether faults are injected: its failures say nothing about hosts, and its losses are none of real work.
  bool is_drill() const { return (began && began->drill) || !faults.empty(); }
  std::vector<ReplacementHistory> replacements;
  std::vector<DumpHistory> dumps;  // dump N is dumps[N - 1]
  std::vector<Recorded<CheckpointSeen>> checkpoints;
  // The role whose StopPolicy made a stop begin with a request for a checkpoint, if none was seen since.
  std::optional<std::uint32_t> checkpoint_asked;
  std::vector<Recorded<HostActivated>> activations;
  CodeReport code;
  std::optional<HostsCompared> hosts_compared;
  std::optional<RecordMark> inspected;        // the last comparison of hosts or of the paths between them
  std::optional<RecordMark> prepared;         // the last host that got the code, or was activated
  std::optional<RecordMark> devices_awaited;  // the first wait
  std::optional<RecordMark> bound;
  std::string unready;                                  // why the run could not be prepared
  std::optional<Recorded<FirstFailure>> first_failure;  // as it was seen first, …
  std::optional<FirstFailure> origin;                   // … and as far as it was traced since

  const AttemptHistory& Last(ProcessId process) const { return attempts[process].back(); }
  // Its name, "host7" for a machine that is not known.
  std::string MachineName(std::uint32_t machine) const;
  // When an event of the attempt happened, on the head's clock; if its host's clock is not known, when the head wrote
  // the record.
  template <class E>
  MonotonicNs TimeOf(const AttemptHistory& attempt, const Recorded<E>& event) const {
    return OnHead({attempt.machine, event.at, 0}, clocks).value_or(event.on_head);
  }
};

// Folds the records of a journal, in their order. The plan must outlive it.
//
// A run directory may come from elsewhere, and a journal with correct checksums can name a process that the plan does
// not have. Such records are left out here, once, and counted, so that no reader has to check.
class HistoryFold {
 public:
  explicit HistoryFold(const Plan& plan);

  void Take(JournalRecord record);
  // `stopped`: why there are no more records, as ReadJournal() returns it.
  RunHistory End(std::string stopped) &&;

 private:
  // The last looks at the log of a process that found the same size.
  struct Look {
    std::uint64_t bytes = 0;
    MonotonicNs since = 0;
  };

  void Fold(JournalEntry& entry, const RecordMark& mark);
  AttemptHistory& AttemptOf(ProcessId process, std::uint32_t attempt) { return history_.attempts[process][attempt]; }
  MachineHistory& MachineOf(std::uint32_t machine);
  DumpHistory* DumpOf(std::uint32_t number);
  void Order(const StartOrdered& order, const RecordMark& mark);
  void Stop(const StopOrdered& order);
  void Replace(HostReplaced& replaced, const RecordMark& mark);
  void Dump(const DumpOrdered& order, const RecordMark& mark);
  void See(const OutputSeen& seen, MonotonicNs on_head);
  void EndSilence(ProcessId process, std::uint32_t attempt, std::optional<MonotonicNs> to);

  const Plan& plan_;
  PlanFit fit_;
  RunHistory history_;
  std::vector<std::uint32_t> machine_of_;   // by host of the plan: its last machine
  std::vector<std::optional<Look>> looks_;  // by process; empty before the first look
  std::uint64_t left_out_ = 0;              // records that do not fit the plan
  std::string first_problem_;               // of these
};

// Of the journal in the run directory, of which at most 1 GiB is used. A journal that cannot be read gives an empty
// history with the reason.
RunHistory ReadHistory(const Plan& plan, const std::string& run_dir);

// The plan and the history of a run directory: the input of reports.
struct RecordedRun {
  UniqueFd folder;
  std::shared_ptr<const Plan> plan;  // never null
  RunHistory history;
  bool live = false;  // it has not ended, and a muster process holds the directory
};

// Fails with kind "run" if the folder has no plan, and as PlanFromJson does if the plan is invalid. With `plan`, which
// must be the one in the folder, plan.json is not read: parsing it is most of the work for a plan of many processes.
Result<RecordedRun> ReadRun(const std::string& run_dir, std::shared_ptr<const Plan> plan = nullptr);

}  // namespace muster
