// State shared by the parts of a session: the request, the clock, the console, the journal and the run directory, and
// the interface for reports to the session.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "muster/binding.h"
#include "muster/event.h"
#include "run/console/console.h"
#include "run/directory/run_directory.h"
#include "run/loop/run_clock.h"
#include "run/session/live_journal.h"
#include "run/session/run_request.h"
#include "run/supervise/supervisor.h"

namespace muster {

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

// In all parts of a session, hosts are machines (run/supervise/host_slots.h); `place` is a host of the plan.
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
