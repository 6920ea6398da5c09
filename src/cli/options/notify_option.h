// --notify, for commands that start runs and sweeps (docs/notify.md).
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "muster/plan.h"
#include "muster/result.h"

namespace muster {

// The texts must live as long as the app.
void AddNotifyOption(CLI::App& app, std::vector<std::string>& texts);

// What the option says, with absolute paths: relative ones are relative to the current folder.
struct NotifyChoice {
  bool none = false;  // no others than these
  std::vector<Notification> notifications;

  bool empty() const { return !none && notifications.empty(); }
};
// Kind "usage".
Result<NotifyChoice> ParseNotify(const std::vector<std::string>& texts);

// Words of a call that say the same, in whatever folder.
std::vector<std::string> NotifyWords(const NotifyChoice& choice);

// Adds the notifications of the site and of the option to those of the recipe. Those that an earlier start added to a
// stored plan are removed.
Result<void> ApplyNotify(Plan& plan, const NotifyChoice& choice);

// Blanks the variables that hold secrets of notifications, in the environment of this process.
void BlankNotifySecrets(const std::vector<Notification>& notifications);

}  // namespace muster
