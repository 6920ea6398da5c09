// A run that goes on: what run/session/run_request.h promises, as one object. Its parts are run_request.cc, its life,
// session_requests.cc, who asks something of it, session_ports.cc, what it is bound to, session_devices.cc, its devices
// and cores, session_hosts.cc, other hosts, session_preflight.cc, what is looked at there before anything starts,
// session_code.cc, the code that is run, and session_checkpoints.cc, what it goes on from.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "code/git_look.h"
#include "muster/binding.h"
#include "plan/environment/site_environment.h"
#include "run/console/terminal_link.h"
#include "run/control/control_server.h"
#include "run/directory/live_heads.h"
#include "run/directory/run_directory.h"
#include "run/hosts/inspect_hosts.h"
#include "run/hosts/path_matrix.h"
#include "run/journal/journal.h"
#include "run/journal/journal_writer.h"
#include "run/loop/signal_state.h"
#include "run/session/checkpoint_watch.h"
#include "run/session/run_request.h"
#include "run/start/code_shipment.h"
#include "run/start/start_specs.h"
#include "run/supervise/process_roll.h"
#include "run/supervise/run_status.h"
#include "run/supervise/start_window.h"
#include "run/supervise/supervisor.h"
#include "run/supervise/timer_queue.h"

namespace muster {

// On a loop that may be that of many: what it has left there when it goes does nothing any more.
class Session : public std::enable_shared_from_this<Session> {
 public:
  using Ended = std::function<void(RunOutcome)>;

  // `io` and `transport` must outlive it. `ended` is called from the loop, once, as the last thing that happens; the
  // session may be given up in it.
  Session(boost::asio::io_context& io, std::shared_ptr<const RunRequest> held, Transport& transport, Ended ended)
      : held_(std::move(held)),
        request_(*held_),
        transport_(transport),
        plan_(request_.plan),
        io_(io),
        told_of_end_(std::move(ended)),
        clock_(request_.make_clock ? request_.make_clock(io_) : SystemRunClock(io_)),
        signals_(io_),
        surroundings_{InheritedAtSite(plan_.site_environment, request_.environment), request_.cwd,
                      request_.search_dirs},
        supervisor_(plan_, request_.spares),
        roll_(plan_),
        starts_(plan_, binding_, surroundings_),
        console_(io_, request_.console, plan_),
        elsewhere_(!request_.hosts.empty() && transport.name() != "local"),
        agents_(supervisor_.slots().machines()) {}

  // Everything up to the moment from which the loop carries it on; if that fails nothing has been started, and `ended`
  // is never called.
  Result<void> Begin();
  // As `muster stop` does.
  void StopAsked(bool now) { CommandedToStop(now, false); }
  // Where it would have listened for commands after a while.
  void ListenNow();

 private:
  struct Agent {
    std::unique_ptr<Channel> channel;
    std::string host_name;
    std::string refusal;                                     // AgentFailed::why
    bool answered = false;                                   // there is an agent
    std::optional<AgentUnreachable> refused = std::nullopt;  // there is none
    std::string address;                                     // by which it was reached
    bool shares_run_dir = true;
    bool warned_of_files = false;
    bool warned_of_strays = false;
    std::optional<Allot> asked;          // of its host
    std::vector<std::string> devices;    // that it gave, by the plan's number
    std::vector<std::string> inherited;  // what processes inherit there, once it is activated
    std::unique_ptr<CodeShipment> shipment;
    std::uint64_t inspect_sent_at = 0;       // by our wall clock
    std::optional<InspectedHost> inspected;  // what preflight found
    std::optional<std::uint16_t> path_port;  // where it listens for others that try
    std::optional<PathsTried> paths_tried;
    bool ready = false;  // it is activated, its ports are held, and all that was asked is given
    bool over = false;
    // A spare that is being made ready to take the place of a host of the plan.
    struct Taking {
      std::uint32_t host = 0;
      Binding before;  // what the files of the run were made with
    };
    std::optional<Taking> taking;
  };

