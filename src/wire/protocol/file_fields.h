// Archive fields of the messages in file_messages.h and of the types that they contain.
#pragma once

#include "wire/archive/archive.h"
#include "wire/protocol/file_messages.h"
#include "wire/protocol/protocol_bounds.h"

namespace muster {

template <class A>
void Fields(A& archive, PlaceFile& m) {
  archive(AtMost(m.path, protocol_bounds::kPath), m.offset, AtMost(m.content, protocol_bounds::kText));
}

template <class A>
void Fields(A& archive, FileBytes& m) {
  archive(AtMost(m.path, protocol_bounds::kPath), m.offset, AtMost(m.content, kMostFilePart), m.last);
}

template <class A>
void Fields(A& archive, FilesSent& m) {
  archive(m.unused);
}

template <class A>
void Fields(A& archive, FilesStored& m) {
  archive(m.all);
}

}  // namespace muster
