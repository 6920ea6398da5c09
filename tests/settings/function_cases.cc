#include "settings/function_cases.h"

#include <algorithm>
#include <functional>

#include "settings/schema/schema.h"

namespace muster {
namespace {

Value Number(double number) { return Value(static_cast<std::int64_t>(number)); }

// Numbers at the limits, and around the default; -2 for a default of -1 is none of them.
std::vector<Value> Numbers(const Attribute& attribute) {
  std::vector<Value> values;
  if (attribute.min) values.push_back(Number(*attribute.min));
  if (attribute.max) values.push_back(Number(*attribute.max));
  if (attribute.default_value.IsNumber()) {
    const double standard = attribute.default_value.Number();
    for (const double factor : {1, 2}) {
      if (standard > 0) values.push_back(Number(factor * standard));
    }
  }
  if (values.empty()) values.push_back(Number(1));
  values.insert(values.end(), attribute.also.begin(), attribute.also.end());
  return values;
}

std::string TextFor(const Attribute& attribute, const std::string& name) {
  return (attribute.absolute ? "/" : "") + name + attribute.suffix;
}

Value::Map ValidTable(const Attribute& attribute, const Release& release, bool with_all) {
  Value::Map table;
  for (const Attribute& key : attribute.keys) {
    const bool applies = std::all_of(key.when.begin(), key.when.end(), [&](const auto& condition) {
      const auto sibling = table.find(condition.first);
      return sibling != table.end() && sibling->second == condition.second;
    });
    if (!key.ExistsIn(release) || !applies || (!with_all && !key.required)) continue;
    if (key.kinds != std::vector{Kind::kAny}) table[key.name] = ValidValue(key, release);
  }
  return table;
}

Value ValidLayout() {
  return Value(Value::Map{{"device_matrix", Value::List{2, 4}},
                          {"alias_name", Value::List{"dp", "mp"}},
                          {"tensor_map", Value::List{"dp", Value::List{"mp", "None"}}}});
}

// At least one value of each kind that the record names.
std::vector<Value> ValidValues(const Attribute& attribute, const Release& release) {
  std::vector<Value> values = attribute.choices;
  for (const Kind kind : attribute.kinds) {
    switch (kind) {
      case Kind::kBool:
        values.insert(values.end(), {Value(true), Value(false)});
        break;
      case Kind::kInt:
      case Kind::kFloat:
        for (Value& value : Numbers(attribute)) values.push_back(std::move(value));
        break;
      case Kind::kEnum:
      case Kind::kWords:
        break;  // the choices
      case Kind::kString:
      case Kind::kPath:
        if (!attribute.choices.empty()) break;
        values.emplace_back(TextFor(attribute, "here"));
        values.emplace_back(TextFor(attribute, "there"));
        break;
      case Kind::kSize:
        values.insert(values.end(), {Value("3.5GB"), Value(std::int64_t{1} << 30)});
        values.insert(values.end(), attribute.also.begin(), attribute.also.end());
        break;
      case Kind::kListInt:
        values.emplace_back(Value::List{Number(attribute.min.value_or(1))});
        break;
      case Kind::kTuple:
        values.emplace_back(Value::List{Value::List{1, 8}});
        break;
      case Kind::kDict:
        for (const bool with_all : {true, false}) values.emplace_back(ValidTable(attribute, release, with_all));
        break;
      case Kind::kTextMap:
        values.emplace_back(Value::Map{{"name", "text"}});
        break;
      case Kind::kListText:
        values.emplace_back(Value::List{"0-9"});
        break;
      case Kind::kListMap:
        values.emplace_back(
            Value::Map{{"device0", attribute.min ? Value(Value::List{0, 1}) : Value(Value::List{"0-9"})}});
        break;
      case Kind::kLayouts:
        values.emplace_back(Value::List{ValidLayout()});
        break;
      case Kind::kAxes:
        values.emplace_back(Value::List{"dp"});
        break;
      case Kind::kAny:
        break;
    }
  }
  return values;
}

// One value of every type, and values beyond every limit of the record.
std::vector<Value> DoubtfulValues(const Attribute& attribute) {
  std::vector<Value> values = {Value(),
                               Value(true),
                               Value(1.5),
                               Value("?"),
                               Value(""),
                               Value(Value::List{1}),
                               Value(Value::List{"?"}),
                               Value(Value::List{Value::List{"?"}}),
                               Value(Value::Map{{"?", 1}}),
                               Value(Value::Map{}),
                               Value(7)};
  if (attribute.min) values.push_back(Number(*attribute.min - 1));
  if (attribute.max) values.push_back(Number(*attribute.max + 1));
  if (attribute.Is(Kind::kSize)) values.insert(values.end(), {Value("0GB"), Value("3.5"), Value(1024)});
  if (attribute.absolute) values.emplace_back("here" + attribute.suffix);
  if (!attribute.suffix.empty()) values.emplace_back("/here");
  if (attribute.Is(Kind::kListInt) && attribute.min) values.emplace_back(Value::List{Number(*attribute.min - 1)});
  return values;
}

class Maker {
 public:
  Maker(const Schema& schema, const Function& function, const Release& release)
      : schema_(schema), function_(function), release_(release) {
    for (const std::string& name : function.parameters) {
      const Attribute* parameter = schema.Find(function.name, name, release);
      if (parameter != nullptr && parameter->required) required_[name] = ValidValue(*parameter, release);
    }
    if (Parameter(std::string(kCalled)) != nullptr) required_[std::string(kCalled)] = true;
  }

