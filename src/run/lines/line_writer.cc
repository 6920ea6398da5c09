#include "run/lines/line_writer.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "base/values/json_text.h"

namespace muster {
namespace {

bool IsPlain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

}  // namespace

void LineWriter::Put(std::string_view text) {
  if (!std::all_of(text.begin(), text.end(), IsPlain)) {
    line_ += JsonText(Value(Readable(std::string(text))));
    return;
  }
  line_ += '"';
  line_ += text;
  line_ += '"';
}

void LineWriter::Put(double number) {
  if (!std::isfinite(number)) {
    line_ += "null";
    return;
  }
  const std::size_t begin = line_.size();
  fmt::format_to(std::back_inserter(line_), "{}", number);
  // A floating-point number remains one when it is read back.
  if (line_.find_first_of(".e", begin) == std::string::npos) line_ += ".0";
}

void LineWriter::PutSigned(std::int64_t number) {
  const fmt::format_int text(number);
  line_.append(text.data(), text.size());
}

void LineWriter::PutUnsigned(std::uint64_t number) {
  const fmt::format_int text(std::min(number, largest_));
  line_.append(text.data(), text.size());
}

void LineWriter::Put(const Value& value) {
  if (const std::string* text = value.AsString()) return Put(*text);
  if (const std::int64_t* number = value.AsInt()) return Put(*number);
  if (const double* number = value.AsDouble()) return Put(*number);
  if (const bool* truth = value.AsBool()) return Put(*truth);
  if (const Value::List* list = value.AsList()) return Put(*list);
  if (const Value::Map* map = value.AsMap()) return Put(*map);
  line_ += "null";
}

void LineWriter::Put(const std::map<double, double>& numbers) {
  char before = '[';
  for (const auto& [key, number] : numbers) {
    line_ += std::exchange(before, ',');
    line_ += '[';
    Put(key);
    line_ += ',';
    Put(number);
    line_ += ']';
  }
  line_ += numbers.empty() ? "[]" : "]";
}

}  // namespace muster
