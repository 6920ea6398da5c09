# muster_common_headers(TARGET KIND): makes TARGET use a precompiled header of the headers that nearly every file
# includes, shared by all targets of its KIND: "library", "command" (with those of command lines) or "test" (with
# GoogleTest's). It only saves build time: each file includes what it uses, which presets without it verify.

option(MUSTER_COMMON_HEADERS "Compile the headers that nearly every file includes only once" ON)

set(MUSTER_COMMON <algorithm> <array> <charconv> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <optional>
    <set> <span> <string> <string_view> <utility> <variant> <vector> <boost/container/flat_map.hpp> <fmt/format.h>
    <tl/expected.hpp>)

if(MUSTER_COMMON_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12's false positives in std::string (PR 105651, as in Toolchain.cmake) have other names with precompiled
  # headers.
  add_compile_options(-fpch-preprocess -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()

function(muster_compile_headers kind)
  set(source ${CMAKE_BINARY_DIR}/generated/common_headers.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "// What is compiled with this are the headers.\n" @ONLY)
  add_library(muster_${kind}_headers OBJECT ${source})
  target_link_libraries(muster_${kind}_headers PRIVATE tl::expected Boost::headers)
  if(kind STREQUAL "test")  # code for programs is compiled differently
    set_target_properties(muster_${kind}_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(muster_${kind}_headers PRIVATE -fPIE)
  endif()
  target_precompile_headers(muster_${kind}_headers PRIVATE ${MUSTER_COMMON})
  if(kind STREQUAL "test")
    muster_cold(muster_test_headers)
    target_link_libraries(muster_test_headers PRIVATE GTest::gtest)
    target_precompile_headers(muster_test_headers PRIVATE <gtest/gtest.h>)
  else()
    target_precompile_headers(muster_${kind}_headers PRIVATE <chrono> <sstream> <nlohmann/json.hpp>
      <boost/asio/io_context.hpp> <boost/asio/posix/stream_descriptor.hpp> <boost/asio/post.hpp>
      <boost/asio/signal_set.hpp> <boost/asio/steady_timer.hpp>)
  endif()
  if(kind STREQUAL "command")
    target_precompile_headers(muster_command_headers PRIVATE <CLI/App.hpp>)
  endif()
endfunction()

function(muster_common_headers target kind)
  if(NOT MUSTER_COMMON_HEADERS)
    return()
  endif()
  if(NOT TARGET muster_${kind}_headers)
    muster_compile_headers(${kind})
  endif()
  target_precompile_headers(${target} REUSE_FROM muster_${kind}_headers)
endfunction()
