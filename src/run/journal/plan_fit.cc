#include "run/journal/plan_fit.h"

#include <algorithm>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

#include "run/journal/checked_journal.h"
#include "run/journal/journal_fields.h"

namespace muster {
namespace {

// Visits the fields of an entry and checks them by name: "process" is a process in every entry, "host" a host.
class Numbers {
 public:
  Numbers(std::uint64_t processes, std::uint64_t hosts) : processes_(processes), hosts_(hosts) {}

  template <class T>
  void operator()(const char* name, T& value) {
    const std::string_view field = name;
    if constexpr (std::is_same_v<T, std::uint32_t>) {
      if (field == "process") Process(value), process_ = value;
      if (field == "attempt") attempt_ = value;
      if (field == "host" || field == "by") Host(value);
    } else if constexpr (std::is_same_v<T, std::vector<std::uint32_t>>) {
      if (field == "processes") Processes(value);
      if (field == "hosts" || field == "from" || field == "to") Hosts(value);
    } else if constexpr (requires { JournalFields(*this, value.front()); }) {
      for (auto& element : value) JournalFields(*this, element);
    }
  }

  std::uint32_t process() const { return process_; }
  std::uint32_t attempt() const { return attempt_; }
  const std::string& problem() const { return problem_; }

 private:
  void Process(std::uint32_t process) {
    if (process >= processes_) problem_ = fmt::format("process {}, and the plan has {}", process, processes_);
  }
  void Processes(const std::vector<std::uint32_t>& processes) {
    for (const std::uint32_t process : processes) Process(process);
    if (processes.size() > processes_)
      problem_ = fmt::format("{} processes, and the plan has {}", processes.size(), processes_);
  }
  void Host(std::uint32_t host) {
    if (host >= hosts_) problem_ = fmt::format("host {}, and there cannot be more than {}", host, hosts_);
  }
  void Hosts(const HostSet& hosts) {
    for (const std::uint32_t host : hosts) Host(host);
    const bool ascend = std::adjacent_find(hosts.begin(), hosts.end(), std::greater_equal<>()) == hosts.end();
    if (!ascend) problem_ = "hosts that do not ascend";
  }

  std::uint64_t processes_;
  std::uint64_t hosts_;
  std::uint32_t process_ = 0;
  std::uint32_t attempt_ = 0;
  std::string problem_;
};

}  // namespace

PlanFit::PlanFit(const Plan& plan)
    : ordered_(plan.processes.size(), 0), hosts_(std::uint64_t{plan.hosts.size()} + kMostSpares) {}

bool PlanFit::Take(const JournalRecord& record) {
  Numbers numbers(ordered_.size(), hosts_);
  // Numbers only reads.
  std::visit([&]<class E>(const E& entry) { JournalFields(numbers, const_cast<E&>(entry)); }, record.entry);
  std::string problem = numbers.problem();
  if (problem.empty() && !ordered_.empty()) {
    std::uint32_t& ordered = ordered_[numbers.process()];
    const bool orders = std::holds_alternative<StartOrdered>(record.entry);
    if (orders ? numbers.attempt() != ordered : numbers.attempt() > 0 && numbers.attempt() >= ordered) {
      problem = fmt::format("attempt {} of process {}, and {} of it have been ordered", numbers.attempt(),
                            numbers.process(), ordered);
    } else if (orders) {
      ++ordered;
    }
  }
  if (problem.empty()) return true;
  problem_ = fmt::format("record {} ({}) names {}", record.seq, EntryName(record.entry), problem);
  return false;
}

}  // namespace muster
