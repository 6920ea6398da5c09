# muster_library(NAME SOURCES folder/a.cc b.cc LINKS library …): one static library per folder of src/, with the files of
# its own folders. Its LINKS are what its files may include, which tools/check-layers verifies for each of them.

get_filename_component(MUSTER_ROOT ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
find_package(Threads REQUIRED)

# For tests, of which no step is repeated often: -Og takes a third of the compile time away.
function(muster_cold target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
endfunction()

# muster_batches(TARGET SOURCES…): a build with CMAKE_UNITY_BUILD compiles these files in batches, in their order. Batches
# have about the same size, so that none of them is compiled alone at the end.
function(muster_batches target)
  set(batch 0)
  set(filled 0)
  foreach(source ${ARGN})
    get_filename_component(path ${source} ABSOLUTE)
    file(SIZE ${path} size)
    math(EXPR filled "${filled} + ${size}")
    if(filled GREATER 150000 AND NOT filled EQUAL size)
      math(EXPR batch "${batch} + 1")
      set(filled ${size})
    endif()
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${batch})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

function(muster_library name)
  cmake_parse_arguments(L "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  if(L_SOURCES)
    add_library(muster_${name} STATIC ${L_SOURCES})
    set(seen PUBLIC)
  else()  # headers only
    add_library(muster_${name} INTERFACE)
    set(seen INTERFACE)
  endif()
  # The public headers need the type of a result and a flat map.
  target_include_directories(muster_${name} ${seen} ${MUSTER_ROOT}/include ${MUSTER_ROOT}/src)
  target_link_libraries(muster_${name} ${seen} ${L_LINKS} tl::expected Boost::headers)
  if(L_SOURCES)
    target_link_libraries(muster_${name} PRIVATE ${L_PRIVATE_LINKS})
    muster_batches(muster_${name} ${L_SOURCES})
  endif()
endfunction()

# muster_program(NAME): a program that is installed: all libraries are linked statically, the C library included, as a
# position-independent executable (-static-pie). It runs on any Linux of its architecture, and a start loads no library.
# Sanitizers and coverage need the shared one. --gc-sections leaves out 0.6 to 0.9 MB, and what muster_asio does not need.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS -static-pie)
check_cxx_source_compiles("int main() { return 0; }" MUSTER_STATIC_PIE)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(MUSTER_SANITIZE OR MUSTER_COVERAGE)
  set(MUSTER_STATIC OFF)
elseif(MUSTER_STATIC_PIE)
  set(MUSTER_STATIC ON)
else()
  muster_missing("a static C library" "libc6-dev")
endif()
function(muster_program name)
  if(MUSTER_STATIC)
    target_link_options(${name} PRIVATE -static-pie -Wl,--gc-sections)
  endif()
endfunction()

# muster_test(NAME [SPOILS_RUNS] [TIMEOUT SECONDS] [TOGETHER FILTER] SOURCES … LINKS …): one GoogleTest program per folder;
# every TEST is a ctest case, except those of the filter, which are one.
function(muster_test name)
  cmake_parse_arguments(T "SPOILS_RUNS" "TIMEOUT;TOGETHER" "SOURCES;LINKS" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  add_executable(${name} ${T_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_include_directories(${name} PRIVATE ${MUSTER_ROOT}/tests ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(${name} PRIVATE ${T_LINKS} muster_asio GTest::gtest_main)  # what is compiled nowhere else
  muster_cold(${name})
  muster_batches(${name} ${T_SOURCES})
  include(GoogleTest)
  set(properties TIMEOUT ${T_TIMEOUT})
  if(T_SPOILS_RUNS)  # tools/run-tests must not check its run directories
    list(APPEND properties ENVIRONMENT_MODIFICATION "MUSTER_KEEP_RUNS=unset:")
  endif()
  if(T_TOGETHER)
    add_test(NAME ${name}.together COMMAND ${name} "--gtest_filter=${T_TOGETHER}")
    set_tests_properties(${name}.together PROPERTIES SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]" ${properties})
    set(others TEST_FILTER "-${T_TOGETHER}")
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 ${others} PROPERTIES ${properties})
endfunction()
