// Topics of the module "muster" and of site and sweep files, from the definitions that editors read (annotations of
// LuaLS in lua/meta).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/values/embedded_file.h"
#include "reference/page.h"

namespace muster {

// Reads the definitions for editors in lua/meta (annotations of LuaLS) as data: the functions of the module "muster",
// and the fields of its classes.

struct DefinedField {
  std::string name;
  bool optional = false;
  std::string type;  // "string|string[]"
  std::string doc;
};

struct DefinedClass {
  std::string name;  // "muster.Site"
  std::string doc;
  std::vector<DefinedField> fields;
};

struct DefinedFunction {
  std::string name;  // "muster.flags"
  std::string doc;
  std::vector<DefinedField> parameters;
  std::string returned;   // the type; empty: it returns nothing
  bool is_value = false;  // a constant such as muster.null
};

struct Definitions {
  std::vector<DefinedFunction> functions;
  std::vector<DefinedClass> classes;

  const DefinedClass* Class(std::string_view name) const;
};

// The files that are written by hand: those of recipes, `job` and sweeps.
std::span<const EmbeddedFile> EmbeddedDefinitions();

// Of these files, in their order.
Definitions ReadDefinitions(std::span<const EmbeddedFile> files);

// Topics of the module "muster" and of site and sweep files, from the definitions that editors read.

// "muster.flags" and every other function and value of the module; the fields of sweep files, site files and contracts,
// by table.
Topics DefinitionTopics(const Definitions& definitions);

}  // namespace muster
