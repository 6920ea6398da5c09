// The Binding: what a start knows and a plan does not. It fills the holes of a plan's texts; it is
// journalled with every run, secrets excepted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/result.h"

namespace muster {

struct Text;

struct HostBinding {
  std::string name;
  std::string address;  // IP literal
  // What its devices are called there, by the plan's number; empty texts for those that no process has.
  std::vector<std::string> devices = {};

  bool operator==(const HostBinding&) const = default;
};

struct Binding {
  std::string run_id;
  std::string run_dir;  // absolute
  // What processes that start now go on from: absolute; empty: nothing.
  std::string checkpoint = {};
  std::map<std::string, std::string> sweep = {};  // of a trial: id, trial, attempt, point; else empty
  std::vector<HostBinding> hosts;                 // one per Plan::hosts
  std::map<std::string, std::uint16_t> ports;
  std::map<std::uint32_t, std::vector<std::uint32_t>> cores;  // of processes that got some, by index into the plan's
  std::map<std::string, std::string> secrets;                 // never written anywhere by muster

  bool operator==(const Binding&) const = default;
};

// The value that a process inherits under a name; nothing if it inherits none.
using InheritedValue = std::function<std::optional<std::string>(const std::string& name)>;

// The text with its holes filled. Fails with kind "binding" if the binding lacks what a hole names, and on a hole
// for an inherited value without `inherited`: only variables have one.
Result<std::string> FillHoles(const Text& text, const Binding& binding, std::uint32_t attempt,
                              const InheritedValue& inherited = {});

}  // namespace muster
