// The Binding: the values that a start adds to a plan. It fills the placeholders of the plan's texts, and is recorded
// in the journal of every run, except secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/result.h"

namespace muster {

struct Text;
struct TextPiece;

struct HostBinding {
  std::string name;
  std::string address;  // IP literal
  // Names of its devices for processes, by the plan's number; empty texts for devices that no process uses.
  std::vector<std::string> devices = {};

  bool operator==(const HostBinding&) const = default;
};

struct Binding {
  std::string run_id;
  std::string run_dir;  // absolute
  // Where processes find the run directory's files/, context/ and python/ if another user could put another folder in
  // the place of the run directory: absolute; empty: there.
  std::string files_dir = {};
  // The checkpoint that processes started now resume from: absolute; empty: none.
  std::string checkpoint = {};
  std::map<std::string, std::string> sweep = {};  // of a trial: id, trial, attempt, point; empty outside a sweep
  std::vector<HostBinding> hosts;                 // one per Plan::hosts
  std::map<std::string, std::uint16_t> ports;
  std::map<std::uint32_t, std::vector<std::uint32_t>> cores;  // of some processes, by index into the plan's
  std::map<std::string, std::string> secrets;                 // muster never writes them anywhere

  bool operator==(const Binding&) const = default;
};

// Returns the value of a variable that a process inherits; nothing if it does not inherit the variable.
using InheritedValue = std::function<std::optional<std::string>(const std::string& name)>;

// Whether an address at piece `at` has a port or a path behind it (ADDRESS:80, ADDRESS:/path), or is the host of a URL
// (//ADDRESS/): there an IPv6 literal needs brackets. False within brackets that the text has itself.
bool IsBeforePort(const std::vector<TextPiece>& pieces, std::size_t at);

// The text with its placeholders filled; addresses of IPv6 are in brackets where a port follows. Fails with kind
// "binding" if the binding lacks a value, and for a placeholder of an inherited value without `inherited`: only
// variables have these.
Result<std::string> FillPlaceholders(const Text& text, const Binding& binding, std::uint32_t attempt,
                                     const InheritedValue& inherited = {});

}  // namespace muster
