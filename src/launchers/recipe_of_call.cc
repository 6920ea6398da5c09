#include "launchers/recipe_of_call.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"

namespace muster {
namespace {

// Text, number, text, …, text: an odd number of parts.
std::vector<std::string> Parts(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (IsDigit(c) != (parts.size() % 2 == 0)) parts.emplace_back();
    parts.back() += c;
  }
  if (parts.size() % 2 == 0) parts.emplace_back();
  return parts;
}

std::int64_t NumberOf(const ProcessPlace& place, CallWord::Number number) {
  if (number == CallWord::Number::kRank) return place.rank;
  return number == CallWord::Number::kHost ? place.host : place.local_rank;
}

// The column of numbers as `times` that number of the process plus `added`.
std::optional<CallWord> Linear(const std::vector<std::int64_t>& column, const std::vector<ProcessPlace>& places,
                               CallWord::Number number) {
  std::size_t other = 0;
  while (other < places.size() && NumberOf(places[other], number) == NumberOf(places[0], number)) ++other;
  if (other == places.size()) return std::nullopt;
  const std::int64_t step = NumberOf(places[other], number) - NumberOf(places[0], number);
  const std::int64_t grown = column[other] - column[0];
  if (grown % step != 0) return std::nullopt;
  const std::int64_t times = grown / step;
  const std::int64_t added = column[0] - times * NumberOf(places[0], number);
  constexpr std::int64_t kMax = 1'000'000'000;
  if (times < 1 || times > kMax || added > kMax || added < -kMax) return std::nullopt;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (column[i] != times * NumberOf(places[i], number) + added) return std::nullopt;
  }
  CallWord word;
  word.number = number;
  word.times = static_cast<int>(times);
  word.added = static_cast<int>(added);
  return word;
}

}  // namespace

CallWord FittedWord(const std::vector<std::string>& texts, const std::vector<ProcessPlace>& places,
                    const std::string& shifted, bool by_rank) {
  if (std::all_of(texts.begin(), texts.end(), [&](const std::string& one) { return one == texts.front(); }))
    return CallWord{texts.front()};
  CallWord listed;
  listed.number = CallWord::Number::kListed;
  listed.listed = texts;
  std::vector<std::vector<std::string>> parts;
  for (const std::string& text : texts) {
    parts.push_back(Parts(text));
    if (parts.back().size() != parts.front().size()) return listed;
  }
  const std::vector<std::string> other = Parts(shifted);
  std::vector<CallWord> words = {CallWord{}};
  for (std::size_t p = 0; p < parts.front().size(); ++p) {
    const bool same =
        std::all_of(parts.begin(), parts.end(), [&](const auto& one) { return one[p] == parts.front()[p]; });
    if (same) {
      (words.back().number ? words.back().after : words.back().text) += parts.front()[p];
      continue;
    }
    if (p % 2 == 0) return listed;
    std::vector<std::int64_t> column;
    for (const auto& one : parts) {
      const auto number = ParseNumber<std::int32_t>(one[p]);
      if (!number || (one[p].size() > 1 && one[p].front() == '0')) return listed;
      column.push_back(*number);
    }
    using enum CallWord::Number;
    const bool of_rank = by_rank || (other.size() == parts.front().size() && other[p] != parts.front()[p]);
    const std::array order = of_rank ? std::array{kRank, kLocalRank, kHost} : std::array{kLocalRank, kHost, kRank};
    std::optional<CallWord> fitted;
    for (const CallWord::Number number : order) {
      if (!fitted) fitted = Linear(column, places, number);
    }
    if (!fitted) return listed;
    if (words.back().number) words.emplace_back();
    fitted->text = words.back().text;
    words.back() = *std::move(fitted);
  }
  CallWord word = words.front();
  word.rest.assign(words.begin() + 1, words.end());
  return word;
}

