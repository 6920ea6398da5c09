// The cells of the tables: to change what happens when a process ends, change a cell here.
#include "run/supervise/policy_table.h"

#include <array>
#include <cstddef>

namespace muster {
namespace {

template <class E>
constexpr std::size_t At(E member) {
  return static_cast<std::size_t>(member);
}

using ProcessTable = std::array<std::array<ProcessCell, kProcessInputs>, kProcessStates>;

constexpr ProcessTable MakeProcessTable() {
  using S = ProcessState;
  using E = ProcessEffect;
  // Columns: start, started, spawn failed, exited with success, exited badly, stop, kill, lost, renew, rest, rested.
  return {{
      // waiting
      {{{S::kStarting, E::kStart},
        {S::kWaiting, E::kStray},
        {S::kWaiting, E::kStray},
        {S::kWaiting, E::kStray},
        {S::kWaiting, E::kStray},
        {S::kEnded, E::kOver},
        {S::kEnded, E::kOver},
        {S::kEnded, E::kOver},
        {S::kWaiting, E::kNothing},
        {S::kWaiting, E::kNothing},
        {S::kWaiting, E::kNothing}}},
      // starting: an exit may arrive before the report of the start
      {{{S::kStarting, E::kNothing},
        {S::kRunning, E::kNothing},
        {S::kEnded, E::kFailed},
        {S::kEnded, E::kSucceed},
        {S::kEnded, E::kFailed},
        {S::kStopping, E::kSignal},
        {S::kStopping, E::kSignal},
        {S::kEnded, E::kOver},
        {S::kStopping, E::kSignal},
        {S::kStarting, E::kNothing},
        {S::kStarting, E::kNothing}}},
      // running
      {{{S::kRunning, E::kNothing},
        {S::kRunning, E::kStray},
        {S::kRunning, E::kStray},
        {S::kEnded, E::kSucceed},
        {S::kEnded, E::kFailed},
        {S::kStopping, E::kSignal},
        {S::kStopping, E::kSignal},
        {S::kEnded, E::kOver},
        {S::kStopping, E::kSignal},
        {S::kRunning, E::kNothing},
        {S::kRunning, E::kNothing}}},
      // stopping: it was ordered to stop, so no end is a failure; one signal is enough
      {{{S::kStopping, E::kNothing},
        {S::kStopping, E::kNothing},
        {S::kEnded, E::kOver},
        {S::kEnded, E::kOver},
        {S::kEnded, E::kOver},
        {S::kStopping, E::kNothing},
        {S::kStopping, E::kSignal},
        {S::kEnded, E::kOver},
        {S::kStopping, E::kNothing},
        {S::kStopping, E::kNothing},
        {S::kStopping, E::kNothing}}},
      // resting: its next attempt is not due yet
      {{{S::kResting, E::kNothing},
        {S::kResting, E::kStray},
        {S::kResting, E::kStray},
        {S::kResting, E::kStray},
        {S::kResting, E::kStray},
        {S::kEnded, E::kOver},
        {S::kEnded, E::kOver},
        {S::kEnded, E::kOver},
        {S::kResting, E::kNothing},
        {S::kResting, E::kNothing},
        {S::kWaiting, E::kNothing}}},
      // ended
      {{{S::kEnded, E::kNothing},
        {S::kEnded, E::kStray},
        {S::kEnded, E::kStray},
        {S::kEnded, E::kStray},
        {S::kEnded, E::kStray},
        {S::kEnded, E::kNothing},
        {S::kEnded, E::kNothing},
        {S::kEnded, E::kNothing},
        {S::kResting, E::kNothing},
        {S::kResting, E::kNothing},
        {S::kEnded, E::kNothing}}},
  }};
}

using JobRow = std::array<JobCell, kJobInputs>;
using JobTable = std::array<JobRow, kPhases>;

struct JobRule {
  JobInput input;
  Phase next;
  std::uint32_t effects;
};

// The rules of a phase; inputs without a rule deliberately change nothing.
template <std::size_t N>
constexpr JobRow Row(Phase phase, const JobRule (&rules)[N]) {
  JobRow row{};
  for (JobCell& cell : row) cell = {phase, kDecided};
  for (const JobRule& rule : rules) row[At(rule.input)] = {rule.next, rule.effects | kDecided};
  return row;
}

constexpr JobTable MakeJobTable() {
  using I = JobInput;
  using P = Phase;
  constexpr JobRule kAtWork[] = {
      {I::kUnready, P::kStopping, kBlame | kStopAll},  // other ports were needed, and there are none
      {I::kAllReady, P::kRunning, 0},
      {I::kFailed, P::kStopping, kBlame | kStopAll},
      {I::kMustsEnded, P::kLingering, kLinger},
      {I::kAllEnded, P::kFinishing, kFinishAll},
      {I::kLost, P::kStopping, kBlame | kStopAll},
      {I::kStop, P::kStopping, kBlame | kStopAll},
      {I::kStopAtOnce, P::kStopping, kBlame | kKillAll},
      {I::kInsist, P::kFinishing, kBlame | kFinishAll},
      {I::kTimePassed, P::kStopping, kBlame | kStopAll},
      {I::kStopOverdue, P::kFinishing, kBlame | kFinishAll},  // of processes that were stopped for a restart
  };
  JobTable table{};
  table[At(P::kPreparing)] = Row(P::kPreparing, {
                                                    {I::kBegin, P::kStarting, kStartAll},
                                                    {I::kUnready, P::kFinishing, kBlame | kFinishAll},
                                                    {I::kLost, P::kFinishing, kBlame | kFinishAll},
                                                    {I::kStop, P::kFinishing, kBlame | kFinishAll},
                                                    {I::kStopAtOnce, P::kFinishing, kBlame | kFinishAll},
                                                    {I::kInsist, P::kDone, kBlame | kEnd},
                                                });
  table[At(P::kStarting)] = Row(P::kStarting, kAtWork);
  table[At(P::kRunning)] = Row(P::kRunning, kAtWork);
  // The work is done: the time limit no longer applies, but a server that fails now is still a failure.
  table[At(P::kLingering)] = Row(P::kLingering, {
                                                    {I::kFailed, P::kStopping, kBlame | kStopAll},
                                                    {I::kAllEnded, P::kFinishing, kFinishAll},
                                                    {I::kLost, P::kStopping, kBlame | kStopAll},
                                                    {I::kStop, P::kStopping, kBlame | kStopAll},
                                                    {I::kStopAtOnce, P::kStopping, kBlame | kKillAll},
                                                    {I::kInsist, P::kFinishing, kBlame | kFinishAll},
                                                    {I::kLingerPassed, P::kLingering, kStopRole},
                                                    {I::kStopOverdue, P::kFinishing, kBlame | kFinishAll},
                                                });
  table[At(P::kStopping)] = Row(P::kStopping, {
                                                  {I::kAllEnded, P::kFinishing, kFinishAll},
                                                  {I::kStopAtOnce, P::kStopping, kKillAll},
                                                  {I::kInsist, P::kFinishing, kFinishAll},
                                                  {I::kStopOverdue, P::kFinishing, kFinishAll},
                                              });
  table[At(P::kFinishing)] = Row(P::kFinishing, {
                                                    {I::kLost, P::kFinishing, kBlame},
                                                    {I::kInsist, P::kDone, kBlame | kEnd},
                                                    {I::kFinishOverdue, P::kDone, kBlame | kEnd},
                                                    {I::kAgentsEmpty, P::kDone, kEnd},
                                                });
  table[At(P::kDone)] = Row(P::kDone, {{I::kBegin, P::kDone, 0}});
  return table;
}

constexpr ProcessTable kProcessTable = MakeProcessTable();
constexpr JobTable kJobTable = MakeJobTable();

}  // namespace

const ProcessCell& Decide(ProcessState state, ProcessInput input) { return kProcessTable[At(state)][At(input)]; }

const JobCell& Decide(Phase phase, JobInput input) { return kJobTable[At(phase)][At(input)]; }

}  // namespace muster
