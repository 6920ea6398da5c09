#include "run/journal/dump_places.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace muster {
namespace {

bool WaitsForChild(const ThreadState& thread) {
  return thread.call == "wait4" || thread.call == "waitid" || thread.wait == "do_wait";
}

std::uint64_t Hash(const std::string& text) { return std::hash<std::string>{}(text); }

}  // namespace

std::size_t PlaceOf(const std::vector<SystemProcessState>& states) {
  std::size_t place = 0;
  // Continues forward in the list, since children come after their parents.
  while (place < states.size() && !states[place].threads.empty() && WaitsForChild(states[place].threads.front())) {
    const auto child = std::find_if(states.begin() + static_cast<std::ptrdiff_t>(place) + 1, states.end(),
                                    [&](const SystemProcessState& s) { return s.parent == states[place].pid; });
    if (child == states.end()) break;
    place = static_cast<std::size_t>(child - states.begin());
  }
  return place;
}

DumpPlace PlaceIn(const ProcessDumped& reported) {
  if (reported.states.empty()) return {};
  const SystemProcessState& process = reported.states[PlaceOf(reported.states)];
  if (process.threads.empty()) return {Hash(process.program)};
  const ThreadState& main = process.threads.front();
  DumpPlace place = {Hash(fmt::format("{}\n{}\n{}\n{}", process.program, main.state, main.wait, main.call))};
  if (main.frames.empty()) return place;
  const bool passing = main.state == "running" || main.state == "sleeping";
  std::string key = fmt::format("{}\n{}\n", process.program, passing ? "" : main.state);
  for (const StackFrame& frame : main.frames)
    key += fmt::format("{}\n{}\n{}\n", frame.function, frame.file, frame.line);
  place.frames = Hash(key);
  return place;
}

ComparedPlaces ComparePlaces(const std::vector<PlacedProcess>& processes) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::set<std::uint64_t>> frames_by_kernel;  // by role, too
  for (const PlacedProcess& one : processes) {
    if (one.place && one.place->frames) frames_by_kernel[{one.role, one.place->kernel}].insert(*one.place->frames);
  }
  ComparedPlaces compared;
  std::map<std::tuple<std::uint32_t, bool, std::uint64_t>, std::size_t> numbers;  // by role, and whether by frames
  std::vector<std::size_t> sizes;                                                 // by number
  std::map<std::uint32_t, std::size_t> of_role;
  for (const PlacedProcess& one : processes) {
    ++of_role[one.role];
    if (!one.place) {
      compared.number.push_back(sizes.size());
      sizes.push_back(1);
      continue;
    }
    std::optional<std::uint64_t> frames = one.place->frames;
    const auto others = frames_by_kernel.find({one.role, one.place->kernel});
    if (!frames && others != frames_by_kernel.end() && others->second.size() == 1) frames = *others->second.begin();
    const auto [known, is_new] =
        numbers.try_emplace(std::tuple(one.role, frames.has_value(), frames.value_or(one.place->kernel)), sizes.size());
    if (is_new) sizes.push_back(0);
    ++sizes[known->second];
    compared.number.push_back(known->second);
  }
  std::set<std::uint32_t> have_most;  // roles with more than half of their processes in one place
  for (const auto& [key, number] : numbers) {
    const std::uint32_t role = std::get<0>(key);
    if (2 * sizes[number] > of_role[role]) have_most.insert(role);
  }
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const std::uint32_t role = processes[i].role;
    compared.outlier.push_back(processes[i].place && have_most.contains(role) &&
                               2 * sizes[compared.number[i]] <= of_role[role]);
  }
  return compared;
}

}  // namespace muster
