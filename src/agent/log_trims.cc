#include "agent/log_trims.h"

namespace muster {

LogTrims::LogTrims(boost::asio::io_context& io, Launcher& launcher, std::string program, std::function<void()> idle)
    : program_(std::move(program)),
      cutters_(io, launcher,
               {.exited =
                    [this, idle = std::move(idle)](const ProcessExited& event) {
                      if (const auto again = again_.extract({event.process, event.attempt})) {
                        Cut(again.key(), again.mapped());
                      }
                      if (cutters_.empty()) idle();
                    },
                .signalled = [](const SignalSent&) {}}) {}

void LogTrims::TooLong(const Key& key, const std::string& log_path) {
  if (cutters_.Runs(key.first, key.second)) {
    again_[key] = log_path;
  } else {
    Cut(key, log_path);
  }
}

void LogTrims::Cut(const Key& key, const std::string& log_path) {
  SpawnSpec spec;
  spec.argv = {program_, "--collapse", log_path};
  spec.cwd = "/";
  // One that cannot be started is tried again when the log grows.
  static_cast<void>(cutters_.Start(key.first, key.second, std::move(spec)));
}

}  // namespace muster
