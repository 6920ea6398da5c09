# muster_embed(TARGET FUNCTION NAME HEADER file.h ROOT folder PATTERNS glob …): compiles every file below ROOT that
# matches one of the PATTERNS (relative to ROOT) into TARGET as text, under its path relative to ROOT. The generated
# source defines muster::NAME() as declared in HEADER, a span of EmbeddedFile (src/base/values/embedded_file.h). THROUGH
# program: a target that is called as "program ROOT OUTPUT FILE…" and writes the bytes to embed instead of the files,
# under the same names below OUTPUT. INTO name: it writes one file of that name instead. READS glob …: further files below
# ROOT that the program reads. EXCLUDE regex: of paths relative to ROOT that are left out.

function(muster_embed target)
  cmake_parse_arguments(E "" "FUNCTION;HEADER;ROOT;THROUGH;INTO;EXCLUDE" "PATTERNS;READS" ${ARGN})
  list(TRANSFORM E_PATTERNS PREPEND ${E_ROOT}/)
  file(GLOB_RECURSE files RELATIVE ${E_ROOT} CONFIGURE_DEPENDS ${E_PATTERNS})
  if(E_EXCLUDE)
    list(FILTER files EXCLUDE REGEX ${E_EXCLUDE})
  endif()
  list(SORT files)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${E_FUNCTION}.cc)
  set(depends)
  if(E_READS)
    list(TRANSFORM E_READS PREPEND ${E_ROOT}/)
    file(GLOB_RECURSE depends CONFIGURE_DEPENDS ${E_READS})
  endif()
  foreach(file ${files})
    list(APPEND depends ${E_ROOT}/${file})
  endforeach()
  set(root ${E_ROOT})
  set(through)
  if(E_THROUGH)
    set(root ${CMAKE_CURRENT_BINARY_DIR}/${E_FUNCTION})
    set(through COMMAND ${E_THROUGH} ${E_ROOT} ${root} ${files})
    list(APPEND depends ${E_THROUGH})
    if(E_INTO)
      set(files ${E_INTO})
    endif()
  endif()
  add_custom_command(
    OUTPUT ${output}
    ${through}
    COMMAND ${CMAKE_COMMAND} -DROOT=${root} "-DFILES=${files}" -DFUNCTION=${E_FUNCTION} -DHEADER=${E_HEADER}
      -DOUTPUT=${output} -P ${MUSTER_ROOT}/cmake/embed_files_script.cmake
    DEPENDS ${depends} ${MUSTER_ROOT}/cmake/embed_files_script.cmake
    VERBATIM)
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${output})
endfunction()
