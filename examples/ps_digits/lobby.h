// Accepted connections of peers that have not identified themselves yet, bounded in number, time and bytes. The caller
// judges their introduction. Shared by scheduler and servers.
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

  // The links to wait for, and the listener unless the lobby is full.
  void AddLinks(std::vector<Link*>& links) const;
  const Socket* door() const;
  std::optional<Clock::time_point> next_deadline() const;

  // Accepts connections, returns those that have introduced themselves, and closes those that send garbage or nothing
  // for too long; `log` receives a line for each of the latter.
  Result<std::vector<Visitor>> Receive(Clock::time_point now, std::vector<std::string>& log);

 private:
  struct Unidentified {
    std::unique_ptr<Link> link;
    Clock::time_point deadline;
  };

  Socket listener_;
  std::vector<Unidentified> unidentified_;
};

// Refuses a visitor with a reason; the link closes when the caller destroys it.
void Refuse(Visitor& visitor, const std::string& reason);

}  // namespace ps_digits
