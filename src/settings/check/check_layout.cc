#include "settings/check/check_layout.h"

#include <algorithm>
#include <set>

#include "settings/check/check_table.h"
#include "settings/schema/rule_note.h"

namespace muster {
namespace {

constexpr std::string_view kUncut = "None";
constexpr std::string_view kInterleaved = "interleaved_parallel";

const Value* Member(const Value::Map& layout, const std::string& name) {
  const auto found = layout.find(name);
  return found == layout.end() ? nullptr : &found->second;
}

std::size_t LengthOf(const Value::Map& layout, const std::string& name) {
  const Value* member = Member(layout, name);
  return member == nullptr || member->AsList() == nullptr ? 0 : member->AsList()->size();
}

// The axes of tensor_map in order, those of inner lists too.
std::vector<std::string> AxesIn(const Value& tensor_map) {
  std::vector<std::string> axes;
  if (tensor_map.AsList() == nullptr) return axes;  // an empty table
  for (const Value& element : *tensor_map.AsList()) {
    if (const std::string* name = element.AsString()) axes.push_back(*name);
    if (element.AsList() == nullptr) continue;
    for (const Value& inner : *element.AsList()) axes.push_back(*inner.AsString());
  }
  return axes;
}

// One layout whose sub-keys have the right types.
class LayoutCheck {
 public:
  LayoutCheck(const Value::Map& layout, const std::string& path, const CheckedIn& where, Diagnostics& problems)
      : layout_(layout), path_(path), where_(where), problems_(problems) {}

  bool Run() { return NamesAreDistinct() && EveryAxisHasAName() && TensorMapNamesAxes() && RanksFillTheMatrix(); }

 private:
  bool Refuse(const std::string& key, const std::string& what, std::string hint = {}) {
    Diagnostic problem = Error("conflict", where_.At(path_), path_ + "." + key + " " + what, std::move(hint));
    problem.notes.push_back(RuleNote({"", "refuses such a Layout"}));
    problems_.push_back(std::move(problem));
    return false;
  }

  bool NamesAreDistinct() {
    std::set<std::string> seen;
    for (const Value& name : *Member(layout_, "alias_name")->AsList()) {
      const std::string& text = *name.AsString();
      if (text.empty()) return Refuse("alias_name", "holds an empty name");
      if (text == kUncut) {
        return Refuse("alias_name", "holds \"None\", which stands for a dimension that is not cut",
                      "give the axis another name");
      }
      if (text == kInterleaved) return Refuse("alias_name", "holds interleaved_parallel, which no data set can have");
      if (!seen.insert(text).second) return Refuse("alias_name", "names " + ToText(name) + " twice");
    }
    return true;
  }

  bool EveryAxisHasAName() {
    const std::size_t axes = LengthOf(layout_, "device_matrix");
    const std::size_t names = LengthOf(layout_, "alias_name");
    if (axes == names) return true;
    return Refuse("alias_name",
                  "has " + std::to_string(names) + (names == 1 ? " name" : " names") + " for a device_matrix of " +
                      std::to_string(axes) + (axes == 1 ? " axis" : " axes"),
                  "give each axis of the matrix one name");
  }

  bool TensorMapNamesAxes() {
    const Value::List& names = *Member(layout_, "alias_name")->AsList();
    std::set<std::string> used;
    for (const std::string& axis : AxesIn(*Member(layout_, "tensor_map"))) {
      if (axis == kUncut) continue;
      if (std::find(names.begin(), names.end(), Value(axis)) == names.end()) {
        return Refuse("tensor_map", "names " + ToText(Value(axis)) + ", which is no axis of " + ToText(Value(names)),
                      "\"None\" leaves a dimension uncut");
      }
      if (!used.insert(axis).second) return Refuse("tensor_map", "names " + ToText(Value(axis)) + " twice");
    }
    return true;
  }

  bool RanksFillTheMatrix() {
    const Value* ranks = Member(layout_, "rank_list");
    const auto devices = DevicesOf(Value(layout_));
    if (ranks == nullptr || !devices) return true;
    const std::size_t given = ranks->AsList() == nullptr ? 0 : ranks->AsList()->size();
    if (given == static_cast<std::size_t>(*devices)) return true;
    return Refuse("rank_list", "has " + std::to_string(given) + " ranks for the " + std::to_string(*devices) +
                                   " devices of device_matrix = " + ToText(*Member(layout_, "device_matrix")));
  }

  const Value::Map& layout_;
  const std::string& path_;
  const CheckedIn& where_;
  Diagnostics& problems_;
};

}  // namespace

bool IsListOfLayouts(const Value& value) {
  const Value::List* list = value.AsList();
  return list != nullptr && !list->empty() && std::all_of(list->begin(), list->end(), [](const Value& element) {
           return element.AsMap() != nullptr && !element.AsMap()->empty();
         });
}

bool IsListOfAxes(const Value& value) {
  const Value::Map* none = value.AsMap();  // an empty Lua table arrives as a map
  if (none != nullptr) return none->empty();
  const auto is_text = [](const Value& element) { return element.AsString() != nullptr; };
  return value.AsList() != nullptr &&
         std::all_of(value.AsList()->begin(), value.AsList()->end(), [&](const Value& element) {
           const Value::List* inner = element.AsList();
           return is_text(element) || (inner != nullptr && std::all_of(inner->begin(), inner->end(), is_text));
         });
}

std::optional<Value> CheckLayouts(const Attribute& attribute, const Value& value, const std::string& path,
                                  const CheckedIn& where, Diagnostics& problems) {
  Value::List stored;
  bool accepted = true;
  for (const Value& element : *value.AsList()) {
    const std::string at = path + "[" + std::to_string(stored.size() + 1) + "]";
    auto layout = CheckTable(attribute, element, at, where, problems);
    accepted = layout && LayoutCheck(*layout->AsMap(), at, where, problems).Run() && accepted;
    stored.push_back(layout ? std::move(*layout) : Value());
  }
  return accepted ? std::optional(Value(std::move(stored))) : std::nullopt;
}

std::optional<std::int64_t> DevicesOf(const Value& layout) {
  const Value* matrix = layout.AsMap() == nullptr ? nullptr : Member(*layout.AsMap(), "device_matrix");
  if (matrix == nullptr || matrix->AsList() == nullptr) return std::nullopt;
  std::int64_t product = 1;
  for (const Value& axis : *matrix->AsList()) {
    if (axis.AsInt() == nullptr || __builtin_mul_overflow(product, *axis.AsInt(), &product)) return std::nullopt;
  }
  return product;
}

}  // namespace muster
