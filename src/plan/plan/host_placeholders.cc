#include "plan/plan/host_placeholders.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace muster {
namespace {

class Search {
 public:
  Search(const Plan& plan, std::uint32_t host) : plan_(plan), host_(host) {}

  bool In(const Text& text) const {
    if (text.marked.find(kPlaceholderOpen) == std::string::npos) return false;
    const auto pieces = Pieces(text);
    return pieces && std::any_of(pieces->begin(), pieces->end(),
                                 [&](const TextPiece& piece) { return piece.hole && IsOfHost(*piece.hole); });
  }
  bool In(const std::vector<Text>& texts) const {
    return std::any_of(texts.begin(), texts.end(), [&](const Text& text) { return In(text); });
  }
  bool In(const Value& value) const {
    if (const std::string* text = value.AsString()) return In(Text(*text));
    if (const Value::List* list = value.AsList()) {
      return std::any_of(list->begin(), list->end(), [&](const Value& element) { return In(element); });
    }
    if (const Value::Map* map = value.AsMap()) {
      return std::any_of(map->begin(), map->end(), [&](const auto& entry) { return In(entry.second); });
    }
    return false;
  }
  // Values of the process override those of its role.
  template <class Map>
  bool In(const Map& of_role, const Map& own) const {
    return std::any_of(own.begin(), own.end(), [&](const auto& entry) { return In(entry.second); }) ||
           std::any_of(of_role.begin(), of_role.end(),
                       [&](const auto& entry) { return !own.contains(entry.first) && In(entry.second); });
  }

 private:
  bool IsOfHost(const Placeholder& hole) const {
    switch (hole.kind) {
      case Placeholder::Kind::kHostName:
      case Placeholder::Kind::kHostAddress:
      case Placeholder::Kind::kDevices:
        return hole.host == host_;
      case Placeholder::Kind::kPort: {
        const auto port = plan_.ports.find(hole.name);
        return port != plan_.ports.end() && port->second.host == host_;
      }
      default:
        return false;
    }
  }

  const Plan& plan_;
  std::uint32_t host_;
};

}  // namespace

bool RefersToHost(const Plan& plan, const Process& process, std::uint32_t host) {
  const Search search(plan, host);
  const Role& role = plan.roles[process.role];
  const std::vector<ContainerMount>& mounts = role.container.mounts;
  return search.In(role.container.image) || search.In(role.container.options) ||
         std::any_of(mounts.begin(), mounts.end(),
                     [&](const ContainerMount& mount) { return search.In(mount.source) || search.In(mount.target); }) ||
         search.In(EffectiveCommand(plan, process)) || search.In(EffectiveCwd(plan, process)) ||
         search.In(EffectiveReadyWhat(plan, process)) || search.In(role.ready.command) ||
         search.In(role.env, process.env) || search.In(role.context, process.context);
}

bool FilesMentionHost(const Plan& plan, std::uint32_t host) {
  const Search search(plan, host);
  return std::any_of(plan.files.begin(), plan.files.end(),
                     [&](const auto& file) { return search.In(file.second.content); });
}

}  // namespace muster
