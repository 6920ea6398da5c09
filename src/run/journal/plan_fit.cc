#include "run/journal/plan_fit.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include <fmt/format.h>

#include "run/journal/checked_journal.h"
#include "run/journal/head_fact_fields.h"
#include "run/lines/line_forms.h"
#include "wire/protocol/event_fields.h"

namespace muster {
namespace {

// Visits the fields of an entry and checks them by name: "process" is a process in every entry, "host" a host.
class Numbers {
 public:
  Numbers(std::uint64_t processes, std::uint64_t hosts) : processes_(processes), hosts_(hosts) {}

  template <class T>
  void operator()(std::string_view name, T&& field) {
    Check(name, Plain(field));
  }

  std::uint32_t process() const { return process_; }
  std::uint32_t attempt() const { return attempt_; }
  const std::string& problem() const { return problem_; }

 private:
  void Check(std::string_view name, std::uint32_t value) {
    if (name == "process") Process(value), process_ = value;
    if (name == "attempt") attempt_ = value;
    if (name == "host" || name == "by") Host(value);
  }
  void Check(std::string_view name, std::vector<std::uint32_t>& values) {
    if (name == "processes") Processes(values);
    if (name == "hosts" || name == "from" || name == "to") Hosts(values);
  }
  template <class T>
  requires requires(Numbers& numbers, T& element) { Fields(numbers, element); }
  void Check(std::string_view, std::vector<T>& parts) {
    for (T& part : parts) Fields(*this, part);
  }
  template <class T>
  void Check(std::string_view, T&) {}

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
  // Numbers only reads the entry.
  std::visit([&]<class E>(const E& entry) { Fields(numbers, const_cast<E&>(entry)); }, record.entry);
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
