#include "sweep/record/failure_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/values/text_parts.h"
#include "base/values/value_text.h"

namespace muster {
namespace {

constexpr double kSignificant = 0.01;
constexpr const char* kHost = "";  // no parameter has this name

double LogChoose(std::uint64_t of, std::uint64_t some) {
  const auto log_factorial = [](std::uint64_t n) { return std::lgamma(static_cast<double>(n) + 1); };
  return log_factorial(of) - log_factorial(some) - log_factorial(of - some);
}

// Fisher's exact test, one-sided: the chance that `all` given ones of `over` trials are among the `failed`.
double ChanceOfAll(std::uint64_t all, std::uint64_t failed, std::uint64_t over) {
  return std::exp(LogChoose(over - all, failed - all) - LogChoose(over, failed));
}

}  // namespace

std::string TableValue(const Value& value) { return value.AsString() != nullptr ? *value.AsString() : ToText(value); }

bool FailureTable::NumbersFirst::operator()(const std::string& one, const std::string& other) const {
  const auto key = [](const std::string& text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    const bool is_number = error == std::errc() && rest == end && std::isfinite(number);
    return std::tuple(!is_number, is_number ? number : 0, std::string_view(text));
  };
  return key(one) < key(other);
}

std::string FindingText(const FailureFinding& finding) {
  const bool of_host = finding.name == kHost;
  std::string text = fmt::format("{}{}: {} of {} ended with {}", of_host ? "host " : finding.name + "=", finding.value,
                                 finding.failed, Counted(finding.failed, "trial"), TrialClassName(finding.trial_class));
  if (!of_host && finding.hosts > 0) text += fmt::format(", on {}", Counted(finding.hosts, "host"));
  return text +
         fmt::format("; other {}: {} of {}", of_host ? "hosts" : "values", finding.other_failed, finding.other_over);
}

std::string SkipReason(const ValueSkipped& skipped) {
  const FailureFinding finding{skipped.name,  TableValue(skipped.value), skipped.trial_class, skipped.failed,
                               skipped.hosts, skipped.other_failed,      skipped.other_over,  skipped.chance};
  const std::string named = SkipText(skipped.name, skipped.value);
  return named + " is skipped" + FindingText(finding).substr(named.size());
}

void FailureTable::CountOne(const std::string& name, const std::string& value, const TrialClass* failed, bool add) {
  Named& named = names_[name];
  const std::uint64_t by = add ? 1 : ~std::uint64_t{0};
  named.over += by;
  if (named.too_many) return;
  struct Count& count = named.values[value];
  count.over += by;
  if (failed != nullptr) {
    count.failed += by;
    if ((count.classes[*failed] += by) == 0) count.classes.erase(*failed);
  }
  if (count.over == 0) named.values.erase(value);
  if (named.values.size() <= kMaxValues) return;
  named.too_many = true;
  named.values.clear();
}

void FailureTable::CountAll(const Failed& trial, bool failed, bool add) {
  const TrialClass* trial_class = failed ? &trial.trial_class : nullptr;
  for (const std::string& host : trial.hosts) CountOne(kHost, host, trial_class, add);
  for (const auto& [name, value] : trial.values) CountOne(name, value, trial_class, add);
}

void FailureTable::Add(TrialNumber trial, TrialClass trial_class, const std::vector<std::string>& hosts,
                       const Point& point) {
  if (well_.Has(trial)) return;
  if (const auto before = failed_.find(trial); before != failed_.end()) {
    CountAll(before->second, true, false);
    failed_.erase(before);
  }
  Failed ended{trial_class, hosts, {}, point};
  std::sort(ended.hosts.begin(), ended.hosts.end());
  ended.hosts.erase(std::unique(ended.hosts.begin(), ended.hosts.end()), ended.hosts.end());
  for (const auto& [name, value] : point) ended.values.emplace(name, TableValue(value));
  CountAll(ended, IsFailure(trial_class), true);
  if (IsFailure(trial_class)) {
    failed_.emplace(trial, std::move(ended));
  } else {
    well_.Add(trial);
  }
}

void FailureTable::Take(const SweepEntry& entry) {
  if (const auto* began = std::get_if<AttemptBegan>(&entry)) {
    running_[began->trial] = {began->hosts, began->point};
  } else if (const auto* ended = std::get_if<AttemptEnded>(&entry)) {
    const auto running = running_.extract(ended->trial);
    if (running.empty() || ended->again || ended->interrupted) return;
    Add(ended->trial, ended->trial_class, running.mapped().hosts, running.mapped().point);
  }
}

std::map<std::string, FailureTable::ByValue> FailureTable::by() const {
  std::map<std::string, ByValue> by;
  for (const auto& [name, named] : names_) {
    if (named.values.size() > 1)
      by.emplace(name == kHost ? "host" : name == "host" ? "param.host" : name, named.values);
  }
  return by;
}

std::size_t FailureTable::TestsOf(std::uint64_t least) const {
  std::size_t tests = 0;
  for (const auto& [name, named] : names_) {
    for (const auto& [value, count] : named.values) tests += named.values.size() > 1 && count.over >= least ? 1 : 0;
  }
  return tests;
}

// Whether the failed trials with the value have no other one in common that could be the cause.
bool FailureTable::IsAlone(const FailureFinding& finding) const {
  const bool of_host = finding.name == kHost;
  std::map<std::string, std::set<std::string>> values;  // of the other names; without a name: none of its values
  std::set<std::string> hosts;
  std::vector<const Failed*> all;
  for (const auto& [trial, failed] : failed_) {
    const auto found = failed.values.find(finding.name);
    const bool has = of_host ? std::binary_search(failed.hosts.begin(), failed.hosts.end(), finding.value)
                             : found != failed.values.end() && found->second == finding.value;
    if (has) all.push_back(&failed);
  }
  for (const Failed* failed : all) {
    hosts.insert(failed->hosts.begin(), failed->hosts.end());
    for (const auto& [name, named] : names_) {
      if (name == kHost || name == finding.name) continue;
      const auto value = failed->values.find(name);
      values[name].insert(value == failed->values.end() ? std::string() : value->second);
    }
  }
  const std::uint64_t trials = failed_.size() + well_.size();
  for (const auto& [name, of_name] : values) {
    if (of_name.size() > 1) continue;
    const Named& named = names_.at(name);
    const bool in_all = named.over == trials && !named.too_many;
    if (in_all && named.values.size() < 2) continue;
    std::uint64_t have_it = trials - named.over;  // that have no value of the name
    if (const std::string& value = *of_name.begin(); !value.empty()) {
      const auto count = named.values.find(value);
      have_it = count == named.values.end() ? trials : count->second.over;
    }
    if (have_it > all.size()) return false;
  }
  if (of_host || hosts.size() != 1) return true;
  const auto host = names_.at(kHost).values.find(*hosts.begin());
  return host != names_.at(kHost).values.end() && host->second.over > host->second.failed;
}

const Value* FailureTable::Find(const FailureFinding& finding) const {
  for (const auto& [trial, failed] : failed_) {
    const auto found = failed.values.find(finding.name);
    if (found != failed.values.end() && found->second == finding.value) return &failed.point.at(finding.name);
  }
  return nullptr;
}

std::vector<FailureFinding> FailureTable::Findings(std::uint64_t least) const {
  std::vector<FailureFinding> findings;
  const auto values_to_test = static_cast<double>(TestsOf(least));
  for (const auto& [name, named] : names_) {
    std::map<TrialClass, std::uint64_t> classes;
    std::uint64_t over = 0;
    std::uint64_t failed = 0;
    for (const auto& [value, count] : named.values) {
      over += count.over;
      failed += count.failed;
      for (const auto& [trial_class, trials] : count.classes) classes[trial_class] += trials;
    }
    for (const auto& [value, count] : named.values) {
      if (count.over < least || count.classes.size() != 1 || count.failed < count.over) continue;
      const TrialClass trial_class = count.classes.begin()->first;
      if (name != kHost && IsTransient(trial_class)) continue;
      if (over - count.over <= failed - count.failed) continue;  // no other one succeeded
      FailureFinding finding{name, value, trial_class, count.failed};
      finding.other_failed = classes[trial_class] - count.failed;
      finding.other_over = over - count.over;
      finding.chance = values_to_test * ChanceOfAll(count.over, classes[trial_class], over);
      if (finding.chance >= kSignificant || !IsAlone(finding)) continue;
      std::set<std::string> hosts;
      for (const auto& [trial, one] : failed_) {
        const auto found = one.values.find(name);
        if (found != one.values.end() && found->second == value) hosts.insert(one.hosts.begin(), one.hosts.end());
      }
      finding.hosts = hosts.size();
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace muster
