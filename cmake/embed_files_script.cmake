# Writes OUTPUT: a C++ file whose FUNCTION, declared in HEADER, returns every file of FILES (relative to ROOT) as bytes.
# Bytes instead of string literals, because a literal has a length limit.

set(body "// Generated from ${ROOT}.\n#include \"${HEADER}\"\n\nnamespace muster {\nnamespace {\n\n")
set(table "")
set(n 0)
foreach(file ${FILES})
  file(READ ${ROOT}/${file} hex HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
  string(APPEND body "constexpr char kFile${n}[] = {${bytes}'\\0'};\n")
  string(APPEND table "    {\"${file}\", {kFile${n}, sizeof kFile${n} - 1}},\n")
  math(EXPR n "${n}+1")
endforeach()
string(APPEND body "\nconstexpr EmbeddedFile kFiles[] = {\n${table}};\n\n}  // namespace\n\n")
string(APPEND body "std::span<const EmbeddedFile> ${FUNCTION}() { return kFiles; }\n\n}  // namespace muster\n")
file(WRITE ${OUTPUT} "${body}")
