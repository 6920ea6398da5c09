// See lobby.h.
#include "ps_digits/lobby.h"

#include <utility>

namespace ps_digits {
namespace {

constexpr std::size_t kMaxStrangers = 64;
constexpr auto kPatience = std::chrono::seconds(10);

std::string Dropped(const Link& link) {
  return "dropped a connection from " + link.peer().text() + " that had not introduced itself: ";
}

}  // namespace

void Lobby::AddLinks(std::vector<Link*>& links) const {
  for (const Stranger& stranger : strangers_) links.push_back(stranger.link.get());
}

const Socket* Lobby::door() const { return strangers_.size() < kMaxStrangers ? &listener_ : nullptr; }

std::optional<Clock::time_point> Lobby::next_deadline() const {
  // All have the same time limit, so the first to arrive expires first.
  if (strangers_.empty()) return std::nullopt;
  return strangers_.front().deadline;
}

Result<std::vector<Visitor>> Lobby::Receive(Clock::time_point now, std::vector<std::string>& log) {
  while (strangers_.size() < kMaxStrangers) {
    auto accepted = Accept(listener_);
    if (!accepted) return accepted.error();
    if (!*accepted) break;
    auto link = std::make_unique<Link>(std::move((*accepted)->socket), (*accepted)->peer, kMaxIntroductionBytes);
    strangers_.push_back({std::move(link), now + kPatience});
  }

  std::vector<Visitor> visitors;
  std::vector<Stranger> staying;
  for (Stranger& stranger : strangers_) {
    if (auto message = stranger.link->Next()) {
      stranger.link->set_max_message(kMaxMessageBytes);
      visitors.push_back({std::move(stranger.link), std::move(*message)});
    } else if (stranger.link->fault()) {
      log.push_back(Dropped(*stranger.link) + "it " + *stranger.link->fault());
    } else if (now >= stranger.deadline) {
      log.push_back(Dropped(*stranger.link) + "it said nothing for " + std::to_string(kPatience.count()) + " s");
    } else {
      staying.push_back(std::move(stranger));
    }
  }
  strangers_ = std::move(staying);
  return visitors;
}

void Refuse(Visitor& visitor, const std::string& reason) { visitor.link->Send(Refused{reason}); }

}  // namespace ps_digits
