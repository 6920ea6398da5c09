#include "explain/chain.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace muster {
namespace {

// The value in each of the plans; nothing where there is none.
using Row = std::vector<std::optional<std::string>>;

bool Varies(const Row& row) {
  return std::any_of(row.begin(), row.end(), [&](const auto& value) { return value != row.front(); });
}

struct Quantity {
  Subject subject;
  Row row;
};

// An exact division, the same one in each plan.
struct DividedRow {
  const Division* first = nullptr;  // of the plan to be explained
  Row quotient;
  Row number;
  std::map<std::string, Row> by;
};

// All sequences of digits, in order.
std::vector<std::string> NumbersIn(const std::string& text) {
  std::vector<std::string> numbers;
  bool inside = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !inside) numbers.emplace_back();
    if (digit) numbers.back() += c;
    inside = digit;
  }
  return numbers;
}

class Tracer {
 public:
  explicit Tracer(std::span<const Evaluation* const> plans) : plans_(plans) {
    const Evaluation& explained = *plans.front();
    for (const ParameterState& state : explained.parameters)
      AddQuantity({SubjectKind::kParameter, state.parameter.name});
    for (const ClusterNumber& number : explained.origins.cluster) AddQuantity({SubjectKind::kCluster, number.name});
    AddQuantity({SubjectKind::kCluster, "devices"});
    for (const auto& [name, unused] : explained.origins.derived) AddQuantity({SubjectKind::kDerived, name});
    AddDivisions();
  }

  // For a derived value: its division, or the equal quantity.
  void BelowDerived(const Subject& subject, std::uint32_t depth) {
    if (depth > kDeepest) return;
    const auto found = std::find_if(quantities_.begin(), quantities_.end(),
                                    [&](const Quantity& quantity) { return quantity.subject == subject; });
    if (found == quantities_.end()) return;
    if (const DividedRow* division = DivisionOf(found->row)) {
      BelowDivision(*division, depth);
    } else if (const Quantity* same = QuantityOf("", found->row, &found->subject)) {
      AddLink(*same, same->subject.name, depth);
    }
  }

  void From(const Subject& subject) {
    const auto found = std::find_if(quantities_.begin(), quantities_.end(),
                                    [&](const Quantity& quantity) { return quantity.subject == subject; });
    if (found != quantities_.end()) AddLink(*found, subject.name, 0);
  }

  // For a text: the numbers in it, and the text itself.
  void BelowText(std::span<const std::optional<std::string>> reported) {
    const Row whole(reported.begin(), reported.end());
    std::vector<std::vector<std::string>> numbers;
    for (const auto& text : whole) numbers.push_back(text ? NumbersIn(*text) : std::vector<std::string>());
    bool found = AddEqual(whole);
    // The word after a flag.
    if (!found) {
      Row rest = whole;
      for (auto& text : rest) {
        if (text && text->starts_with("-")) text = text->substr(std::min(text->find(' ') + 1, text->size()));
      }
      if (rest != whole) found = AddEqual(rest);
    }
    for (std::size_t i = 0; !found && i < numbers.front().size(); ++i) {
      Row slot;
      for (const auto& of_plan : numbers) {
        slot.push_back(of_plan.size() == numbers.front().size() ? std::optional(of_plan[i]) : std::nullopt);
      }
      AddEqual(slot);
    }
  }

  const DividedRow* DivisionOf(const Row& row) const {
    const DividedRow* found = nullptr;
    for (const DividedRow& division : divisions_) {
      if (division.quotient != row) continue;
      if (Varies(row)) return &division;
      if (found != nullptr) return nullptr;  // ambiguous
      found = &division;
    }
    return found;
  }

  std::vector<ChainLink> Take() { return std::move(links_); }
  static std::string Formula(const DividedRow& division) {
    std::string text = division.first->name + " " + std::to_string(division.first->number) + " / ";
    std::string product;
    for (const auto& [name, number] : division.first->by) {
      product += (product.empty() ? "" : " × ") + name + " " + std::to_string(number);
    }
    return text + (division.first->by.size() > 1 ? "(" + product + ")" : product);
  }

 private:
  static constexpr std::uint32_t kDeepest = 8;

  void AddQuantity(Subject subject) {
    Quantity& quantity = quantities_.emplace_back(Quantity{std::move(subject), {}});
    for (const Evaluation* plan : plans_) {
      const auto value = WholeValue(*plan, quantity.subject);
      quantity.row.push_back(value ? std::optional(TextOf(*value)) : std::nullopt);
    }
  }

  // Texts without quotes, as in variables and commands.
  static std::string TextOf(const Value& value) {
    return value.AsString() != nullptr ? *value.AsString() : ToText(value);
  }

