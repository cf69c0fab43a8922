# plim_add_library(NAME HDRS h... SRCS cpp... DEPS target... [PRIVATE_DEPS target...])
#
# PRIVATE_DEPS are those that no header of the library includes: their include paths and compile
# options (LLVM's -fno-exceptions among them) stop here.
#
# One directory, one library. Headers are included from the root of the checkout
# ("support/Status.h"); generated ones from the root of the build.
function(plim_add_library NAME)
  cmake_parse_arguments(ARG "" "" "HDRS;SRCS;DEPS;PRIVATE_DEPS" ${ARGN})
  if(ARG_SRCS)
    add_library(${NAME} STATIC ${ARG_SRCS} ${ARG_HDRS})
    set(scope PUBLIC)
  else()
    add_library(${NAME} INTERFACE ${ARG_HDRS})
    set(scope INTERFACE)
  endif()
  target_include_directories(${NAME} ${scope} ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_link_libraries(${NAME} ${scope} ${ARG_DEPS})
  if(ARG_PRIVATE_DEPS)
    target_link_libraries(${NAME} PRIVATE ${ARG_PRIVATE_DEPS})
  endif()
endfunction()

# plim_add_unit_test(NAME SRCS cpp... DEPS target... [SLOW suite...])
#
# A GoogleTest program; its labels are "unit" and its folder under tests/unit. It is one test, since starting one of them for
# each of a thousand cases takes longer than most cases. The suites that take long, all with "*", are another one; only the
# rest is "fast".
function(plim_add_unit_test NAME)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS;SLOW" ${ARGN})
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  add_executable(${NAME} ${ARG_SRCS})
  target_include_directories(${NAME} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  add_library(${NAME}_uses INTERFACE)
  target_link_libraries(${NAME}_uses INTERFACE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  target_link_libraries(${NAME} PRIVATE ${NAME}_uses)
  list(TRANSFORM ARG_SLOW APPEND ".*")
  list(JOIN ARG_SLOW ":" slow)
  if(NOT slow STREQUAL "*.*")
    add_test(NAME ${NAME} COMMAND ${NAME} --gtest_filter=-${slow})
    set_tests_properties(${NAME} PROPERTIES LABELS "unit;${folder};fast" TIMEOUT 900)
  endif()
  if(slow)
    add_test(NAME ${NAME}.slow COMMAND ${NAME} --gtest_filter=${slow})
    set_tests_properties(${NAME}.slow PROPERTIES LABELS "unit;${folder}" TIMEOUT 900)
  endif()
  # Compiling them is a third of the whole build. LLVM's headers, and all that links them, are compiled without exceptions.
  set(without_exceptions "$<IN_LIST:-fno-exceptions,$<TARGET_PROPERTY:${NAME}_uses,INTERFACE_COMPILE_OPTIONS>>")
  set(headers ${PROJECT_BINARY_DIR}/tests/unit/CMakeFiles/plim_test_headers)
  set_property(SOURCE ${ARG_SRCS} APPEND PROPERTY COMPILE_OPTIONS
    -include-pch "${headers}$<IF:${without_exceptions},_without_exceptions,>.dir/Headers.h.o")
  set_property(SOURCE ${ARG_SRCS} APPEND PROPERTY OBJECT_DEPENDS
    ${headers}.dir/Headers.h.o ${headers}_without_exceptions.dir/Headers.h.o)
  target_compile_options(${NAME} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()