  Result<void> MakeDirectory();
  // At once, or where a run may be over sooner than anybody can ask for it, after a while.
  void ListenForCommands();
  void Listen();
  // As the user named it; null for this machine alone. Hosts here and below are machines (run/supervise/host_slots.h),
  // but where it says that they are the plan's.
  const SiteHost* NamedBy(std::uint32_t host) const;
  // As the user named it, else the plan's label.
  const std::string& NameOf(std::uint32_t host) const;
  void Connect();
  void Greet();
  Result<void> OpenTerminal();
  void CatchSignals();
  void AwaitSignal();
  // An end was asked for: `times` as in StopRequested, `signal` 0 if a command asked.
  void RequestStop(std::uint32_t times, int signal, bool dump = false);
  // Of its agent, which is lost else.
  void ExpectAnswer(std::uint32_t host, bool at_once);
  bool CommandedToStop(bool now, bool dump);
  tl::expected<std::uint32_t, std::string> CommandedToDump();
  RunStatus Status() const;
  ProcessStatuses Processes() const;

  void OnMessage(std::uint32_t host, ChannelMessage message);
  void OnStray(std::uint32_t host, const StrayMessage& stray);
  void OnReady(std::uint32_t host, const AgentReady& ready);
  void OnActivated(std::uint32_t host, HostActivated told);
  // It is as every host is to be: now what the plan's host wants that it stands for.
  void OnUsable(std::uint32_t host);
  // What processes of that host of the plan find is from now on what they find on this one.
  void TakeSurroundings(std::uint32_t host, std::uint32_t place);
  // The host of the plan that it is made ready for.
  std::uint32_t PlaceOf(std::uint32_t host) const;
  void HoldPortsOf(std::uint32_t host);
  void OnPortsHeld(std::uint32_t host, const PortsHeld& held);
  // Empty, with the binding's ports replaced, or why they are not.
  std::string TakePorts(std::uint32_t host, const PortsHeld& held, PortChoice asked);
  void OnPrepared(std::uint32_t host);
  void CannotPrepare(std::uint32_t host, const std::string& why);
  void BeginIfReady();
  // By which processes find the host.
  std::string AddressOf(std::uint32_t host) const;
  HostBinding BindingOf(std::uint32_t host) const;
  Result<void> Bind();
  Result<void> DefineEnvironments();
  void OrderRebinding();
  // What was made with that binding is made anew, where what has changed stands in it.
  Result<void> Rebind(const Binding& before);
  void OrderReplacement(const ReplaceOrdered& order);
  // `lost`: the name of the host whose place it is.
  void Replaced(const std::string& lost, HostReplaced replaced);
  void Unready(const std::string& why);

  // --- devices and cores (session_devices.cc) ---
  void AskAllotment(std::uint32_t host);
  // Hosts whose devices are waited for one after the other: the next of them, once all have come so far.
  void AskInTurn();
  void OnDevicesAwaited(std::uint32_t host, DevicesAwaited awaited);
  void OnAllotted(std::uint32_t host, const Allotted& allotted);
  // Empty: devices are waited for no more.
  void Waits(std::string for_what, const std::string& holders);

  // --- other hosts (session_hosts.cc) ---
  // The file by which an agent sees that it has the same run directory.
  Result<void> LayProbe();
  // There is no agent on the host; what follows is decided when that is known of every host.
  void Refused(std::uint32_t host, AgentUnreachable why);
  void JudgeRefusals();
  // Once the end is ordered: nothing more comes from them.
  void TellRefused();
  // To the hosts that do not see them.
  void PutFiles(const std::map<std::string, std::string>& files);
  void OnFileBytes(std::uint32_t host, const FileBytes& bytes);
  void OnFilesSent(std::uint32_t host);

  // --- before the first process, on several hosts (session_preflight.cc) ---
  bool looks_first() const { return elsewhere_ && request_.preflight.has_value(); }
  void Look(std::uint32_t host);
  void OnInspected(std::uint32_t host, const Inspected& told);
  void OnPathsOpen(std::uint32_t host, const PathsOpen& open);
  void OnPathsTried(std::uint32_t host, const PathsTried& tried);
  // Once all agents have told the same; false if it was not theirs to tell.
  bool All(bool (*has)(const Agent&)) const;
  void JudgeHosts();
  void OpenWays();
  void JudgeWays();

  // --- the code of the run (session_code.cc) ---
  void Ship(std::uint32_t host);
  // What the agent says of it; the phrase says why it cannot go on.
  void Shipping(std::uint32_t host, const std::string& error);
  void OnCodeReady(std::uint32_t host, const CodeReady& ready);
  // The host can be made ready: its activation, ports and devices are next.
  void Furnish(std::uint32_t host);
  // "34 of 120 MB of code sent"; empty if none is on its way.
  std::string ShippingText() const;
  void AskGit();
  void OnGitState(const std::optional<GitState>& state);

