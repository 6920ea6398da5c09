// Writes the lines about contexts in report.txt: ContextText of context_report.h.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/values/quoting.h"
#include "run/report/context_report.h"

namespace muster {
namespace {

// Usually only a few of a recipe's forty attributes are changed; more than these indicate an obvious error.
constexpr std::size_t kMostShown = 10;

std::string Who(const ContextReport& context) {
  return fmt::format("{}.{}", context.role, IndexRanges(context.indices));
}

std::string By(const ContextReport& context) {
  if (!context.other_release) {
    return context.release.empty() ? "" : fmt::format(" (MindSpore {})", context.release);
  }
  return fmt::format(" to {}, though the recipe is for {}",
                     context.release.empty() ? "a MindSpore without a release number" : "MindSpore " + context.release,
                     context.expected);
}

std::string WhatBecame(const ContextReport& context) {
  if (context.state == "applied") return "applied" + By(context);
  if (context.state == "overridden") return fmt::format("applied{}, and changed by the script:", By(context));
  if (context.state == "unknown") {
    return fmt::format("applied{}; the process ended before its last values could be read", By(context));
  }
  if (context.state == "not_wrapped") {
    return fmt::format("applied{} without parallel: the script did not call muster_context.parallel(network)",
                       By(context));
  }
  if (context.state == "never_read") {
    return "never read: no Python with muster's sitecustomize was started (python3 -I, -E and -S disable it)";
  }
  if (context.state == "never_imported") return "never applied: the script did not import mindspore";
  if (context.state == "incomplete") return "not applied completely: the process ended meanwhile";
  std::string text = context.state == "failed" ? "not applied" : "unknown: its record cannot be read";
  for (const ContextReport::Problem& problem : context.errors) text += ": " + problem.message;
  return text;
}

}  // namespace

std::string IndexRanges(const std::vector<std::uint32_t>& indices) {
  std::string text;
  for (std::size_t i = 0; i < indices.size();) {
    std::size_t last = i;
    while (last + 1 < indices.size() && indices[last + 1] == indices[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", indices[i]);
    if (last > i) text += fmt::format("-{}", indices[last]);
    i = last + 1;
  }
  return text;
}

std::string ContextText(const std::vector<ContextReport>& contexts) {
  std::string text;
  for (const ContextReport& context : contexts) {
    text += fmt::format("  {:<10}{}: {}\n", text.empty() ? "context" : "", Printable(Who(context)),
                        Printable(WhatBecame(context)));
    std::size_t shown = 0;
    for (const ContextReport::Change& change : context.overridden) {
      if (shown++ == kMostShown) {
        text += fmt::format("  {:<12}and {} more\n", "", context.overridden.size() - kMostShown);
        break;
      }
      const std::string line = fmt::format("{}: {} was {}, and {} at the end", change.function, change.attribute,
                                           ToText(change.planned), ToText(change.found));
      text += fmt::format("  {:<12}{}\n", "", Printable(line));
    }
  }
  return text;
}

}  // namespace muster
