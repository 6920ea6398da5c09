#include "settings/check/check_file.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "settings/values/value_json.h"

namespace muster {

bool CheckFile(const Attribute& attribute, const ShippedFile& file, const std::string& path, const CheckedIn& where,
               Diagnostics& problems) {
  Diagnostics inside;
  const auto json = LocatedJsonFromText(file.content);
  const Attribute* record = where.schema == nullptr ? nullptr : where.schema->FindFile(attribute.file, where.release);
  const bool described = !file.described.file.empty();
  const Place whole = described ? file.described : Place{file.shown, 0};
  if (!json) {
    const Place place = described ? whole : Place{file.shown, json.error().line};
    inside.push_back(
        Error("bad_json", place, (described ? path + ": the file is not valid JSON: " : "") + json.error().message));
  } else if (record != nullptr) {
    static const std::map<std::string, std::uint32_t> kNoLines;
    CheckValue(*record, json->value, "", {where.release, whole, nullptr, nullptr, described ? &kNoLines : &json->lines},
               inside);
  }
  std::stable_sort(inside.begin(), inside.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.place.line < b.place.line; });
  const bool well = !HasErrors(inside);
  for (Diagnostic& problem : inside) {
    problem.notes.push_back({path + " names this file here", where.place});
    problems.push_back(std::move(problem));
  }
  return well;
}

}  // namespace muster
