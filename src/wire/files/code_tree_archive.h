// Archive fields of a code tree (wire/archive/archive.h): in messages, and in the lists that hosts store.
#pragma once

#include "wire/archive/archive.h"
#include "wire/files/code_tree.h"

namespace muster {

template <class A>
void Fields(A& archive, CodeEntry& entry) {
  archive(AtMost(entry.path, kLongestCodePath), entry.link, AtMost(entry.target, kLongestCodePath), entry.mode,
          entry.size, AtMost(entry.hash, kLongestCodePath));
}

}  // namespace muster
