// archive_schema ROOT OUTPUT FILE…: makes the schema of the Lua files below ROOT, and archives it as kSchemaArchive
// below OUTPUT. Run when muster is built, which fails if the schema has errors.
#include <cstdio>
#include <map>

#include "lua/state/own_files.h"
#include "lua/state/prepare_files.h"
#include "lua/state/schema_files.h"
#include "settings/schema/schema_records.h"

using namespace muster;

int main(int argc, char** argv) {
  std::map<std::string, Value> contents;
  if (const int code = ForEachFile(argc, argv,
                                   [&](lua_State* lua, const std::string& file) {
                                     if (lua_pcall(lua, 0, 1, 0) != 0) return false;
                                     if (std::string why; !ToValue(lua, -1, contents[file], why))
                                       return PushText(lua, why), false;
                                     return true;
                                   });
      code != 0)
    return code;
  Schema schema;
  const Diagnostics problems = AddSchemaFiles(schema, [&](const std::string& path) { return contents[path]; });
  for (const Diagnostic& problem : problems)
    std::fprintf(stderr, "%s: %s\nhint: %s\n", problem.place.file.c_str(), problem.message.c_str(),
                 problem.hint.c_str());
  return problems.empty() && WritePrepared(argv[2], kSchemaArchive, ArchiveOfSchema(schema)) ? 0 : 1;
}
