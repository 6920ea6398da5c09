#include "transport/start_command.h"

#include <algorithm>
#include <csignal>
#include <string_view>
#include <utility>
#include <vector>

#include "base/values/shell_quote.h"
#include "transport/own_environment.h"

namespace muster {
namespace {

constexpr std::size_t kLongestStartLine = 300;

}  // namespace

tl::expected<std::shared_ptr<StartCommand>, std::string> StartCommand::Run(boost::asio::io_context& io,
                                                                           Launcher& launcher, const AgentStart& start,
                                                                           std::function<void()> ended) {
  if (start.argv.empty()) return tl::unexpected<std::string>("the command that starts agents is empty");
  const std::string& program = start.argv.front();
  std::shared_ptr<StartCommand> made(new StartCommand(io, program.substr(program.rfind('/') + 1)));
  const std::vector<std::string> environment = ChangedEnvironment(start.environment);
  SpawnSpec spec;
  spec.argv = start.argv;
  for (const std::string& variable : environment) spec.env.push_back(variable.c_str());
  auto command =
      WatchedCommand::Start(io, launcher, std::move(spec), [weak = std::weak_ptr(made), ended = std::move(ended)] {
        const auto self = weak.lock();
        if (!self) return;
        self->command_->Take();
        self->timer_.cancel();
        ended();
      });
  if (!command) return tl::unexpected<std::string>("`" + made->name_ + "` cannot be started: " + command.error());
  made->command_ = std::move(*command);
  return made;
}

std::string StartCommand::EndPhrase() const {
  std::string phrase = "`" + name_ + "` " + (over() ? EndText(*command_->end()) : "runs");
  if (const std::string words = LastWords(); !words.empty()) phrase += ": " + words;
  return phrase;
}

std::string StartCommand::LastWords() const {
  std::string_view words = command_->Words();
  const std::size_t end = words.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  words = words.substr(0, end + 1);
  words = words.substr(words.find_last_of("\r\n") + 1);  // from the beginning if there is none
  return Printable(words.substr(0, kLongestStartLine));
}

void StartCommand::EndSoon() {
  if (over() || std::exchange(ending_, true)) return;
  SignalAfter(kPartingTime, SIGTERM);
}

void StartCommand::SignalAfter(std::chrono::milliseconds time, int signal) {
  timer_.expires_after(time);
  timer_.async_wait([weak = weak_from_this(), signal](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->over()) return;
    self->Signal(signal);
    if (signal != SIGKILL) self->SignalAfter(kTermTime, SIGKILL);
  });
}

void StartCommand::Signal(int signal) {
  if (!heard_) heard_ = command_->Words();
  command_->Signal(signal);
}

void StartCommand::EndNow() {
  if (!command_ || over()) return;
  timer_.cancel();
  if (!command_->EndsWithin(kPartingTime)) Signal(SIGTERM);
  if (!command_->EndsWithin(kTermTime)) Signal(SIGKILL);
  command_->Take();
}

}  // namespace muster
