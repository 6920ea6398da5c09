// See lobby.h.
#include "ps_digits/lobby.h"

#include <utility>

namespace ps_digits {
namespace {

constexpr std::size_t kMaxUnidentified = 64;
constexpr auto kPatience = std::chrono::seconds(10);

std::string Dropped(const Link& link) {
  return "dropped a connection from " + link.peer().text() + " that had not introduced itself: ";
}

}  // namespace

void Lobby::AddLinks(std::vector<Link*>& links) const {
  for (const Unidentified& peer : unidentified_) links.push_back(peer.link.get());
}

const Socket* Lobby::door() const { return unidentified_.size() < kMaxUnidentified ? &listener_ : nullptr; }

std::optional<Clock::time_point> Lobby::next_deadline() const {
  // All have the same time limit, so the first to arrive expires first.
  if (unidentified_.empty()) return std::nullopt;
  return unidentified_.front().deadline;
}

Result<std::vector<Visitor>> Lobby::Receive(Clock::time_point now, std::vector<std::string>& log) {
  while (unidentified_.size() < kMaxUnidentified) {
    auto accepted = Accept(listener_);
    if (!accepted) return accepted.error();
    if (!*accepted) break;
    auto link = std::make_unique<Link>(std::move((*accepted)->socket), (*accepted)->peer, kMaxIntroductionBytes);
    unidentified_.push_back({std::move(link), now + kPatience});
  }

  std::vector<Visitor> visitors;
  std::vector<Unidentified> staying;
  for (Unidentified& peer : unidentified_) {
    if (auto message = peer.link->Next()) {
      peer.link->set_max_message(kMaxMessageBytes);
      visitors.push_back({std::move(peer.link), std::move(*message)});
    } else if (peer.link->fault()) {
      log.push_back(Dropped(*peer.link) + "it " + *peer.link->fault());
    } else if (now >= peer.deadline) {
      log.push_back(Dropped(*peer.link) + "it said nothing for " + std::to_string(kPatience.count()) + " s");
    } else {
      staying.push_back(std::move(peer));
    }
  }
  unidentified_ = std::move(staying);
  return visitors;
}

void Refuse(Visitor& visitor, const std::string& reason) { visitor.link->Send(Refused{reason}); }

}  // namespace ps_digits
