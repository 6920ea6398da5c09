# Finds all dependencies of muster, from Debian packages. A missing one ends the configuration with one line that names
# the package; tools/setup installs them, those of tests with --tests.

function(muster_missing what package)
  message(FATAL_ERROR "muster: ${what} is missing: install ${package} (or run tools/setup${ARGV2})")
endfunction()

find_package(PkgConfig QUIET)
if(NOT PkgConfig_FOUND)
  muster_missing("pkg-config" "pkg-config")
endif()

set(Boost_NO_WARN_NEW_VERSIONS ON)
find_package(Boost 1.81 QUIET)
if(NOT Boost_FOUND)
  muster_missing("Boost 1.81 (headers)" "libboost1.81-dev")
endif()

foreach(dependency
    "spdlog|libspdlog-dev" "fmt|libfmt-dev" "nlohmann_json|nlohmann-json3-dev" "CLI11|libcli11-dev"
    "tl-expected|libexpected-dev" "Eigen3|libeigen3-dev")
  string(REPLACE "|" ";" pair ${dependency})
  list(GET pair 0 name)
  list(GET pair 1 package)
  find_package(${name} QUIET)
  if(NOT ${name}_FOUND)
    muster_missing(${name} ${package})
  endif()
endforeach()

foreach(dependency "LUAJIT|luajit|libluajit-5.1-dev" "SECCOMP|libseccomp|libseccomp-dev" "LIBMD|libmd|libmd-dev"
    "RE2|re2|libre2-dev" "YAML|yaml-0.1|libyaml-dev" "SQLITE|sqlite3|libsqlite3-dev")
  string(REPLACE "|" ";" triple ${dependency})
  list(GET triple 0 prefix)
  list(GET triple 1 module)
  list(GET triple 2 package)
  pkg_check_modules(${prefix} QUIET IMPORTED_TARGET ${module})
  if(NOT ${prefix}_FOUND)
    muster_missing(${module} ${package})
  endif()
endforeach()

# Their static libraries, which are in the same packages (see muster_program).
foreach(dependency "LUAJIT|libluajit-5.1.a" "SECCOMP|libseccomp.a" "LIBMD|libmd.a" "RE2|libre2.a" "YAML|libyaml.a" "SQLITE|libsqlite3.a")
  string(REPLACE "|" ";" pair ${dependency})
  list(GET pair 0 prefix)
  list(GET pair 1 file)
  find_library(${prefix}_ARCHIVE ${file} HINTS ${${prefix}_LIBRARY_DIRS})
  mark_as_advanced(${prefix}_ARCHIVE)
  if(${prefix}_ARCHIVE)
    set_target_properties(PkgConfig::${prefix} PROPERTIES INTERFACE_LINK_LIBRARIES "${${prefix}_ARCHIVE};m;dl")
  endif()
endforeach()

# Modules of d3, compiled into the pages of muster report --html.
set(MUSTER_D3_ROOT /usr/share/nodejs)
set(MUSTER_D3_LICENCE /usr/share/doc/node-d3)
foreach(module internmap d3-array d3-collection d3-color d3-interpolate d3-format d3-time d3-time-format d3-scale d3-scale-chromatic)
  if(NOT EXISTS ${MUSTER_D3_ROOT}/${module}/dist/${module}.min.js)
    muster_missing("d3 (${module})" "node-d3")
  endif()
endforeach()
if(NOT EXISTS ${MUSTER_D3_LICENCE}/copyright)
  muster_missing("the licence of d3 (${MUSTER_D3_LICENCE}/copyright)" "node-d3")
endif()

if(MUSTER_TESTS)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    muster_missing("GoogleTest" "libgtest-dev" " --tests, or configure with -DMUSTER_TESTS=OFF")
  endif()
endif()
