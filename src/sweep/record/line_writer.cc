#include "sweep/record/line_writer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "run/directory/json_text.h"
#include "run/journal/journal_line.h"

namespace muster {
namespace {

bool IsPlain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

}  // namespace

void LineWriter::Put(const std::string& text) {
  if (!std::all_of(text.begin(), text.end(), IsPlain)) {
    line_ += JsonText(Value(Readable(text)));
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
  // A number with a fraction stays one.
  if (line_.find_first_of(".e", begin) == std::string::npos) line_ += ".0";
}

void LineWriter::PutInteger(bool is_signed, std::uint64_t number) {
  const fmt::format_int text = is_signed ? fmt::format_int(static_cast<std::int64_t>(number)) : fmt::format_int(number);
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

void LineWriter::Put(const std::map<std::string, Value>& values) {
  line_ += '{';
  bool first = true;
  for (const auto& [name, value] : values) {
    if (!std::exchange(first, false)) line_ += ',';
    Put(name);
    line_ += ':';
    Put(value);
  }
  line_ += '}';
}

void LineWriter::Put(const std::map<double, double>& numbers) {
  line_ += '[';
  bool first = true;
  for (const auto& [key, number] : numbers) {
    line_ += std::exchange(first, false) ? "[" : ",[";
    Put(key);
    line_ += ',';
    Put(number);
    line_ += ']';
  }
  line_ += ']';
}

}  // namespace muster
