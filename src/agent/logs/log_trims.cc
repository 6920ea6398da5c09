#include "agent/logs/log_trims.h"

#include "agent/logs/log_collapse.h"

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

void LogTrims::TooLong(const Key& key, const FileBelow& log) {
  if (cutters_.Runs(key.first, key.second)) {
    again_[key] = log;
  } else {
    Cut(key, log);
  }
}

void LogTrims::Cut(const Key& key, const FileBelow& log) {
  SpawnSpec spec;
  spec.argv = {program_, "--collapse", log.path};
  spec.cwd = "/";
  spec.passed.push_back({log.directory, kCollapseDirectory});
  // If it cannot be started, it is tried again when the log grows.
  static_cast<void>(cutters_.Start(key.first, key.second, std::move(spec)));
}

}  // namespace muster
