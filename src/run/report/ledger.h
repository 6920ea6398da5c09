// The ledger of device time: for what the time of the devices that runs held was used, from their histories, over
// restarts, spares and runs that continue others.
//
// The computation (LedgerOf) is a function of values, in whole nanoseconds, so that its rows add up exactly. What is
// not known has a row of its own and is never divided among others. docs/ledger.md describes the rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/plan.h"
#include "run/journal/run_history.h"
#include "wire/archive/json_fields.h"

namespace muster {

// What the time of a device was used for. Those from kUnrecorded on say why it is not known; they are one row.
enum class LedgerRow : std::uint8_t {
  kQueued,
  kAwaitingDevices,
  kPlace,
  kInspect,
  kShip,
  kStart,
  kReady,
  kKept,
  kLost,
  kCheckpoint,
  kSilent,
  kStopping,
  kIdle,
  kUnrecorded,      // the journal does not say
  kActive,          // work of a run that has not ended, after its newest checkpoint
  kCheckpointTime,  // work that may be in a checkpoint: when that was written, or whether there is one, is not known
  kStopped,         // work of a run that its user stopped, and whose recipe names no checkpoints
  kWriting,         // a checkpoint was written: whether the work went on meanwhile is not known
};
inline constexpr std::size_t kLedgerRows = 18;
inline constexpr std::size_t kFirstUnknownRow = 13;
// "queued", "starting_place", …; from kFirstUnknownRow on the reasons, "unrecorded", …
std::string_view LedgerRowName(LedgerRow row);
inline constexpr std::string_view kUnknownRowName = "unknown";

// Nanoseconds × devices: 128 bits, since ten thousand devices exceed 64 in three weeks.
__extension__ using DeviceNs = unsigned __int128;
// "12.000000001": seconds, exactly.
std::string ExactSeconds(DeviceNs amount);
double SecondsOf(DeviceNs amount);

struct Ledger {
  std::array<DeviceNs, kLedgerRows> rows = {};
  std::uint64_t runs = 0;
  // Of them those that a drill has broken: what they lost is no loss of real work. In `rows` and `runs`, too.
  std::array<DeviceNs, kLedgerRows> drilled = {};
  std::uint64_t drills = 0;

  DeviceNs& Of(LedgerRow row) { return rows[static_cast<std::size_t>(row)]; }
  DeviceNs Of(LedgerRow row) const { return rows[static_cast<std::size_t>(row)]; }
  DeviceNs Unknown() const;
  DeviceNs Total() const;
  Ledger& operator+=(const Ledger& other);

  bool operator==(const Ledger&) const = default;
};

// Runs with devices are counted by these, others by their processes: the two cannot be added.
struct Ledgers {
  Ledger devices;
  Ledger process_slots;

  bool operator==(const Ledgers&) const = default;
};

// While a checkpoint was written no log of the run grew. On the head's clock.
struct CheckpointWrite {
  MonotonicNs from = 0;
  MonotonicNs to = 0;
  bool stalled = false;  // whether that shows that the work stood still, because logs grew as often before and after

  bool operator==(const CheckpointWrite&) const = default;
};

// A run as its ledger needs it.
struct LedgerRun {
  std::shared_ptr<const Plan> plan;  // never null
  RunHistory history;                // with its first record
  MonotonicNs until = 0;             // its end, or its last sign of life, on the head's clock
  bool live = false;
  bool allocated = false;       // it holds all devices of its hosts, as in an allocation of an engine
  bool result_used = false;     // its result was used although it was stopped: a trial that early stopping ended
  std::uint64_t queued_ns = 0;  // before it began
  // When the newest checkpoint of its own was written, in UTC; 0: there is none; empty: not known.
  std::optional<std::uint64_t> newest_wall_ns;
  std::vector<CheckpointWrite> writes;
  std::optional<std::size_t> continues;  // the run, of those that are given, from whose checkpoint it continued

  // The plan gives devices to processes.
  bool has_devices() const;
  std::uint64_t WallOf(MonotonicNs on_head) const;
};

// Of each run, in the same order. `continues` of a run names another run, and following it never leads back.
std::vector<Ledger> LedgersOf(std::span<const LedgerRun> runs);
// Their sums.
Ledgers LedgerOf(std::span<const LedgerRun> runs);

// The id of the run from whose checkpoint the run continued; empty: it started without one.
std::string ContinuedRun(const RunHistory& history);

// Lines for a terminal, each with a newline. `counts`: "device", "process slot".
std::string LedgerText(const Ledger& ledger, std::string_view counts);

// Its parts in JSON, with exact seconds, whose forms LedgerForms has (wire/archive/json_fields.h).
struct LedgerSeconds {
  DeviceNs amount = 0;
};
struct LedgerForms : PartForms {
  using PartForms::Put;
  using PartForms::Schema;
  static void Put(JsonOutput& out, const LedgerSeconds& seconds) { out.PutWord(ExactSeconds(seconds.amount)); }
  static std::string Schema(auto& v, const LedgerSeconds& seconds) { return v.Of(SecondsOf(seconds.amount)); }
};
struct PrintedDrills {
  std::uint64_t runs = 0;
  InOrder<LedgerSeconds> rows;
  LedgerSeconds total;
};
template <class V>
void Parts(V& v, const PrintedDrills& drills) {
  v("runs", drills.runs), v("rows", drills.rows), v("total", drills.total);
}
struct PrintedLedger {
  std::string counts;
  std::uint64_t runs = 0;
  PrintedDrills drills;
  InOrder<LedgerSeconds> rows;
  InOrder<LedgerSeconds> unknown;  // by reason
  LedgerSeconds total;
};
template <class V>
void Parts(V& v, const PrintedLedger& ledger) {
  v("counts", ledger.counts), v("runs", ledger.runs), v("drills", OnlyIf(ledger.drills.runs > 0, ledger.drills));
  v("rows", ledger.rows), v("unknown", ledger.unknown), v("total", ledger.total);
}
PrintedLedger PrintedOf(const Ledger& ledger, std::string_view counts);

}  // namespace muster
