#include "spawn/start/pseudo_terminal.h"

#include <array>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <termios.h>

namespace muster {
namespace {

tl::unexpected<SpawnError> Refused(int error) {
  return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kDescriptors, error, "a pseudo-terminal"});
}

// Through the master if the kernel supports it (4.13), so that another mount of devpts does not matter; else by name.
UniqueFd OpenSlave(int master) {
  constexpr int kFlags = O_RDWR | O_NOCTTY | O_CLOEXEC;
  UniqueFd slave(::ioctl(master, TIOCGPTPEER, kFlags));
  std::array<char, 64> name = {};
  if (!slave && ::ptsname_r(master, name.data(), name.size()) == 0) slave.reset(::open(name.data(), kFlags));
  return slave;
}

}  // namespace

tl::expected<PseudoTerminal, SpawnError> OpenPseudoTerminal(const winsize& size) {
  PseudoTerminal made;
  made.master.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!made.master || ::grantpt(made.master.get()) != 0 || ::unlockpt(made.master.get()) != 0) return Refused(errno);
  made.slave = OpenSlave(made.master.get());
  termios modes = {};
  if (!made.slave || ::tcgetattr(made.slave.get(), &modes) != 0) return Refused(errno);
  modes.c_iflag |= IUTF8;
  if (::tcsetattr(made.slave.get(), TCSANOW, &modes) != 0 || ::ioctl(made.master.get(), TIOCSWINSZ, &size) != 0) {
    return Refused(errno);
  }
  return made;
}

}  // namespace muster