namespace {

std::string NumberExpression(const CallWord& word) {
  std::string number;
  switch (*word.number) {
    case CallWord::Number::kRank:
      number = "process.rank";
      break;
    case CallWord::Number::kLocalRank:
      number = "process.local_rank";
      break;
    case CallWord::Number::kWorldSize:
      number = "process.world_size";
      break;
    case CallWord::Number::kHost:
      number = "process.host.index";
      break;
    case CallWord::Number::kIndex:
      number = "process.index";
      break;
    case CallWord::Number::kListed: {
      std::string listed;
      for (const std::string& text : word.listed) listed += (listed.empty() ? "" : ", ") + Quoted(text);
      return "({ " + listed + " })[process.index + 1]";
    }
  }
  if (word.times != 1) number += fmt::format(" * {}", word.times);
  if (word.added != 0) number += fmt::format(" {} {}", word.added < 0 ? '-' : '+', std::abs(word.added));
  return number;
}

// A Lua expression. The escapes of Quoted are valid in Lua.
std::string Expression(const CallWord& word) {
  if (!word.number) return Quoted(word.text);
  std::string number = NumberExpression(word);
  const bool alone = word.text.empty() && word.after.empty() && word.rest.empty();
  if ((word.added != 0 || word.times != 1) && !alone) number = "(" + number + ")";
  if (!word.text.empty()) number = Quoted(word.text) + " .. " + number;
  if (!word.after.empty()) number += " .. " + Quoted(word.after);
  for (const CallWord& part : word.rest) number += " .. " + Expression(part);
  return number;
}

std::string Command(const std::vector<CallWord>& command) {
  std::string text = "{ ";
  for (const CallWord& word : command) text += Expression(word) + ", ";
  return text + "job.args }";
}

std::string Framework(const LauncherCall& call) {
  if (!call.rank_table.empty())
    return fmt::format("{{ {}, table = {} }}", Quoted(call.framework), Quoted(call.rank_table));
  if (call.mpi_args.empty()) return Quoted(call.framework);
  std::string args;
  for (const std::string& word : call.mpi_args) args += (args.empty() ? "" : ", ") + Quoted(word);
  return fmt::format("{{ {}, args = {{ {} }} }}", Quoted(call.framework), args);
}

bool Differs(const std::vector<CallWord>& words) {
  return std::any_of(words.begin(), words.end(), [](const CallWord& word) { return word.number.has_value(); });
}

std::string Key(const std::string& name) { return IsIdentifier(name) ? name : "[" + Quoted(name) + "]"; }

using Variables = std::vector<std::pair<std::string, CallWord>>;

// The table of a role's env: variables that are the same for all of its processes.
std::string Environment(const Variables& env, const std::vector<std::string>& unset) {
  std::string text;
  for (const auto& [name, value] : env) {
    if (!value.number) text += fmt::format("{} = {}, ", Key(name), Expression(value));
  }
  for (const std::string& name : unset) text += fmt::format("{} = muster.unset, ", Key(name));
  // The contract sets some of these itself, so mark them as intended overrides.
  return text.empty() ? std::string() : "      env     = { " + text + "override = true },\n";
}

// Settings that differ between processes.
std::string Each(const std::vector<CallWord>& command, const Variables& env, const std::optional<CallWord>& folder) {
  std::string text;
  if (Differs(command)) text += "        process.command = " + Command(command) + "\n";
  if (folder && folder->number) text += "        process.cwd = " + Expression(*folder) + "\n";
  for (const auto& [name, value] : env) {
    if (value.overrides && value.number) {
      text += fmt::format("        process.env {{ {} = {}, override = true }}\n", Key(name), Expression(value));
    } else if (value.number) {
      text +=
          fmt::format("        process.env{} = {}\n", IsIdentifier(name) ? "." + name : Key(name), Expression(value));
    }
  }
  return text.empty() ? std::string() : "      each    = function(process)\n" + text + "      end,\n";
}

std::string Folder(const std::optional<CallWord>& folder) {
  if (!folder || folder->number || folder->text.empty()) return {};
  return "      cwd     = " + Quoted(folder->text) + ",\n";
}

constexpr const char* kFilesRole = "files";

std::string After(const LauncherCall& call) {
  return call.files.empty() ? std::string() : fmt::format("      after   = {},\n", Quoted(kFilesRole));
}

// A role beside the workers that the script starts by hand.
std::string RoleText(const std::string& head, const CallRole& role, const LauncherCall& call) {
  std::string text = "    job:" + head;
  text += After(call);
  if (!Differs(role.command)) text += "      command = " + Command(role.command) + ",\n";
  return text + Folder(role.folder) + Environment(role.env, {}) + Each(role.command, role.env, role.folder) + "    }\n";
}

// A long string of Lua, which begins with a line feed that does not count.
std::string LongString(const std::string& text) {
  std::string level;
  while (text.find("]" + level + "]") != std::string::npos) level += "=";
  return "[" + level + "[\n" + text + "]" + level + "]";
}

// Commands that prepare folders and files, as a role that ends before the others start.
std::string Files(const LauncherCall& call) {
  if (call.files.empty()) return {};
  std::string text = fmt::format(
      "    -- What the script did to files before the start, on each host.\n    job:role \"{}\" {{\n", kFilesRole);
  text += "      per_host = 1,\n      ready    = { done = true, timeout = \"1h\" },\n";
  if (call.files.size() == 1) {
    text += "      command  = muster.shell " + LongString(call.files[0]) + ",\n";
  } else {
    text += "      each     = function(process)\n        process.command = muster.shell(({\n";
    for (const std::string& one : call.files) text += LongString(one) + ",\n";
    text += "        })[process.host.index + 1])\n      end,\n";
  }
  return text + "    }\n";
}

std::string Activations(const LauncherCall& call) {
  std::string text;
  for (const CallActivation& one : call.activations)
    text += fmt::format("    job:activate {{ {} = {} }}\n", one.field, Quoted(one.value));
  return text;
}

std::string Parameters(const LauncherCall& call) {
  std::string text;
  if (call.total) {
    text += fmt::format("    workers = muster.int {{ {}, min = 1, doc = \"processes in all\" }},\n", *call.total);
  }
  if (call.per_host) {
    text +=
        fmt::format("    per_host = muster.int {{ {}, min = 1, doc = \"processes of each host\" }},\n", *call.per_host);
  }
  if (call.servers > 0)
    text += fmt::format("    servers = muster.int {{ {}, min = 1, doc = \"parameter servers\" }},\n", call.servers);
  return text.empty() ? std::string() : "  params = {\n" + text + "  },\n\n";
}

std::string Cluster(const LauncherCall& call) {
  if (call.hosts == 1 && (!call.per_host || call.total || call.framework == "mpi")) return {};
  std::string text = fmt::format("  cluster = {{ hosts = {}", call.hosts);
  if (call.per_host) text += fmt::format(", devices_per_host = {}", *call.per_host);
  return text + " },\n\n";
}

std::string Head(const LauncherCall& call, const std::string& shown, const std::string& file) {
  const std::string name = ShellQuoted(file);
  std::string text = "-- Starts what this command line starts:\n--\n--   " + Printable(shown) + "\n--\n";
  text += fmt::format("--   muster plan {0}    what it would start\n--   muster run {0}     starts it\n", name);
  if (call.left_out.empty()) return text;
  text += "--\n-- Left out, and what it did:\n";
  for (const auto& [option, what_it_did] : call.left_out)
    text += fmt::format("--   {}: {}\n", Printable(option), Printable(what_it_did));
  return text;
}

}  // namespace

