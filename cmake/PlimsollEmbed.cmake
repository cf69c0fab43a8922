# Run as a script: writes a source file that defines constants with the contents of files.
#
#   cmake -DOUT=source.cpp -DHEADER=header.h -DNAMESPACE=name "-DTEXTS=constant=file,file|constant=file" -P PlimsollEmbed.cmake
#
# A constant of several files has them one behind the other. ")embed" must be in none.
string(REPLACE "|" ";" texts "${TEXTS}")
set(code "// Generated.\n#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n")
foreach(text IN LISTS texts)
  string(REGEX MATCH "^([^=]+)=(.*)$" _ "${text}")
  string(APPEND code "\nconst std::string_view ${CMAKE_MATCH_1} =\n")
  string(REPLACE "," ";" files "${CMAKE_MATCH_2}")
  foreach(file IN LISTS files)
    file(READ "${file}" contents)
    string(FIND "${contents}" ")embed" end)
    if(NOT end EQUAL -1)
      message(FATAL_ERROR "${file} has the text that ends a constant")
    endif()
    string(APPEND code "    R\"embed(${contents})embed\"\n")
  endforeach()
  string(APPEND code "    ;\n")
endforeach()
string(APPEND code "\n} // namespace ${NAMESPACE}\n")
file(WRITE "${OUT}" "${code}")
