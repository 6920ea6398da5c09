# muster_embed_lua(TARGET ROOT): compiles every .lua file below ROOT into TARGET as text, under its path
# relative to ROOT ("muster/recipe.lua"). The generated source defines muster::EmbeddedLua() as declared in
# src/lua/embedded.h.

function(muster_embed_lua target root)
  file(GLOB_RECURSE files RELATIVE ${root} CONFIGURE_DEPENDS ${root}/muster/*.lua)
  list(SORT files)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_lua.cc)
  set(depends)
  foreach(file ${files})
    list(APPEND depends ${root}/${file})
  endforeach()
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DROOT=${root} "-DFILES=${files}" -DOUTPUT=${output} -P ${MUSTER_ROOT}/cmake/embed_lua_script.cmake
    DEPENDS ${depends} ${MUSTER_ROOT}/cmake/embed_lua_script.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
