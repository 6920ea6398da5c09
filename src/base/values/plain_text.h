// Texts without a byte that means anything to a shell, wherever they stand in what it reads.
#pragma once

#include <string_view>

namespace muster {

// Letters, digits, bytes beyond ASCII and "_-./:,+@%" alone; what is in `also` is allowed besides. True for no text.
bool IsPlain(std::string_view text, std::string_view also = {});

}  // namespace muster
