// See dataset.h.
#include "ps_digits/dataset.h"

#include <cerrno>
#include <cstdio>
#include <memory>

#include "ps_digits/number.h"

namespace ps_digits {
namespace {

constexpr std::size_t kMaxFileBytes = 64 << 20;

std::uint64_t Fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

// Removes the next field and its separator from `rest`.
std::string_view TakeUntil(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view piece = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return piece;
}

std::size_t CountFields(std::string_view line) {
  std::size_t count = 1;
  for (const char c : line) count += c == ',' ? 1U : 0U;
  return count;
}

Result<Image> ParseImage(std::string_view line) {
  const std::size_t fields = CountFields(line);
  if (fields != kPixels + 1) {
    return Failure{std::to_string(fields) + " fields, want " + std::to_string(kPixels) + " pixels and the digit"};
  }
  Image image;
  for (std::size_t i = 0; i < kPixels; ++i) {
    const std::string_view field = TakeUntil(line, ',');
    const auto pixel = ParseInteger(field, 0, kMaxPixel);
    if (!pixel) {
      return Failure{"field " + std::to_string(i + 1) + " is \"" + std::string(field.substr(0, 20)) +
                     "\", want a pixel in 0.." + std::to_string(kMaxPixel)};
    }
    image.pixels[i] = static_cast<double>(*pixel) / kMaxPixel;
  }
  const auto digit = ParseInteger(line, 0, static_cast<std::int64_t>(kClasses) - 1);
  if (!digit) return Failure{"the last field is \"" + std::string(line.substr(0, 20)) + "\", want a digit in 0..9"};
  image.digit = static_cast<std::uint8_t>(*digit);
  return image;
}

}  // namespace

Result<Dataset> ParseDataset(std::string_view text, const std::string& name) {
  Dataset dataset;
  dataset.fingerprint = Fnv1a(text);
  for (std::size_t line_number = 1; !text.empty(); ++line_number) {
    std::string_view line = TakeUntil(text, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto image = ParseImage(line);
    if (!image) return Failure{name + ":" + std::to_string(line_number) + ": " + image.error().message};
    (line_number % kTestEvery == 0 ? dataset.test : dataset.training).push_back(*image);
  }
  if (dataset.test.empty()) {
    return Failure{name + ": " + std::to_string(dataset.training.size()) + " images, want at least " +
                   std::to_string(kTestEvery)};
  }
  return dataset;
}

Result<Dataset> LoadDataset(const std::string& file) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "rbe"), &std::fclose);
  if (!stream) return SystemFailure("cannot read " + file, errno);
  std::string text;
  std::array<char, 65536> buffer;
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), stream.get())) {
    text.append(buffer.data(), count);
    if (text.size() > kMaxFileBytes) return Failure{"cannot read " + file + ": too large to be a file of digits"};
  }
  if (std::ferror(stream.get()) != 0) return SystemFailure("cannot read " + file, errno);
  return ParseDataset(text, file);
}

}  // namespace ps_digits
