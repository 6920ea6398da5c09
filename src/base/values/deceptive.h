// Characters that a terminal obeys, or that reorder or hide what it shows.
#pragma once

#include <string_view>

namespace muster {

// Whether the valid UTF-8 sequence is a control character (C0, DEL, C1), a zero-width or bidirectional mark, a byte
// order mark, or a line or paragraph separator.
bool IsDeceptive(std::string_view sequence);

}  // namespace muster
