#include "agent/dump/tool_finder.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

namespace muster {

const char* StackToolName(StackTool tool) { return tool == StackTool::kPySpy ? "py-spy" : "gdb"; }

void ToolFinder::Find(const std::vector<std::string>& search_paths, std::function<void()> done) {
  done_ = std::move(done);
  for (const std::string& search_path : search_paths) {
    if (found_.try_emplace(search_path).second) to_search_.push_back(search_path);
  }
  StartNext();
}

void ToolFinder::StartNext() {
  while (!to_search_.empty() && running_.size() < ToolProcesses::MostAtOnce()) {
    const std::string search_path = to_search_.front();
    to_search_.pop_front();
    const auto number = processes_.Start({"/bin/sh", "-c", "command -v py-spy; command -v gdb"}, search_path);
    if (number) running_.emplace(*number, search_path);
  }
  if (!running_.empty()) return;
  const auto done = std::exchange(done_, nullptr);
  if (done) done();
}

bool ToolFinder::Exited(const ToolProcesses::Exit& exit) {
  const auto search = running_.extract(exit.number);
  if (search.empty()) return false;
  const std::string output = ToolProcesses::OutputOf(exit);
  for (std::string_view rest = output; !rest.empty();) {
    const std::string_view path = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(path.size() + 1, rest.size()));
    const std::string_view name = path.substr(path.rfind('/') + 1);
    for (const StackTool tool : {StackTool::kPySpy, StackTool::kGdb}) {
      if (name == StackToolName(tool)) found_[search.mapped()].insert(tool);
    }
  }
  StartNext();
  return true;
}

void ToolFinder::Cancel() {
  for (const auto& [number, search_path] : running_) processes_.Stop(number, std::chrono::milliseconds(0));
  running_.clear();
  to_search_.clear();
  done_ = nullptr;
}

void ToolFinder::Clear() {
  running_.clear();
  to_search_.clear();
  found_.clear();
  done_ = nullptr;
}

bool ToolFinder::Has(const std::string& search_path, StackTool tool) const {
  const auto found = found_.find(search_path);
  return found != found_.end() && found->second.contains(tool);
}

}  // namespace muster
