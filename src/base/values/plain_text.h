// Recognises texts without any character that is special to a shell.
#pragma once

#include <string_view>

namespace muster {

// Whether the text has only letters, digits, bytes beyond ASCII, "_-./:,+@%" and those of `also`; true if empty.
bool IsPlain(std::string_view text, std::string_view also = {});

}  // namespace muster
