#include "evaluator/evaluator_fork_server.h"

#include <string>
#include <utility>
#include <vector>

#include <sys/socket.h>

#include "base/system/pass_descriptors.h"
#include "evaluator/child.h"
#include "spawn/start/reap.h"

namespace muster {

EvaluatorForkServer::~EvaluatorForkServer() { Lose(); }

void EvaluatorForkServer::Lose() {
  control_.reset();
  if (!process_) return;
  KillChild(process_->ref());
  ReapAtEnd(process_->ref());
  process_.reset();
}

bool EvaluatorForkServer::Ask(const EvaluatorEndpoints& ends) {
  if (process_ && HasEnded(process_->ref())) Lose();
  if (!process_) {
    if (started_ == kMostForkServers) return false;
    ++started_;
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return false;
    control_.reset(sockets[0]);
    const UniqueFd theirs(sockets[1]);
    std::vector<std::string> words;
    if (schema_too_) words.emplace_back(kWithSchema);
    auto spawned = SpawnEvaluator(start_, kForkServerArgument, words, theirs.get(), -1);
    if (!spawned) return false;
    process_ = *std::move(spawned);
  }
  return PassDescriptors<2>(control_.get(), {ends.theirs.get(), ends.page->fd()});
}

Result<std::unique_ptr<EvaluatorProcess>> EvaluatorForkServer::Fork() {
  auto ends = EvaluatorEndpoints::Make(pages_.Take());
  if (!ends) return Fail(ends.error());
  if (!Ask(*ends)) return EvaluatorProcess::Start(start_);
  ends->theirs.reset();
  return std::make_unique<EvaluatorProcess>(*std::move(ends), mechanisms_);
}

}  // namespace muster