  std::vector<FunctionCase> Run() {
    Add(required_);
    for (const std::string& name : function_.parameters) OfParameter(name);
    Value::Map unknown = required_;
    unknown["unheard_of"] = 1;
    Add(unknown);
    for (const auto& [name, unused] : required_) {
      Value::Map without = required_;
      without.erase(name);
      if (name != kCalled) Add(without);
    }
    Repeated();
    for (const char* device : {"Ascend", "GPU", "CPU"}) {
      if (!function_.devices.empty()) Add(required_, {{"set_device", {{"device_target", device}}}});
    }
    for (const std::string& name : function_.parameters) BesideOldNames(name);
    return std::move(cases_);
  }

 private:
  const Attribute* Parameter(const std::string& name) const { return schema_.Find(function_.name, name, release_); }

  void Add(Value::Map arguments, std::vector<NamedCall> before = {}) {
    FunctionCase made{std::move(before), {function_.name, std::move(arguments)}};
    if (std::find(cases_.begin(), cases_.end(), made) == cases_.end()) cases_.push_back(std::move(made));
  }

  void With(const std::string& name, Value value) {
    Value::Map arguments = required_;
    arguments[name] = std::move(value);
    Add(std::move(arguments));
  }

  void OfParameter(const std::string& name) {
    const Attribute* parameter = Parameter(name);
    if (parameter == nullptr || name == kCalled) {
      if (parameter == nullptr) With(name, Value(1));  // one of a later release
      return;
    }
    for (Value& value : ValidValues(*parameter, release_)) With(name, std::move(value));
    for (Value& value : DoubtfulValues(*parameter)) With(name, std::move(value));
    if (parameter->Is(Kind::kDict)) {
      OfKeys(*parameter, [&](Value::Map table) { With(name, Value(std::move(table))); });
    }
    if (!parameter->Is(Kind::kLayouts)) return;
    for (const Attribute& key : parameter->keys) {
      for (const Value& value : DoubtfulValues(key)) {
        Value::Map layout = *ValidLayout().AsMap();
        layout[key.name] = value;
        With(name, Value(Value::List{Value(std::move(layout))}));
      }
    }
  }

  void OfKeys(const Attribute& table, const std::function<void(Value::Map)>& take) {
    const Value::Map needed = ValidTable(table, release_, false);
    for (const Attribute& key : table.keys) {
      if (!key.when.empty()) continue;  // what it takes depends on the sub-key beside it
      const auto with = [&](Value value) {
        Value::Map changed = needed;
        changed[key.name] = std::move(value);
        take(std::move(changed));
      };
      for (const Value& value : ValidValues(key, release_)) with(value);
      for (const Value& value : DoubtfulValues(key)) with(value);
      if (key.Is(Kind::kDict)) OfKeys(key, [&](Value::Map inner) { with(Value(std::move(inner))); });
    }
  }

  void Repeated() {
    Add(required_, {{function_.name, required_}});
    for (const std::string& name : function_.parameters) {
      const Attribute* parameter = Parameter(name);
      const auto values = parameter == nullptr ? std::vector<Value>() : ValidValues(*parameter, release_);
      if (values.size() < 2) continue;
      Value::Map first = required_;
      Value::Map second = required_;
      first[name] = values[0];
      second[name] = values[1];
      return Add(std::move(second), {{function_.name, std::move(first)}});
    }
  }

  // The call after an attribute that it overrides; the attribute after it is called.
  void BesideOldNames(const std::string& name) {
    const Attribute* parameter = Parameter(name);
    if (parameter == nullptr) return;
    std::vector<std::string> paths = {parameter->replaces};
    for (const Attribute& key : parameter->keys) {
      if (parameter->Is(Kind::kDict)) paths.push_back(key.replaces);
    }
    for (const std::string& path : paths) {
      const std::size_t dot = path.find('.');
      const Attribute* old =
          dot == std::string::npos ? nullptr : schema_.Find(path.substr(0, dot), path.substr(dot + 1), release_);
      if (old == nullptr) continue;
      const NamedCall graph{"set_context", {{"mode", 0}}};
      const NamedCall setting{old->api, {{old->name, ValidValue(*old, release_)}}};
      Value::Map arguments = required_;
      arguments[name] = ValidValue(*parameter, release_);
      Add(arguments, {graph, setting});
      FunctionCase after{{graph, {function_.name, arguments}}, setting};
      cases_.push_back(std::move(after));
    }
  }

  const Schema& schema_;
  const Function& function_;
  const Release& release_;
  Value::Map required_;
  std::vector<FunctionCase> cases_;
};

}  // namespace

Value ValidValue(const Attribute& attribute, const Release& release) {
  const std::vector<Value> values = ValidValues(attribute, release);
  return values.empty() ? Value() : values.front();
}

std::vector<FunctionCase> CasesOf(const Schema& schema, const Function& function, const Release& release) {
  return Maker(schema, function, release).Run();
}

}  // namespace muster
