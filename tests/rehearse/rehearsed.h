// Runs a rehearsal to its end and reads its JSON: failed checks with their processes and hosts.
#pragma once

#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "support/command.h"

namespace muster::testing {

class Rehearsed {
 public:
  explicit Rehearsed(CommandResult called)
      : result(std::move(called)), json(nlohmann::json::parse(result.out, nullptr, false)) {}

  // Returns "ok", "failed" or "not_checked"; empty if there is no such check.
  std::string Outcome(const std::string& check) const {
    if (!json.is_object() || !json.contains("checks")) return {};
    for (const auto& row : json["checks"]) {
      if (row["check"] == check) return row["outcome"];
    }
    return {};
  }
  std::set<std::string> Failed() const {
    std::set<std::string> names;
    if (!json.is_object() || !json.contains("failures")) return names;
    for (const auto& failure : json["failures"]) names.insert(failure["check"]);
    return names;
  }
  // Returns the processes of that check's failures, such as "worker.3 rank 3 on n2"; `whose` may select peers instead.
  std::set<std::string> Who(const std::string& check, const char* whose = "processes") const {
    std::set<std::string> who;
    if (!json.is_object() || !json.contains("failures")) return who;
    for (const auto& failure : json["failures"]) {
      if (failure["check"] != check) continue;
      for (const auto& process : failure[whose]) {
        who.insert(process["role"].get<std::string>() + "." + process["index"].dump() +
                   (process["rank"].is_null() ? "" : " rank " + process["rank"].dump()) + " on " +
                   process["host"].get<std::string>());
      }
    }
    return who;
  }
  // Returns the texts of that check's failures, one per line.
  std::string Text(const std::string& check) const {
    std::string text;
    if (!json.is_object() || !json.contains("failures")) return text;
    for (const auto& failure : json["failures"]) {
      if (failure["check"] == check) text += failure["text"].get<std::string>() + "\n";
    }
    return text;
  }

  CommandResult result;
  nlohmann::json json;
};

}  // namespace muster::testing
