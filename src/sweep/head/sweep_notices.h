// Sends the notifications of a sweep: adds to the notices of SweepNoticeMaker what all notices have, and
// sends. Its trials send none. Does nothing in a sweep without notifications.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "run/notify/notifier.h"
#include "sweep/head/sweep_head.h"
#include "sweep/head/sweep_notice_maker.h"
#include "sweep/record/sweep_progress.h"

namespace muster {

class SweepNotices {
 public:
  struct Calls {
    std::function<std::uint64_t()> running;  // trials
    std::function<void(const std::string& text)> warn;
  };

  // All must outlive it.
  SweepNotices(boost::asio::io_context& io, const SweepRequest& request, const SweepProgress& account, Calls calls);

  // Before the account takes the entry.
  void Saw(const SweepEntry& entry);
  void Reported(TrialNumber trial, const MetricReport& report);
  // After the account has taken the end of a trial.
  void TrialEnded();
  // After the last entry: calls `done` once all has been sent, or NotifierTimes::end has passed.
  void Finish(std::function<void()> done);
  void GiveUp();

 private:
  void Send(Notice notice);
  double Seconds() const;

  const SweepRequest& request_;
  const SweepProgress& account_;
  const Calls calls_;
  std::unique_ptr<SweepNoticeMaker> maker_;
  std::unique_ptr<Notifier> notifier_;
  std::uint64_t began_ns_ = 0;
  std::string started_at_;
};

}  // namespace muster
