// Where strangers wait until they have said who they are: accepted connections, bounded in number, time and
// bytes. What they must say is for the caller to judge. Shared by scheduler and servers.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ps_digits/link.h"

namespace ps_digits {

struct Visitor {
  std::unique_ptr<Link> link;
  Message introduction;
};

class Lobby {
 public:
  explicit Lobby(Socket listener) : listener_(std::move(listener)) {}

  // What to wait for: the links inside, and the door unless the lobby is full.
  void AddLinks(std::vector<Link*>& links) const;
  const Socket* door() const;
  std::optional<Clock::time_point> next_deadline() const;

  // Lets people in, returns those who have introduced themselves, and shows the door to those who talk nonsense
  // or nothing for too long; `log` hears of these.
  Result<std::vector<Visitor>> Receive(Clock::time_point now, std::vector<std::string>& log);

 private:
  struct Stranger {
    std::unique_ptr<Link> link;
    Clock::time_point deadline;
  };

  Socket listener_;
  std::vector<Stranger> strangers_;
};

// Tells a visitor that he cannot stay; the link closes when the caller lets go of it.
void Refuse(Visitor& visitor, const std::string& reason);

}  // namespace ps_digits
