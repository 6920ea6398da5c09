// State shared by the parts of a session: the request, the clock, the console, the journal and the supervisor.
// Records are written to the disk before the commands that follow from them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "muster/binding.h"
#include "muster/event.h"
#include "muster/result.h"
#include "run/console/console.h"
#include "run/directory/run_directory.h"
#include "run/journal/journal.h"
#include "run/session/run_clock.h"
#include "run/session/run_request.h"
#include "run/supervise/supervisor.h"

namespace muster {

// The journal of an active run: records are written to the disk before the commands that follow from them, and then
// sent to the clients that watch the run.

class Console;
class ControlServer;
class RunClock;

class LiveJournal {
 public:
  // All must outlive it.
  LiveJournal(boost::asio::io_context& io, const RunClock& clock, Console& console)
      : io_(io), clock_(clock), console_(console) {}

  // Creates the journal as JournalWriter::Create does; must be called before Record().
  Result<void> Create(int folder, std::uint64_t room);
  // Adds a record. Write(), which is called before the next command to an agent, writes it, at the latest at the end of
  // this iteration of the loop.
  void Record(JournalEntry entry);
  void Write();
  // Called after the last record: writes, and syncs to disk if `sync`.
  void Close(bool sync);
  // Called with each record, before the commands that follow from it.
  void Observe(std::function<void(const JournalEntry&)> saw) { saw_ = std::move(saw); }
  // Sends each written line to the clients of this server, which must outlive all records.
  void PublishTo(ControlServer& clients) { clients_ = &clients; }

  std::uint64_t records() const { return writer_->records(); }
  // Whether all records were written.
  bool complete() const { return writer_->error() == 0; }

 private:
  boost::asio::io_context& io_;
  const RunClock& clock_;
  Console& console_;
  std::optional<JournalWriter> writer_;
  ControlServer* clients_ = nullptr;
  std::function<void(const JournalEntry&)> saw_;
  bool write_due_ = false;
  std::string to_publish_;  // lines for the clients, sent after they are written
  bool warned_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for handlers that are still queued
};

// State shared by the parts of a session: the request, the clock, the console, the journal and the run directory, and
// the interface for reports to the session.

// Reports of the session's parts.
class RunEvents {
 public:
  // Writes the event to the journal, shows it, and performs the decisions of the supervisor.
  virtual void HandleEvent(const Event& event) = 0;
  // The processes cannot be started. `why` is for the user.
  virtual void Abandon(const std::string& why, const std::vector<std::string>& hints) = 0;
  void Abandon(const std::string& why) { Abandon(why, {}); }
  // A preparation was completed: starts the processes if it was the last one.
  virtual void BeginIfReady() = 0;

 protected:
  ~RunEvents() = default;
};

// In all parts of a session, hosts are machines (run/supervise/host_replacement.h); `place` is a host of the plan.
struct LiveRun {
  LiveRun(boost::asio::io_context& loop, const RunRequest& asked, const Supervisor& decides, const Binding& bound,
          bool on_other_hosts, RunEvents& reported)
      : io(loop),
        request(asked),
        plan(asked.plan),
        supervisor(decides),
        binding(bound),
        elsewhere(on_other_hosts),
        events(reported),
        clock(asked.make_clock ? asked.make_clock(loop) : SystemRunClock(loop)),
        console(loop, asked.console, asked.plan),
        journal(loop, *clock, console) {}

  // The host as given by the user; null in a run on this machine alone.
  const SiteHost* NamedBy(std::uint32_t host) const {
    if (request.hosts.empty()) return nullptr;
    return host < request.hosts.size() ? &request.hosts[host] : &request.spares[host - request.hosts.size()];
  }
  // The name given by the user, else the plan's label.
  const std::string& NameOf(std::uint32_t host) const {
    const SiteHost* const named = NamedBy(host);
    return named == nullptr ? plan.hosts[host].label : named->name;
  }
  bool preparing() const { return supervisor.phase() == Phase::kPreparing; }

  // Calls `method` from the loop, unless the session has been destroyed by then.
  template <class Method>
  void Later(Method method) const {
    boost::asio::post(io, [weak = session, method = std::move(method)] {
      if (const auto self = weak.lock()) method();
    });
  }

  boost::asio::io_context& io;
  const RunRequest& request;
  const Plan& plan;
  const Supervisor& supervisor;
  const Binding& binding;
  const bool elsewhere;  // whether agents may be on other hosts
  RunEvents& events;
  const std::unique_ptr<RunClock> clock;
  Console console;
  std::optional<RunDirectory> directory;
  LiveJournal journal;
  std::weak_ptr<void> session;
  std::string plan_id;
  MonotonicNs began_at = 0;
  bool ended = false;  // no further decisions or commands
};

}  // namespace muster
