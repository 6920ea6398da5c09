// archive_records ROOT OUTPUT FILE…: executes Lua files below ROOT that return lists of records, and archives these
// below OUTPUT. Run when muster is built, on the files of the schema only: executing ten releases' records and
// converting them would take a large part of the time of a check.
#include "lua/state/prepare_files.h"
#include "lua/state/stack.h"
#include "wire/archive/value_archive.h"

int main(int argc, char** argv) {
  return muster::PrepareFiles(argc, argv, [](lua_State* lua, std::string& archived) {
    if (lua_pcall(lua, 0, 1, 0) != 0) return false;
    muster::Value records;
    std::string why;
    if (!muster::ToValue(lua, -1, records, why)) {
      lua_pushstring(lua, why.c_str());
      return false;
    }
    archived = muster::Archived(records);
    return true;
  });
}
