// Fills placeholders with the values known at the start.
#include "muster/binding.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/values/quoting.h"
#include "muster/plan.h"

namespace muster {
namespace {

tl::unexpected<Diagnostics> Unbound(const Text& text, const std::string& why) {
  return Fail(Error("binding", {}, "\"" + text.marked.substr(0, 200) + "\" cannot be filled in: " + why));
}

// Of what follows the run directory in a text: whether it is a file that muster writes for processes.
bool NamesGeneratedFile(std::string_view rest) {
  constexpr std::array<std::string_view, 3> kFolders = {"/files", "/context", "/python"};
  return std::any_of(kFolders.begin(), kFolders.end(), [rest](std::string_view folder) {
    return rest.starts_with(folder) &&
           (rest.size() == folder.size() || rest[folder.size()] == '/' || rest[folder.size()] == ':');
  });
}

}  // namespace

bool IsBeforePort(const std::vector<TextPiece>& pieces, std::size_t at) {
  const std::string_view before = at > 0 ? std::string_view(pieces[at - 1].literal) : std::string_view();
  const std::string_view after = at + 1 < pieces.size() ? std::string_view(pieces[at + 1].literal) : std::string_view();
  if (before.ends_with('[') && after.starts_with(']')) return false;  // the recipe's own brackets
  // The host of a URL, after "//" or "//user@", with or without a port.
  const std::size_t authority = before.rfind("//");
  if (authority != std::string_view::npos &&
      (before.ends_with("//") ||
       (before.ends_with('@') && before.find_first_of("/ ", authority + 2) == std::string_view::npos))) {
    return true;
  }
  // "ADDRESS: text" is a key and its value, not an address and its port.
  return after.starts_with(':') &&
         (after.size() == 1 || std::string_view(" \t\r\n").find(after[1]) == std::string_view::npos);
}

Result<std::string> FillPlaceholders(const Text& text, const Binding& binding, std::uint32_t attempt,
                                     const InheritedValue& inherited) {
  if (text.marked.find(kPlaceholderOpen) == std::string::npos) return text.marked;
  const auto pieces = Pieces(text);
  if (!pieces) return Unbound(text, pieces.error());
  std::string filled;
  for (std::size_t at = 0; at < pieces->size(); ++at) {
    const TextPiece& piece = (*pieces)[at];
    if (!piece.hole) {
      filled += piece.literal;
      continue;
    }
    const Placeholder& hole = *piece.hole;
    switch (hole.kind) {
      case Placeholder::Kind::kLiteral:
        filled += kPlaceholderOpen;
        break;
      case Placeholder::Kind::kRunDir:
        filled += NamesGeneratedFile(at + 1 < pieces->size() ? std::string_view((*pieces)[at + 1].literal) : "") &&
                          !binding.files_dir.empty()
                      ? binding.files_dir
                      : binding.run_dir;
        break;
      case Placeholder::Kind::kRunId:
        filled += binding.run_id;
        break;
      case Placeholder::Kind::kAttempt:
        filled += std::to_string(attempt);
        break;
      case Placeholder::Kind::kCheckpoint:
        if (binding.checkpoint.empty()) return Unbound(text, "there is no checkpoint to continue from");
        [[fallthrough]];
      case Placeholder::Kind::kNewestCheckpoint:
        filled += binding.checkpoint;
        break;
      case Placeholder::Kind::kSweep:
        if (const auto said = binding.sweep.find(hole.name); said != binding.sweep.end()) filled += said->second;
        break;
      case Placeholder::Kind::kPort: {
        const auto port = binding.ports.find(hole.name);
        if (port == binding.ports.end()) return Unbound(text, "no port " + hole.name);
        filled += std::to_string(port->second);
        break;
      }
      case Placeholder::Kind::kHostName:
      case Placeholder::Kind::kHostAddress: {
        if (hole.host >= binding.hosts.size()) return Unbound(text, "no host " + std::to_string(hole.host));
        const HostBinding& host = binding.hosts[hole.host];
        const std::string& put = hole.kind == Placeholder::Kind::kHostName ? host.name : host.address;
        filled += IsBeforePort(*pieces, at) ? AddressBeforePort(put) : put;
        break;
      }
      case Placeholder::Kind::kDevices: {
        if (hole.host >= binding.hosts.size()) return Unbound(text, "no host " + std::to_string(hole.host));
        const std::vector<std::string>& devices = binding.hosts[hole.host].devices;
        const char* separator = "";
        for (const std::uint32_t number : DeviceNumbers(hole.name).value_or(std::vector<std::uint32_t>())) {
          if (number >= devices.size() || devices[number].empty())
            return Unbound(text, "no device " + std::to_string(number) + " of host " + std::to_string(hole.host));
          filled += separator + devices[number];
          separator = ",";
        }
        break;
      }
      case Placeholder::Kind::kSecret: {
        if (pieces->size() != 1) return Unbound(text, "a secret can only be a whole value");
        const auto secret = binding.secrets.find(hole.name);
        if (secret == binding.secrets.end()) return Unbound(text, "no secret " + hole.name);
        filled += secret->second;
        break;
      }
      case Placeholder::Kind::kInheritedPath: {
        if (!inherited) return Unbound(text, "only a variable can append an inherited value");
        const std::optional<std::string> value = inherited(hole.name);
        // An empty entry of a search path would mean the working folder.
        if (value && !value->empty()) filled += ':' + *value;
        break;
      }
      case Placeholder::Kind::kInherited: {
        if (!inherited || pieces->size() != 1) return Unbound(text, "only a whole variable can be inherited");
        filled += inherited(hole.name).value_or(hole.text);
        break;
      }
    }
  }
  return filled;
}

}  // namespace muster
