// Values of variables that are not to be written down.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct Plan;

class HiddenValues {
 public:
  // The secrets of the plan, and their values by name.
  HiddenValues(const Plan& plan, const std::map<std::string, std::string>& secrets);

  // The value, or kHiddenValue: where a word of the name says that it is a secret (TOKEN, SECRET, PASSWORD, PASSWD,
  // KEY, CREDENTIAL, in any case), where a secret of the plan is taken from the variable, and where one is part of the
  // value.
  std::string Shown(std::string_view name, const std::string& value) const;

 private:
  const Plan& plan_;
  std::vector<std::string_view> secrets_;
};

}  // namespace muster
