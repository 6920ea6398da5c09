// Tests how stored formats evolve: texts of an earlier version, which lack a field, are read.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "run/lines/json_lines.h"
#include "wire/archive/json_fields.h"

namespace muster {
namespace {

struct Before {
  std::uint32_t process = 0;
  std::string kind;
};
template <class V>
void Fields(V& v, Before& e) {
  v("process", e.process), v("kind", AtMost(e.kind, 100));
}

// The same with fields that were added later: bounded, cut, in the middle and at the end, with a default of its own.
struct After {
  std::uint32_t process = 0;
  std::string core;
  std::string detail = "none";
  std::string kind;
  std::int64_t weight = 7;
};
template <class V>
void Fields(V& v, After& e) {
  v("process", e.process), v("core", MayBeMissing(AtMost(e.core, 10)));
  v("detail", MayBeMissing(Phrase{e.detail, 10})), v("kind", AtMost(e.kind, 100)), v("weight", MayBeMissing(e.weight));
}

template <class T>
bool ReadAsLine(const std::string& line, T& value) {
  LineReader reader(line);
  reader.Get(value);
  return reader.AtEnd();
}
template <class T>
bool ReadAsJson(const std::string& text, T& value) {
  const auto read = FromJson<T>(text);
  if (read) value = *read;
  return read.has_value();
}

TEST(StoredFormats, AFieldThatWasAddedMayBeMissing) {
  const std::string old = JsonOf(Before{3, "exit"});
  for (const auto read_text : {ReadAsLine<After>, ReadAsJson<After>}) {
    After read;
    ASSERT_TRUE(read_text(old, read)) << old;
    EXPECT_EQ(read.process, 3U);
    EXPECT_EQ(read.core, "");
    EXPECT_EQ(read.detail, "none");
    EXPECT_EQ(read.kind, "exit");
    EXPECT_EQ(read.weight, 7);
  }
}

TEST(StoredFormats, AFieldThatWasAddedIsWritten) {
  const std::string line = JsonOf(After{3, "c", "d", "exit", 0});
  EXPECT_EQ(line, R"({"process":3,"core":"c","detail":"d","kind":"exit","weight":0})");
  After read;
  ASSERT_TRUE(ReadAsLine(line, read));
  EXPECT_EQ(read.core, "c");
  EXPECT_EQ(read.weight, 0);
  Before before;
  EXPECT_TRUE(ReadAsJson(line, before)) << "an older program ignores it";
}

// All bounds hold, although the form is around them: messages of agents are checked with them.
TEST(StoredFormats, AFieldThatWasAddedKeepsItsBoundInArchives) {
  ArchiveWriter writer;
  After value{3, std::string(11, 'x'), "d", "exit", 0};
  Fields(writer, value);
  BasicArchiveReader<true> reader(writer.bytes());
  After read;
  Fields(reader, read);
  EXPECT_FALSE(reader.ok());
  ArchiveWriter short_writer;
  value.core = "core.1";
  Fields(short_writer, value);
  BasicArchiveReader<true> second(short_writer.bytes());
  Fields(second, read);
  EXPECT_TRUE(second.Complete());
  EXPECT_EQ(read.core, "core.1");
}

}  // namespace
}  // namespace muster
