// Hides secret values of variables before they are written to files.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct Plan;

class HiddenValues {
 public:
  // `secrets`: values of the plan's secrets by name.
  HiddenValues(const Plan& plan, const std::map<std::string, std::string>& secrets);

  // The value, or kHiddenValue: if a word of the name marks a secret (TOKEN, SECRET, PASSWORD, PASSWD, KEY,
  // CREDENTIAL, in any case), if a secret of the plan is taken from the variable, or if the value contains
  // one.
  std::string Shown(std::string_view name, const std::string& value) const;

 private:
  const Plan& plan_;
  std::vector<std::string_view> secrets_;
};

// Hides the values of the plan's secrets that can be read now, from the variables and files of the caller, in
// everything that is quoted from now on (base/system/known_secrets.h). Returns the names of the others.
std::vector<std::string> HideSecretsOf(const Plan& plan);

}  // namespace muster
