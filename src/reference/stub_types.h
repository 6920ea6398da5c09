// The types of attributes in definitions for editors (LuaLS annotations), and the classes of tables with such fields.
#pragma once

#include <string>
#include <vector>

#include "muster/mindspore/schema.h"
#include "reference/attribute_history.h"
#include "reference/page.h"

namespace muster {

// "muster.SetContext" for set_context, "muster.SetContext.jit_config" for the sub-keys of its attribute jit_config.
std::string StubClassName(const std::string& function, const std::string& path = {});

void AddOnce(std::vector<std::string>& words, const std::string& word);

// Adds the choices of a record, and the kinds that have no choices.
void AddChoicesAndKinds(const AttributeHistory& history, const Attribute& record, std::vector<std::string>& types);

// "any" for no types.
std::string JoinedTypes(std::vector<std::string> types);

// The type over all releases and variants of an attribute, as it is written.
std::string WrittenType(const std::vector<AttributeHistory>& histories, const std::string& path);

// The documentation of a field or function: its summary, then its facts as a list.
std::string StubComment(const std::string& doc, const std::vector<Fact>& facts);

// The class of the attributes directly below `path` (empty: those of the function itself), and those of their sub-keys.
std::string StubClass(const std::vector<AttributeHistory>& histories, const std::string& function,
                      const std::string& path, const std::string& doc, const std::vector<Release>& all);

}  // namespace muster
