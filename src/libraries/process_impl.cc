// The one place where Boost.Process v2's out-of-line code is compiled. In 1.81 the header needs asio.hpp
// before it, and with std::filesystem also optional.hpp and type_traits.hpp.
// clang-format off
#include <boost/asio.hpp>
#include <boost/optional.hpp>
#include <boost/type_traits.hpp>
#include <boost/process/v2/src.hpp>
// clang-format on