  void AddDivisions() {
    // The n-th one at its line: a loop may divide at one line many times.
    const auto keys = [](const Evaluation& plan) {
      std::map<std::tuple<std::string, std::uint32_t, std::string>, std::uint32_t> seen;
      std::vector<std::tuple<std::string, std::uint32_t, std::string, std::uint32_t>> all;
      for (const Division& division : plan.origins.divisions) {
        const std::uint32_t nth = seen[{division.place.file, division.place.line, division.name}]++;
        all.emplace_back(division.place.file, division.place.line, division.name, nth);
      }
      return all;
    };
    using Key = std::tuple<std::string, std::uint32_t, std::string, std::uint32_t>;
    std::vector<std::map<Key, const Division*>> by_key;
    for (const Evaluation* plan : plans_) {
      auto& divisions = by_key.emplace_back();
      const auto all = keys(*plan);
      for (std::size_t i = 0; i < all.size(); ++i) divisions[all[i]] = &plan->origins.divisions[i];
    }
    const auto first_keys = keys(*plans_.front());
    for (std::size_t i = 0; i < first_keys.size(); ++i) {
      DividedRow& row = divisions_.emplace_back();
      row.first = &plans_.front()->origins.divisions[i];
      for (const auto& divisions : by_key) {
        const auto found = divisions.find(first_keys[i]);
        const bool there = found != divisions.end();
        const auto text = [&](std::int64_t number) {
          return there ? std::optional(std::to_string(number)) : std::nullopt;
        };
        row.quotient.push_back(text(there ? found->second->quotient : 0));
        row.number.push_back(text(there ? found->second->number : 0));
        for (const auto& [name, unused] : row.first->by) {
          const auto divisor = there ? found->second->by.find(name) : row.first->by.end();
          const bool has = there && divisor != found->second->by.end();
          row.by[name].push_back(has ? std::optional(std::to_string(divisor->second)) : std::nullopt);
        }
      }
    }
  }

  // The quantity with these values; one of the same name is accepted without proof, others only if the values differ
  // between plans. Causes come before their consequences.
  const Quantity* QuantityOf(const std::string& name, const Row& row, const Subject* but = nullptr) const {
    const Quantity* found = nullptr;
    for (const Quantity& quantity : quantities_) {
      if (quantity.row != row || (but != nullptr && quantity.subject == *but)) continue;
      if (!name.empty() && quantity.subject.name == name) return &quantity;
      if (found == nullptr && Varies(row)) found = &quantity;
    }
    return found;
  }

  bool AddEqual(const Row& row) {
    if (!Varies(row) || std::any_of(row.begin(), row.end(), [](const auto& value) { return !value; })) return false;
    const Quantity* quantity = QuantityOf("", row);
    if (quantity != nullptr) AddLink(*quantity, quantity->subject.name, 0);
    return quantity != nullptr;
  }

  void BelowDivision(const DividedRow& division, std::uint32_t depth) {
    AddOperand(division.first->name, division.number, depth);
    for (const auto& [name, row] : division.by) AddOperand(name, row, depth);
  }

  void AddOperand(const std::string& name, const Row& row, std::uint32_t depth) {
    if (const Quantity* quantity = QuantityOf(name, row)) {
      AddLink(*quantity, name, depth);
    } else {
      links_.push_back({depth, name, row.front().value_or(""), "", {}, ""});
    }
  }

  void AddLink(const Quantity& quantity, const std::string& name, std::uint32_t depth) {
    ChainLink link = LinkTo(*plans_.front(), quantity.subject.name);
    link.depth = depth;
    if (quantity.subject.kind == SubjectKind::kDerived) {
      link.name = quantity.subject.name;
      link.value = quantity.row.front().value_or("");
      link.source = "derived";
      link.place = plans_.front()->origins.derived.at(quantity.subject.name);
      if (const DividedRow* division = DivisionOf(quantity.row)) link.formula = Formula(*division);
    }
    if (name != link.name && !name.empty()) link.name = name + " = " + link.name;
    const bool is_new = reported_.insert(SubjectText(quantity.subject)).second;
    links_.push_back(std::move(link));
    if (is_new && quantity.subject.kind == SubjectKind::kDerived) BelowDerived(quantity.subject, depth + 1);
  }

  std::span<const Evaluation* const> plans_;
  std::vector<Quantity> quantities_;  // parameters, the cluster, derived values
  std::vector<DividedRow> divisions_;
  std::vector<ChainLink> links_;
  std::set<std::string> reported_;
};

}  // namespace

Chain ChainBelow(std::span<const Evaluation* const> plans, const Subject& subject,
                 std::span<const std::optional<std::string>> reported) {
  Tracer tracer(plans);
  Chain chain;
  if (subject.kind == SubjectKind::kCluster) {
    chain.formula = LinkTo(*plans.front(), subject.name).formula;
  } else if (subject.kind == SubjectKind::kDerived) {
    if (const DividedRow* division = tracer.DivisionOf(Row(reported.begin(), reported.end()))) {
      chain.formula = Tracer::Formula(*division);
    }
    tracer.BelowDerived(subject, 0);
  } else {
    tracer.BelowText(reported);
  }
  chain.links = tracer.Take();
  return chain;
}

std::vector<ChainLink> ChainFrom(std::span<const Evaluation* const> plans, const std::string& derived) {
  Tracer tracer(plans);
  tracer.From({SubjectKind::kDerived, derived});
  return tracer.Take();
}

ChainLink LinkTo(const Evaluation& evaluation, const std::string& name) {
  for (const ParameterState& state : evaluation.parameters) {
    if (state.parameter.name != name || !state.active) continue;
    const auto [source, place] = SourceOf(state);
    return {0, name, state.value ? ToText(*state.value) : "", source, place, ""};
  }
  std::string product;
  for (const ClusterNumber& number : evaluation.origins.cluster) {
    const auto [source, place] = SourceOf(number);
    if (number.name == name) return {0, name, std::to_string(number.value), source, place, ""};
    product += (product.empty() ? "" : " × ") + number.name + " " + std::to_string(number.value) + " (" + source + ")";
  }
  const auto devices = WholeValue(evaluation, {SubjectKind::kCluster, "devices"});
  if (name == "devices" && devices) return {0, name, ToText(*devices), "", {}, product};
  return {0, name, "", "", {}, ""};
}

}  // namespace muster
