// A folder of the user for the files that processes execute, where others can put another folder in the place of the
// run directory (open_way.h).
//
// In the user's runtime directory, or in /tmp if that cannot be trusted. A head removes it at its end.
#pragma once

#include <string>
#include <string_view>

namespace muster {

// Its path; empty if the way to the run directory is safe, and if no folder can be made that is safe itself.
std::string MakeKeptFolder(const std::string& run_dir, std::string_view run_id);

// Removes that of a run, if it has one that belongs to the caller.
void RemoveKeptFolder(std::string_view run_id);

}  // namespace muster
