// The files that other hosts bring to the run directory, as their parts arrive. Which files a host may bring was
// decided before (transport/agent_message_validator.h).
#pragma once

#include "muster/result.h"
#include "wire/protocol/file_messages.h"

namespace muster {

// Writes the part where it belongs, below the folder; with FileBytes::last the file ends behind it. A part that begins
// behind what has come is the end of a log whose process is over: it is put right behind what there is, after a line
// that says how much is missing, and what comes later overwrites it. So no file is ever longer than what has come. Kind
// "path" or "file".
Result<void> KeepFileBytes(int folder, const FileBytes& bytes);

}  // namespace muster
