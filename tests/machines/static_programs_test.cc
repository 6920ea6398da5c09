// Tests that the installed programs need nothing of the machine that they come to.
#include <fstream>
#include <string>

#include <elf.h>
#include <gtest/gtest.h>

#include "support/command.h"

namespace muster::testing {
namespace {

class InstalledProgram : public ::testing::TestWithParam<const char*> {
 protected:
  InstalledProgram() : path_(std::string(MUSTER_BIN_DIR) + "/" + GetParam()) {}
  const std::string path_;
};

INSTANTIATE_TEST_SUITE_P(Each, InstalledProgram, ::testing::Values("muster", "muster-evaluator", "muster-agent"),
                         [](const auto& program) {
                           std::string name = program.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(InstalledProgram, HasNeitherAnInterpreterNorSharedLibraries) {
  if (!MUSTER_IS_STATIC) GTEST_SKIP() << "sanitizers and coverage need shared libraries";
  std::ifstream file(path_, std::ios::binary);
  Elf64_Ehdr header = {};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  ASSERT_TRUE(file);
  EXPECT_EQ(header.e_type, ET_DYN) << "it has a fixed address";
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part = {};
    file.seekg(static_cast<std::streamoff>(header.e_phoff) + i * static_cast<std::streamoff>(sizeof part));
    file.read(reinterpret_cast<char*>(&part), sizeof part);
    ASSERT_TRUE(file);
    EXPECT_NE(part.p_type, static_cast<Elf64_Word>(PT_INTERP));
    if (part.p_type != PT_DYNAMIC) continue;
    file.seekg(static_cast<std::streamoff>(part.p_offset));
    for (Elf64_Dyn entry = {}; file.read(reinterpret_cast<char*>(&entry), sizeof entry) && entry.d_tag != DT_NULL;) {
      EXPECT_NE(entry.d_tag, DT_NEEDED);
    }
  }
}

// A static C library loads the modules of these functions at run time, which other machines do not have.
TEST_P(InstalledProgram, LooksUpNoNameThroughTheCLibrary) {
  if (!MUSTER_IS_STATIC) GTEST_SKIP() << "sanitizers and coverage need shared libraries";
  const CommandResult symbols = RunCommand({.argv = {"nm", "--format=posix", path_}});
  ASSERT_EQ(symbols.exit_code, 0) << symbols.err;
  ASSERT_NE(symbols.out.find("\nmain "), std::string::npos) << "it is stripped";
  const bool has_glob = symbols.out.find("\nglob ") != std::string::npos;
  for (const std::string name : {"getaddrinfo", "getnameinfo", "gethostbyname_r", "getpwuid", "getpwnam", "getpwuid_r",
                                 "getpwnam_r", "getgrgid_r", "getgrnam_r", "getservbyname_r"}) {
    // glob(3), by which the agent finds core dumps, has them for patterns that begin with a tilde (GLOB_TILDE) only.
    if (has_glob && (name == "getpwuid_r" || name == "getpwnam_r")) continue;
    EXPECT_EQ(symbols.out.find("\n" + name + " "), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace muster::testing
