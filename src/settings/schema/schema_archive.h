// A whole schema as bytes. They are made when muster is built: reading and checking the records of ten releases in
// every process would take a large part of the time of a check.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "muster/mindspore/schema.h"

namespace muster {

std::string ArchiveOfSchema(const Schema& schema);
// Nothing if the bytes are no archive of a schema. They are the program's own: the numbers of enums are not checked.
std::optional<Schema> SchemaInArchive(std::string_view bytes);

}  // namespace muster
