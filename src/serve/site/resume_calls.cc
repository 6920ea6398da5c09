#include "serve/site/resume_calls.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/values/quoting.h"
#include "serve/site/refusal.h"
#include "spawn/start/limited_command.h"

namespace muster {
namespace {

// A command that waits longer for devices is ended, and its sweep with it: it has not begun.
constexpr std::chrono::hours kMostWait{24};
constexpr std::chrono::seconds kBrowserPatience{10};

}  // namespace

struct ResumeCalls::Call {
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;
  explicit Call(boost::asio::io_context& io) : patience(io.get_executor()) {}

  void Answer(HttpAnswer answer) {
    if (const Reply then = std::exchange(reply, nullptr)) then(std::move(answer));
  }

  std::shared_ptr<LimitedCommand> command;
  Timer patience;
  Reply reply;
};

ResumeCalls::ResumeCalls(boost::asio::io_context& io) : io_(io) {}

ResumeCalls::~ResumeCalls() = default;

void ResumeCalls::Begin(const std::string& dir, Reply reply) {
  if (calls_.contains(dir)) return reply(RefusedAnswer(409, "the sweep is being resumed"));
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return reply(RefusedAnswer(500, "the program muster is not found"));
  SpawnSpec spec;
  spec.argv = {program, "resume", dir, "--detach"};
  for (char** variable = environ; *variable != nullptr; ++variable) spec.env.push_back(*variable);
  auto call = std::make_unique<Call>(io_);
  call->reply = std::move(reply);
  auto command = LimitedCommand::Start(
      io_, launcher_, std::move(spec), {}, kMostWait, [this, dir](const LimitedCommand::End& end) {
        const auto ended = calls_.extract(dir);
        if (ended.empty()) return;
        const bool well = !end.process.signalled && end.process.code == 0;
        ended.mapped()->Answer(well ? JsonAnswer(200, R"({"ok": true})") : RefusedAnswer(409, ErrorIn(end.words)));
      });
  if (!command) return call->Answer(RefusedAnswer(500, "muster resume cannot be called: " + command.error()));
  call->command = *std::move(command);
  call->patience.expires_after(kBrowserPatience);
  call->patience.async_wait([one = call.get()](const boost::system::error_code& stopped) {
    if (!stopped) one->Answer(JsonAnswer(200, R"({"ok": true, "waits": true})"));
  });
  calls_.emplace(dir, std::move(call));
}

std::string ErrorIn(const std::string& words) {
  constexpr std::string_view kError = "error: ";
  constexpr std::string_view kHint = "hint: ";
  std::string error;
  std::string hint;
  std::string last;
  std::string_view rest = words;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    while (line.starts_with(' ')) line.remove_prefix(1);
    if (line.empty()) continue;
    last = line;
    const std::size_t at = line.find(kError);
    if (error.empty() && at != std::string_view::npos) error = line.substr(at + kError.size());
    if (hint.empty() && line.starts_with(kHint)) hint = line.substr(kHint.size());
  }
  if (error.empty()) return last.empty() ? "muster resume failed" : Printable(last);
  return Printable(hint.empty() ? error : error + " (" + hint + ")");
}

}  // namespace muster
