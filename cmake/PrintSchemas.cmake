# Writes the JSON Schemas that the program MUSTER prints into FOLDER, each in a file of its name.
execute_process(COMMAND ${MUSTER} docs --schema OUTPUT_VARIABLE list COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[a-z-]+" names "${list}")
file(REMOVE_RECURSE ${FOLDER})
foreach(name IN LISTS names)
  string(STRIP ${name} name)
  execute_process(COMMAND ${MUSTER} docs --schema ${name} OUTPUT_VARIABLE schema COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${FOLDER}/${name}.json "${schema}")
endforeach()
