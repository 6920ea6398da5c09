# Compiler and linker settings for all targets; uses ccache and mold if present.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM AND NOT CMAKE_CROSSCOMPILING)  # a cross compiler has its own linkers only
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Wimplicit-fallthrough)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 reports false overlaps in std::string's operator+ and uninitialized members of std::variant (PR 105651, PR
  # 105562).
  add_compile_options(-Wno-restrict -Wno-maybe-uninitialized)
  # It collects garbage from 128 MiB on, which the headers alone come near to: a tenth of its time.
  add_compile_options(--param=ggc-min-heapsize=524288)
endif()
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # What stands in a source of several files is taken for a header by this warning.
  add_compile_options(-Wno-subobject-linkage)
endif()
if(MUSTER_WERROR)
  add_compile_options(-Werror)
endif()

if(MUSTER_SANITIZE)
  add_compile_options(-fsanitize=${MUSTER_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MUSTER_SANITIZE})
  add_compile_definitions(MUSTER_SANITIZED=1)
  if(MUSTER_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # Asio uses atomic_thread_fence, which gcc's TSan cannot model
  endif()
else()
  add_compile_options($<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
endif()
add_compile_options(-fstack-protector-strong)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
add_link_options(-Wl,-z,relro,-z,now)

if(MUSTER_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
