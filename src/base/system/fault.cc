#include "base/system/fault.h"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <vector>

#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"

namespace muster {

namespace fault_detail {
bool armed = false;
}

namespace {

struct Armed {
  FaultOrder order;
  std::uint32_t passed = 0;
};

std::vector<Armed>& Orders() {
  static std::vector<Armed> orders;
  return orders;
}

void Wait(std::uint32_t ms) {
  timespec left = {static_cast<std::time_t>(ms / 1000), static_cast<long>(ms % 1000) * 1'000'000};
  while (::nanosleep(&left, &left) != 0) {
  }
}

template <class Names, class NameOf>
std::size_t IndexOf(const Names& names, std::string_view name, NameOf name_of) {
  const auto found = std::find_if(names.begin(), names.end(), [&](const auto& one) { return name_of(one) == name; });
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

tl::expected<FaultOrder, std::string> ParseFault(std::string_view text) {
  const auto bad = [&](const std::string& why) {
    return tl::unexpected<std::string>("the fault " + Quoted(std::string(text)) + ": " + why);
  };
  const std::size_t first = text.find(':');
  const std::size_t last = text.rfind(':');
  if (first == std::string_view::npos || first == last) return bad("a fault is SITE:ACTION:N");
  const std::string_view site_name = text.substr(0, first);
  const std::string_view action_name = text.substr(first + 1, last - first - 1);
  const std::string_view number = text.substr(last + 1);

  const std::size_t site = IndexOf(kFaultSites, site_name, [](const FaultSite& one) { return one.name; });
  if (site == kFaultSites.size()) {
    std::vector<std::string> known;
    for (const FaultSite& one : kFaultSites) known.emplace_back(one.name);
    const std::string near = DidYouMean(std::string(site_name), known);
    return bad("there is no such site" + (near.empty() ? "" : "; " + near));
  }
  const std::size_t action = IndexOf(kFaultActions, action_name, [](std::string_view one) { return one; });
  if (action == kFaultActions.size()) return bad("the action is delay, fail or kill");
  FaultOrder order{static_cast<Fault>(site), static_cast<FaultAction>(action), 0};
  order.number = ParseNumber<decltype(order.number)>(number).value_or(0);
  if (order.number == 0) {
    return bad(order.action == FaultAction::kDelay ? "the delay is a number of milliseconds, 1 or more"
                                                   : "the passing is a number, 1 or more");
  }
  return order;
}

void ArmFault(const FaultOrder& order) {
  Orders().push_back({order, 0});
  fault_detail::armed = true;
}

bool fault_detail::Pass(Fault site) {
  for (Armed& armed : Orders()) {
    if (armed.order.site != site) continue;
    ++armed.passed;
    if (armed.order.action == FaultAction::kDelay) {
      Wait(armed.order.number);
    } else if (armed.passed == armed.order.number) {
      if (armed.order.action == FaultAction::kKill) std::raise(SIGKILL);
      return true;
    }
  }
  return false;
}

}  // namespace muster
