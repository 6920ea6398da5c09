#include "agent/program/containment.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace muster {
namespace {

// Whether the text consists of letters, digits and hyphens, so that it is safe in a file name.
bool IsWord(const std::string& text) {
  return !text.empty() && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
}

}  // namespace

bool Containment::Begin(const Hello& hello, AgentReady& ready) {
  Launcher& launcher = state_.process.launcher;
  ready.mechanisms = MechanismNames(launcher.mechanisms());
  ready.mechanisms.emplace_back("subreaper");
  if (guard_) ready.mechanisms.emplace_back("guard");
  guard_.KnowLease(hello.lease_ms);
  if (state_.space) {
    ready.mechanisms.emplace_back("pid-namespace");
    state_.means.insert("pid-namespace");
  }
  if (!state_.process.without.Has(Mechanism::kCgroup) && IsWord(hello.run_id)) {
    auto made = Cgroup::MakeBelowOwn(fmt::format("muster-{}-{}-{}", hello.run_id, state_.host, ready.pid));
    if (made) cgroup_.emplace(*std::move(made));
    if (cgroup_) guard_.KnowCgroup(cgroup_->path());
  }
  if (!cgroup_) return false;
  const bool enters = !launcher.StartIn(cgroup_->Open());
  ready.mechanisms.emplace_back(enters ? "cgroup-entered" : "cgroup");
  ready.cgroup = cgroup_->path();
  return enters;
}

void Containment::Enter() {
  if (cgroup_ && !cgroup_->Enter()) cgroup_.reset();
}

void Containment::Kill() {
  if (cgroup_ && cgroup_->Kill()) state_.means.insert("cgroup.kill");
}

}  // namespace muster
