// precompile ROOT OUTPUT FILE…: compiles Lua files below ROOT to bytecode of the same names below OUTPUT. Run when
// muster is built, on muster's own files only (see lua/state/own_files.h): parsing their text would take a large part
// of the time of a small recipe.
//
// Bytecode fits only the interpreter that made it. Another interpreter refuses it; the text, which is also part of the
// program, is loaded instead (lua/state/own_files.cc).
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "lua/state/prepare_files.h"

namespace {

// Sorts the fields of constant tables in a bytecode dump: LuaJIT writes them in the order of its hashes, which have a
// random seed, so each build would have other bytes. The format is that of lj_bcdump.h, version 2.
class SortFields {
 public:
  explicit SortFields(std::string& bytes) : bytes_(bytes) {}

  void Run() {
    at_ = 4;  // ESC, "LJ", version
    const std::uint64_t flags = Number();
    const bool debug = (flags & 2) == 0;
    if (debug) at_ += Number();
    while (const std::uint64_t size = Number()) {
      const std::size_t end = at_ + size;
      Prototype(debug);
      at_ = end;
    }
  }

 private:
  std::uint64_t Number() {  // ULEB128
    std::uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.at(at_++));
      number |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return number;
    }
  }

  void Prototype(bool debug) {
    const auto upvalues = static_cast<unsigned char>(bytes_.at(at_ + 3));
    at_ += 4;  // flags, parameters, frame size, upvalues
    const std::uint64_t constants = Number();
    Number();  // numbers
    const std::uint64_t instructions = Number();
    if (debug && Number() != 0) {
      Number();  // first line
      Number();  // lines
    }
    at_ += 4 * instructions + std::size_t{2} * upvalues;
    for (std::uint64_t i = 0; i < constants; ++i) {
      const std::uint64_t type = Number();
      if (type == 1) Table();
      for (std::uint64_t parts = type == 2 || type == 3 ? 2 : type == 4 ? 4 : 0; parts > 0; --parts) Number();
      if (type >= 5) at_ += type - 5;
    }
  }

  void Table() {
    const std::uint64_t array = Number();
    const std::uint64_t fields = Number();
    for (std::uint64_t i = 0; i < array; ++i) Item();
    const std::size_t begin = at_;
    std::vector<std::string> sorted;
    for (std::uint64_t i = 0; i < fields; ++i) {
      const std::size_t field = at_;
      Item();
      Item();
      sorted.push_back(bytes_.substr(field, at_ - field));
    }
    std::sort(sorted.begin(), sorted.end());
    std::size_t to = begin;
    for (const std::string& field : sorted) {
      bytes_.replace(to, field.size(), field);
      to += field.size();
    }
  }

  void Item() {
    const std::uint64_t type = Number();
    for (std::uint64_t parts = type == 3 ? 1 : type == 4 ? 2 : 0; parts > 0; --parts) Number();
    if (type >= 5) at_ += type - 5;
  }

  std::string& bytes_;
  std::size_t at_ = 0;
};

int Append(lua_State*, const void* bytes, std::size_t size, void* to) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), size);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return muster::ForEachFile(argc, argv, [&](lua_State* lua, const std::string& file) {
    std::string bytecode;
    if (lua_dump(lua, Append, &bytecode) != 0) return false;
    SortFields{bytecode}.Run();
    return muster::WritePrepared(argv[2], file, bytecode);
  });
}
