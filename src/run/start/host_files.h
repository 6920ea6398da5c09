// Writes files that other hosts send into the run directory, part by part. The head has already checked which files a
// host may send (transport/validation/agent_message_validator.h).
#pragma once

#include "muster/result.h"
#include "wire/protocol/file_messages.h"

namespace muster {

// Writes the part to its place below the folder; with FileBytes::last the file ends after it. A part that begins beyond
// the end of the file is the end of the log of an exited process: it is appended after a line that states how many
// bytes are missing, and later parts overwrite it. So no file is ever much longer than the received bytes. Kind "path"
// or "file".
Result<void> KeepFileBytes(int folder, const FileBytes& bytes);

}  // namespace muster
