#include "evaluator/evaluator_stem.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <sys/socket.h>

#include "evaluator/child.h"
#include "spawn/reap.h"

namespace muster {
namespace {

// A byte with both descriptors. False if it cannot be sent at once.
bool SendEnds(int control, int socket, int page) {
  char byte = 0;
  iovec bytes{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> room{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(2 * sizeof(int));
  const int descriptors[2] = {socket, page};
  std::memcpy(CMSG_DATA(header), descriptors, sizeof descriptors);
  ssize_t sent = -1;
  do {
    sent = sendmsg(control, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent == 1;
}

}  // namespace

EvaluatorStem::~EvaluatorStem() { Lose(); }

void EvaluatorStem::Lose() {
  control_.reset();
  if (!process_) return;
  KillChild(process_->ref());
  ReapAtEnd(process_->ref());
  process_.reset();
}

bool EvaluatorStem::Ask(const EvaluatorEnds& ends) {
  if (process_ && HasEnded(process_->ref())) Lose();
  if (!process_) {
    if (started_ == kMostStems) return false;
    ++started_;
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return false;
    control_.reset(sockets[0]);
    const UniqueFd theirs(sockets[1]);
    std::vector<std::string> words = {kStemArgument};
    if (schema_too_) words.emplace_back(kWithSchema);
    auto spawned = SpawnEvaluator(start_, words, theirs.get(), -1);
    if (!spawned) return false;
    process_ = *std::move(spawned);
  }
  return SendEnds(control_.get(), ends.theirs.get(), ends.page->fd());
}

Result<std::unique_ptr<EvaluatorProcess>> EvaluatorStem::Fork() {
  auto ends = EvaluatorEnds::Make();
  if (!ends) return Fail(ends.error());
  if (!Ask(*ends)) return EvaluatorProcess::Start(start_);
  ends->theirs.reset();
  return std::make_unique<EvaluatorProcess>(*std::move(ends), mechanisms_);
}

}  // namespace muster