std::string NameOfProgram(const LauncherCall& call) {
  std::size_t at = 0;
  if (std::filesystem::path(call.command[0].text).filename().string().starts_with("python")) {
    for (at = 1; at + 1 < call.command.size() && call.command[at].text.starts_with('-');) ++at;
  }
  const std::string& program = call.command[std::min(at, call.command.size() - 1)].text;
  const bool module = at > 0 && call.command[at - 1].text == "-m";
  std::string name = module ? program : std::filesystem::path(program).stem().string();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') c = '-';
  }
  return name.empty() || name.front() == '-' ? "job" : name;
}

std::string RecipeOfCall(const LauncherCall& call, const std::string& shown, const std::string& file) {
  std::string text = Head(call, shown, file);
  text += "local muster = require \"muster\"\n\nreturn muster.recipe {\n";
  text += fmt::format("  name      = {},\n  framework = {},\n\n", Quoted(NameOfProgram(call)), Framework(call));
  text += Parameters(call) + Cluster(call) + "  plan = function(p, job)\n";
  text += Activations(call) + Files(call);
  const std::string command = Differs(call.command) ? "" : "      command = " + Command(call.command) + ",\n";
  if (call.scheduler) text += RoleText("scheduler {\n", *call.scheduler, call);
  if (call.servers > 0 && call.server) {
    text += RoleText("servers {\n      count   = p.servers,\n", *call.server, call);
  } else if (call.servers > 0) {
    text += "    job:servers {\n      count   = p.servers,\n" + After(call) + command +
            Environment(call.env, call.unset) + Each(call.command, call.env, call.folder) + "    }\n";
  }
  text += "    job:workers {\n";
  if (call.total) {
    text += "      count   = p.workers,\n";
    if (call.per_host) text += "      per_host = p.per_host,  -- of the hosts in order, until there are that many\n";
  } else if (call.per_host) {
    text += "      per_host = p.per_host,\n";
    if (call.rank_table.empty() && call.framework != "mpi")
      text += "      -- devices = 1,  -- a device for each, which no other process gets\n";
  } else {
    text += "      devices = 1,  -- and as many workers as there are devices\n";
  }
  if (!call.rank_table.empty()) text += "      devices = 1,\n";
  text += After(call) + command;
  if (!call.cores.empty())
    text += "      cores   = " + (call.cores == "auto" ? Quoted(call.cores) : call.cores) + ",\n";
  if (!call.wrap.empty()) {
    text += "      wrap    = { ";
    for (const std::string& word : call.wrap) text += Quoted(word) + (&word == &call.wrap.back() ? " },\n" : ", ");
  }
  if (!call.cwd.empty()) text += "      cwd     = " + Quoted(call.cwd) + ",\n";
  text += Environment(call.env, call.unset) + Each(call.command, call.env, call.folder);
  if (call.restarts > 0) text += fmt::format("      restart = {{ max = {}, scope = \"role\" }},\n", call.restarts);
  return text + "    }\n  end,\n}\n";
}

}  // namespace muster
