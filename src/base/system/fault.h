// Fault hooks: named places in head and agent at which a run can be made to fail on purpose, in every build.
//
// This file defines the places and parses fault orders; each place itself implements its failure. A hook that is not
// armed costs one test of a variable. Hooks are armed by the command line only, never by the environment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace muster {

enum class Fault : std::uint8_t {
  kAgentCommand,
  kAgentBeforeClone,
  kAgentAfterClone,
  kAgentBeforeReap,
  kAgentBeforeEmpty,
  kHeadMessage,
  kHeadBeforeJournal,
  kHeadBeforeStart,
  kHeadBeforeStop,
};

struct FaultSite {
  std::string_view name;   // the part before the dot is the program
  std::string_view when;   // when the hook is passed
  std::string_view fails;  // the effect of "fail" there
};

// In the order of Fault; `muster docs faults` shows it.
inline constexpr std::array<FaultSite, 9> kFaultSites = {{
    {"agent.command", "the agent has received a command", "the agent refuses it, ends everything and leaves"},
    {"agent.before_clone", "the agent is about to create a process", "the process cannot be created (EAGAIN)"},
    {"agent.after_clone", "a process runs, and is not recorded yet", "it cannot be watched: it is ended again"},
    {"agent.before_reap", "a process has ended and is not reaped yet", "its status is lost: exit code -1"},
    {"agent.before_empty", "the agent is about to attest that nothing is left", "it says that it failed instead"},
    {"head.message", "the head has received a message of an agent", "it cannot be read: the agent is given up"},
    {"head.before_journal", "records are about to be written", "the disk does not take it (EIO): it is kept for later"},
    {"head.before_start", "a start is about to be sent to an agent", "the start cannot be made (EIO)"},
    {"head.before_stop", "a stop is about to be sent to an agent", "it is not sent"},
}};

enum class FaultAction : std::uint8_t { kDelay, kFail, kKill };
inline constexpr std::array<std::string_view, 3> kFaultActions = {"delay", "fail", "kill"};

struct FaultOrder {
  Fault site = Fault::kAgentCommand;
  FaultAction action = FaultAction::kDelay;
  std::uint32_t number = 0;  // delay: milliseconds, each time; fail, kill (SIGKILL to itself): at this passing, from 1
};

// Parses "SITE:ACTION:N"; the error is a phrase for people.
tl::expected<FaultOrder, std::string> ParseFault(std::string_view text);

// Arms the hook from now on. Several orders add up; for each passing the first order that applies is followed.
void ArmFault(const FaultOrder& order);

namespace fault_detail {
extern bool armed;
bool Pass(Fault site);
}  // namespace fault_detail

// Passes the site: waits, or ends the process, if an order says so. True if the site must fail now.
inline bool FailsHere(Fault site) { return fault_detail::armed && fault_detail::Pass(site); }

}  // namespace muster
