#include "plan/plan/contract_variables.h"

#include <utility>

#include "base/values/value_json.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/value_archive.h"

namespace muster {
namespace {

using Meaning = ContractVariable::Meaning;

bool NamesARole(Meaning is) {
  return is == Meaning::kCount || is == Meaning::kAddress || is == Meaning::kPort || is == Meaning::kEndpoint;
}

}  // namespace

tl::expected<std::vector<ContractVariable>, std::string> ContractVariablesFrom(const Value& list) {
  std::vector<ContractVariable> variables;
  if (list.AsList() == nullptr) return variables;  // an empty table of Lua
  for (const Value& each : *list.AsList()) {
    JsonReader<> reader(JsonReading::kClosed);
    ContractVariable& variable = variables.emplace_back();
    reader.Get(each, variable);
    if (reader.ok() && NamesARole(variable.is) == variable.of.empty())
      reader.Fail(variable.of.empty() ? "`of` must name a role" : "`of` is for counts and for the rendezvous endpoint");
    if (reader.ok() && variable.is != Meaning::kRole && !variable.words.empty())
      reader.Fail("`words` are for the role");
    if (!reader.ok()) return tl::unexpected("variable " + TextField(each, "name") + ": " + reader.problem());
  }
  return variables;
}

tl::expected<std::optional<std::vector<ContractVariable>>, std::string> OwnContractNamed(const Value& records,
                                                                                         std::string_view name) {
  if (records.AsList() == nullptr) return std::nullopt;
  for (const Value& record : *records.AsList()) {
    if (TextField(record, "name") == name) return ContractVariablesFrom(ValueField(record, "meanings"));
  }
  return std::nullopt;
}

}  // namespace muster
