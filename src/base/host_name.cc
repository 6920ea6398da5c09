#include "base/host_name.h"

#include <array>

#include <unistd.h>

namespace muster {

std::string OwnHostName() {
  std::array<char, 256> name = {};
  const bool told = ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0';
  return told ? name.data() : "localhost";
}

bool IsThisMachine(std::string_view name) {
  const std::string own = OwnHostName();
  return name == own || name == std::string_view(own).substr(0, own.find('.')) || name == "localhost" ||
         name == "::1" || name.starts_with("127.");
}

}  // namespace muster
