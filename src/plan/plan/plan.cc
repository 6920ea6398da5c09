// Plans as values: placeholders in texts, names, and effective values of processes.
#include "muster/plan.h"

#include <array>
#include <cassert>
#include <charconv>

#include "base/values/text_parts.h"

namespace muster {
namespace {

enum class Argument : std::uint8_t { kNone, kName, kNameAndText, kHost, kHostAndList };

struct PlaceholderWord {
  Placeholder::Kind kind;
  std::string_view word;
  Argument argument;
};

constexpr std::array<PlaceholderWord, 14> kPlaceholderWords = {
    {{Placeholder::Kind::kPort, "port", Argument::kName},
     {Placeholder::Kind::kRunDir, "run_dir", Argument::kNone},
     {Placeholder::Kind::kRunId, "run_id", Argument::kNone},
     {Placeholder::Kind::kHostName, "host_name", Argument::kHost},
     {Placeholder::Kind::kHostAddress, "host_address", Argument::kHost},
     {Placeholder::Kind::kAttempt, "attempt", Argument::kNone},
     {Placeholder::Kind::kCheckpoint, "checkpoint", Argument::kNone},
     {Placeholder::Kind::kNewestCheckpoint, "newest_checkpoint", Argument::kNone},
     {Placeholder::Kind::kSecret, "secret", Argument::kName},
     {Placeholder::Kind::kInheritedPath, "inherited_path", Argument::kName},
     {Placeholder::Kind::kInherited, "inherited", Argument::kNameAndText},
     {Placeholder::Kind::kDevices, "devices", Argument::kHostAndList},
     {Placeholder::Kind::kSweep, "sweep", Argument::kName},
     {Placeholder::Kind::kLiteral, "literal", Argument::kNone}}};

bool IsPlaceholderName(std::string_view name) {
  constexpr std::size_t kMax = 128;
  if (name.empty() || name.size() > kMax) return false;
  for (const char c : name) {
    const bool word = IsLetterOrDigit(c);
    if (!word && c != '_' && c != '.' && c != '-') return false;
  }
  return true;
}

// Accepts only the canonical spelling of a number.
bool ReadIndex(std::string_view text, std::uint32_t& index) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, index);
  const bool padded = text.size() > 1 && text[0] == '0';
  return !text.empty() && error == std::errc() && rest == end && !padded;
}

// Parses the text between "${muster:" and "}".
tl::expected<Placeholder, std::string> ParsePlaceholder(std::string_view inside) {
  const std::size_t colon = inside.find(':');
  const std::string_view word = inside.substr(0, colon);
  const bool has_argument = colon != std::string_view::npos;
  const std::string_view argument = has_argument ? inside.substr(colon + 1) : std::string_view();
  const auto fail = [&](const char* why) {
    return tl::unexpected("the placeholder ${muster:" + std::string(inside.substr(0, 64)) + "} " + why);
  };
  for (const PlaceholderWord& known : kPlaceholderWords) {
    if (known.word != word) continue;
    Placeholder hole{known.kind, {}, 0};
    const std::size_t second = argument.find(':');
    const std::string_view first = argument.substr(0, second);
    const std::string_view rest = second == std::string_view::npos ? "" : argument.substr(second + 1);
    switch (known.argument) {
      case Argument::kNone:
        if (has_argument) return fail("takes no name");
        break;
      case Argument::kName:
        if (!IsPlaceholderName(argument)) return fail("needs a name of letters, digits, '_', '.' and '-'");
        hole.name = argument;
        break;
      case Argument::kNameAndText:
        if (!IsPlaceholderName(first) || second == std::string_view::npos) return fail("needs a name and a text");
        hole.name = first;
        hole.text = rest;
        break;
      case Argument::kHost:
        if (!ReadIndex(argument, hole.host)) return fail("needs the index of a host");
        break;
      case Argument::kHostAndList:
        if (!ReadIndex(first, hole.host) || !DeviceNumbers(rest)) {
          return fail("needs the index of a host and numbers of devices");
        }
        hole.name = rest;
        break;
    }
    return hole;
  }
  return fail("is of no known kind");
}

}  // namespace

std::optional<std::vector<std::uint32_t>> DeviceNumbers(std::string_view list) {
  std::vector<std::uint32_t> numbers;
  for (;;) {
    const std::size_t comma = list.find(',');
    if (!ReadIndex(list.substr(0, comma), numbers.emplace_back())) return std::nullopt;
    if (comma == std::string_view::npos) return numbers;
    list.remove_prefix(comma + 1);
  }
}

std::string PlaceholderText(const Placeholder& hole) {
  for (const PlaceholderWord& known : kPlaceholderWords) {
    if (known.kind != hole.kind) continue;
    std::string text = std::string(kPlaceholderOpen) + std::string(known.word);
    if (known.argument == Argument::kName) text += ':' + hole.name;
    if (known.argument == Argument::kNameAndText) text += ':' + hole.name + ':' + hole.text;
    if (known.argument == Argument::kHost) text += ':' + std::to_string(hole.host);
    if (known.argument == Argument::kHostAndList) text += ':' + std::to_string(hole.host) + ':' + hole.name;
    return text + '}';
  }
  assert(false && "every kind of hole has a word");
  return {};
}

tl::expected<std::vector<TextPiece>, std::string> Pieces(const Text& text) {
  std::vector<TextPiece> pieces;
  std::string_view rest = text.marked;
  while (!rest.empty()) {
    const std::size_t open = rest.find(kPlaceholderOpen);
    if (open > 0) pieces.push_back({std::string(rest.substr(0, open)), std::nullopt});
    if (open == std::string_view::npos) break;
    rest.remove_prefix(open + kPlaceholderOpen.size());
    const std::size_t close = rest.find('}');
    if (close == std::string_view::npos) {
      return tl::unexpected("the placeholder ${muster:" + std::string(rest.substr(0, 64)) + " is not closed");
    }
    auto hole = ParsePlaceholder(rest.substr(0, close));
    if (!hole) return tl::unexpected(std::move(hole.error()));
    pieces.push_back({{}, std::move(*hole)});
    rest.remove_prefix(close + 1);
  }
  return pieces;
}

std::string ProcessName(const Plan& plan, const Process& process) {
  assert(process.role < plan.roles.size());
  return plan.roles[process.role].name + '.' + std::to_string(process.index);
}

Variables EffectiveEnv(const Plan& plan, const Process& process) {
  Variables env = process.env;
  env.insert(plan.roles[process.role].env.begin(), plan.roles[process.role].env.end());
  return env;
}

ContextValues EffectiveContext(const Plan& plan, const Process& process) {
  ContextValues context = process.context;
  context.insert(plan.roles[process.role].context.begin(), plan.roles[process.role].context.end());
  return context;
}

const std::vector<Text>& EffectiveCommand(const Plan& plan, const Process& process) {
  return process.command ? *process.command : plan.roles[process.role].command;
}

const Text& EffectiveCwd(const Plan& plan, const Process& process) {
  return process.cwd ? *process.cwd : plan.roles[process.role].cwd;
}

const Text& EffectiveReadyWhat(const Plan& plan, const Process& process) {
  return process.ready_what ? *process.ready_what : plan.roles[process.role].ready.what;
}

}  // namespace muster
