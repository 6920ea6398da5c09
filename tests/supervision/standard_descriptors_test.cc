// Tests runs whose caller has closed standard input, output or error (`muster run … <&- >&- 2>&-`).
#include <filesystem>

#include "supervision/started_muster.h"

namespace muster::testing {
namespace {

struct Closed {
  const char* name;
  const char* numbers;
  const char* by;  // the shell
};
void PrintTo(const Closed& closed, std::ostream* out) { *out << closed.by; }

class StandardDescriptors : public ::testing::TestWithParam<Closed> {};

INSTANTIATE_TEST_SUITE_P(Without, StandardDescriptors,
                         ::testing::Values(Closed{"Input", "0", "<&-"}, Closed{"Output", "1", ">&-"},
                                           Closed{"Error", "2", "2>&-"}, Closed{"Any", "012", "<&- >&- 2>&-"}),
                         [](const auto& one) { return one.param.name; });

TEST_P(StandardDescriptors, AreDevNull) {
  StartedMuster muster(R"(
    job:workers { count = 1, command = { probe, "print", "hello", "file", folder .. "/up", "wait" } })");
  ASSERT_EQ(::mkfifo((muster / "up").c_str(), 0600), 0);
  const UniqueFd up(::open((muster / "up").c_str(), O_RDWR | O_CLOEXEC));
  muster.Start({}, {"/bin/sh", "-c", std::string("exec \"$@\" ") + GetParam().by, "sh"});
  ASSERT_TRUE(AwaitReadable(up.get())) << muster.Output();
  const pid_t agent = muster.Journal("agent_connected").at(0)["pid"];
  for (const pid_t program : {muster.head(), agent}) {
    for (const char number : std::string(GetParam().numbers)) {
      EXPECT_EQ(std::filesystem::read_symlink("/proc/" + std::to_string(program) + "/fd/" + number), "/dev/null");
    }
  }
  ::kill(muster.head(), SIGTERM);
  EXPECT_EQ(muster.End(), 128 + SIGTERM) << muster.Output();
  EXPECT_EQ(StartedMuster::Content(muster.run_dir() + "/logs/worker.0.0.log"), "hello\n");
  EXPECT_TRUE(muster.Left().empty());
}

}  // namespace
}  // namespace muster::testing