  // --- checkpoints (session_checkpoints.cc) ---
  // What was there before this run is not its own.
  void NoteEarlierCheckpoints();
  // What is started from now on goes on from this run's newest one, if it has written any.
  void FindCheckpoint();
  // While the supervisor waits for one.
  void WatchCheckpoints();

  // A host failed by itself.
  void Blame(std::uint32_t host, const std::string& why);

  void Happened(const Event& event);
  // Joins the user's terminal to a pseudo-terminal that was opened, and parts it from one that is gone.
  void LendTerminal(const Event& event);
  void Perform(const std::vector<Action>& actions);
  // --- starts (session_starts.cc) ---
  void Start(const StartOrdered& order);
  // Those that the window has room for now; the others follow by themselves.
  void SendStarts();
  void SendAllStarts();
  void SendStart(const StartWindow::Start& start);
  void OnStartAnswered(std::uint32_t host);

  void Stop(const StopOrdered& order);
  void Dump(const DumpOrdered& order);
  void Send(std::uint32_t host, const AgentCommand& command);
  void SetAlarm();
  void OnAlarm();
  // Written before anything more is said to an agent, and at the end of this turn of the loop at the latest.
  void Record(JournalEntry entry);
  void WriteJournal();
  void End();

  // From the loop, unless the session has gone by then.
  template <class Method>
  void Later(Method method) {
    boost::asio::post(io_, [weak = weak_from_this(), method = std::move(method)] {
      if (const auto self = weak.lock()) method();
    });
  }

  const std::shared_ptr<const RunRequest> held_;
  const RunRequest& request_;
  Transport& transport_;
  const Plan& plan_;
  boost::asio::io_context& io_;
  const Ended told_of_end_;
  std::unique_ptr<RunClock> clock_;
  boost::asio::signal_set signals_;
  Surroundings surroundings_;
  Supervisor supervisor_;
  ProcessRoll roll_;
  Binding binding_;
  Starts starts_;
  Console console_;
  std::optional<TerminalLink> terminal_;  // the user's, where a process is to have it
  std::string plan_id_;
  std::optional<RunDirectory> directory_;
  LiveHead announced_;  // not of a trial: its sweep's head is
  std::optional<JournalWriter> journal_;
  std::optional<CheckpointPlace> checkpoints_;  // with its folder as a path
  std::set<Checkpoint> earlier_checkpoints_;
  std::optional<CheckpointWatch> checkpoint_watch_;
  UniqueFd logs_;
  TimerQueue timers_;
  MonotonicNs began_at_ = 0;
  std::uint32_t stops_asked_ = 0;
  bool elsewhere_ = false;          // agents may be on other hosts than this
  std::optional<Binding> before_;   // while other ports are looked for: what the files of the run were made with
  std::uint32_t closings_due_ = 0;  // of agents that still listen for tries
  std::uint32_t answers_due_ = 0;   // of agents that look for them
  std::string rebinding_error_;
  std::vector<std::uint32_t> in_turn_;  // whose devices are asked for one after the other, in that order
  std::size_t asked_in_turn_ = 0;       // how many of them have been
  MonotonicNs waits_since_ = 0;         // the first of them was
  std::string waits_;                   // for devices, and who has them
  enum class Preflighting : std::uint8_t { kLooking, kOpening, kTrying, kClosing, kDone };
  Preflighting preflighting_ = Preflighting::kLooking;
  std::vector<std::vector<PathTry>> tries_;      // of each host
  std::map<std::uint32_t, std::string> blamed_;  // hosts that failed by themselves, and why
  std::unique_ptr<GitLook> git_;                 // while git is asked
  bool end_waits_ = false;                       // for it
  StartWindow start_window_;
  bool starts_due_ = false;  // in the next turn of the loop
  bool ended_ = false;
  bool journal_due_ = false;  // to be written
  std::string to_publish_;    // lines of it for those who watch, once it is written
  bool warned_of_journal_ = false;
  RunOutcome outcome_;
  std::optional<boost::asio::steady_timer> listening_;  // not yet
  std::unique_ptr<ControlServer> control_;
  std::vector<Agent> agents_;  // last: their channels go first
};

}  // namespace muster
