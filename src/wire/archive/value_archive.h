// Archive fields of public values (wire/archive/archive.h): values, diagnostics and their parts, and steps of an
// activation and variables of a contract, which the plan and its JSON use too.
#pragma once

#include "muster/activation.h"
#include "muster/contract.h"
#include "muster/diagnostic.h"
#include "muster/value.h"
#include "wire/archive/archive.h"

namespace muster {

// Archive fields of Value, Diagnostic and their parts (wire/archive/archive.h).

template <class A>
void Fields(A& archive, Null&) {
  (void)archive;
}

template <class A>
void Fields(A& archive, Value& value) {
  std::uint8_t kind = static_cast<std::uint8_t>(value.data().index());
  archive(kind);
  if constexpr (A::kReading) {
    switch (kind) {
      case 0:
        value = Value();
        break;
      case 1:
        value = Value(false);
        break;
      case 2:
        value = Value(0);
        break;
      case 3:
        value = Value(0.0);
        break;
      case 4:
        value = Value(std::string());
        break;
      case 5:
        value = Value(Value::List());
        break;
      case 6:
        value = Value(Value::Map());
        break;
      default:
        archive.Fail();
        return;
    }
  }
  std::visit([&](auto& held) { archive(held); }, value.data());
}

template <class A>
void Fields(A& archive, Place& place) {
  archive(place.file, place.line);
}

template <class A>
void Fields(A& archive, Note& note) {
  archive(note.message, note.place);
}

template <class A>
void Fields(A& archive, Diagnostic& diagnostic) {
  InRange(archive, diagnostic.severity, Severity::kWarning);
  InRange(archive, diagnostic.blame, Blame::kBusy);
  archive(diagnostic.kind, diagnostic.place, diagnostic.message, diagnostic.hint, diagnostic.notes);
}

// Archive fields of an activation step (wire/archive/archive.h); also used for the plan and its JSON.

template <class A>
void Fields(A& archive, ActivationStep& step) {
  archive("kind", WithNames(step.kind, kActivationKinds));
  archive("what", AtMost(step.what, std::size_t{1} << 20));
}

// … and of a variable of a contract; also used for the plan and the facts of a rehearsal.

template <class A>
void Fields(A& archive, ContractVariable& variable) {
  archive("name", variable.name), archive("roles", As<UnlessNone>(variable.roles));
  archive("is", WithNames(variable.is, kMeaningNames)), archive("of", As<UnlessNone>(variable.of));
  archive("words", As<UnlessNone>(variable.words)), archive("optional", As<UnlessNone>(variable.optional));
}

}  // namespace muster
