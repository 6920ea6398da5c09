// Archive fields of the messages in code_messages.h and of the types that they contain.
#pragma once

#include "wire/archive/archive.h"
#include "wire/files/code_tree.h"
#include "wire/files/code_tree_archive.h"
#include "wire/protocol/code_messages.h"
#include "wire/protocol/protocol_bounds.h"

namespace muster {

template <class A>
void Fields(A& archive, OfferCode& m) {
  archive(AtMost(m.hash, protocol_bounds::kName), AtMost(m.entries, kMostCodeEntries), m.last);
}

template <class A>
void Fields(A& archive, CodeBytes& m) {
  archive(m.entry, AtMost(m.content, kCodeWindow));
}

template <class A>
void Fields(A& archive, CodeMissing& m) {
  archive(AtMost(m.entries, kMostCodeEntries));
}

template <class A>
void Fields(A& archive, CodeReceived& m) {
  archive(m.bytes);
}

template <class A>
void Fields(A& archive, CodeReady& m) {
  archive(AtMost(m.folder, protocol_bounds::kPath), Phrase{m.error, protocol_bounds::kPhrase});
}

}  // namespace muster
