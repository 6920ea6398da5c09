#include "run/report/dump_json.h"

#include <nlohmann/json.hpp>

#include "base/values/number_text.h"
#include "base/values/value_text.h"
#include "run/report/report_json_parts.h"

namespace muster {
namespace {

using namespace report_json;

Json ThreadJson(const ThreadState& thread) {
  Json frames = Json::array();
  for (const StackFrame& frame : thread.frames) {
    frames.push_back({{"function", Plain(frame.function)},
                      {"file", TextOrNull(frame.file)},
                      {"line", frame.line == 0 ? Json(nullptr) : Json(frame.line)}});
  }
  return {{"tid", thread.tid},
          {"alike", thread.alike},
          {"name", Plain(thread.name)},
          {"state", TextOrNull(thread.state)},
          {"wait", TextOrNull(thread.wait)},
          {"call", TextOrNull(thread.call)},
          {"target", TextOrNull(thread.target)},
          {"frames", std::move(frames)}};
}

Json StateJson(const SystemProcessState& state) {
  Json threads = Json::array();
  for (const ThreadState& thread : state.threads) threads.push_back(ThreadJson(thread));
  return {{"pid", state.pid},
          {"parent", state.parent},
          {"program", Plain(state.program)},
          {"cpu_seconds", Seconds(InSeconds(state.cpu_ns))},
          {"threads_seen", state.threads_seen},
          {"by", TextOrNull(state.by)},
          {"threads", std::move(threads)}};
}

Json GroupJson(const DumpGroup& group) {
  Json json = MembersJson(group.who);
  json["odd"] = group.odd;
  json["busiest"] = Seconds(group.busiest);
  json["silent_seconds"] = {{"least", Seconds(group.quietest_seconds)}, {"most", Seconds(group.longest_seconds)}};
  json["last_line"] = TextOrNull(group.last_line);
  json["place"] = group.state() == nullptr ? Json(nullptr) : Json(group.place);
  json["window_seconds"] = Seconds(InSeconds(group.first.window_ns));
  json["system_processes"] = Json::array();
  for (const SystemProcessState& state : group.first.states) json["system_processes"].push_back(StateJson(state));
  return json;
}

}  // namespace

nlohmann::ordered_json DumpJson(const DumpReport& dump) {
  Json groups = Json::array();
  for (const DumpGroup& group : dump.groups) groups.push_back(GroupJson(group));
  Json notes = Json::array();
  for (const auto& [host, note] : dump.notes) {
    notes.push_back({{"host", Plain(host)}, {"kind", Plain(note.kind)}, {"detail", TextOrNull(note.detail)}});
  }
  return {{"dump", dump.number},
          {"at", dump.at},
          {"why", Plain(dump.why)},
          {"complete", dump.complete},
          {"folder", dump.folder},
          {"groups", std::move(groups)},
          {"unheard", MembersJson(dump.unheard)},
          {"notes", std::move(notes)}};
}

std::string DumpJsonText(const std::string& run_dir, const DumpReport& dump) {
  Json json = {{"format", 1}, {"run_dir", Plain(run_dir)}};
  json.update(DumpJson(dump));
  return SerializedJson(json, 1) + "\n";
}

}  // namespace muster
