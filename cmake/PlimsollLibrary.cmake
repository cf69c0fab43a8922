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

# plim_add_unit_test(NAME SRCS cpp... DEPS target... [LABELS label...])
#
# A GoogleTest program; its labels are "unit", its folder under tests/unit, and "fast" unless told
# otherwise.
function(plim_add_unit_test NAME)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS fast)
  endif()
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  add_executable(${NAME} ${ARG_SRCS})
  target_include_directories(${NAME} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  add_library(${NAME}_uses INTERFACE)
  target_link_libraries(${NAME}_uses INTERFACE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  target_link_libraries(${NAME} PRIVATE ${NAME}_uses)
  gtest_discover_tests(${NAME} DISCOVERY_TIMEOUT 60 DISCOVERY_MODE PRE_TEST
                       PROPERTIES TIMEOUT 300)
  # Compiling them is a third of the whole build. LLVM's headers, and all that links them, are compiled without exceptions.
  set(without_exceptions "$<IN_LIST:-fno-exceptions,$<TARGET_PROPERTY:${NAME}_uses,INTERFACE_COMPILE_OPTIONS>>")
  set(headers ${PROJECT_BINARY_DIR}/tests/unit/CMakeFiles/plim_test_headers)
  set_property(SOURCE ${ARG_SRCS} APPEND PROPERTY COMPILE_OPTIONS
    -include-pch "${headers}$<IF:${without_exceptions},_without_exceptions,>.dir/Headers.h.o")
  set_property(SOURCE ${ARG_SRCS} APPEND PROPERTY OBJECT_DEPENDS
    ${headers}.dir/Headers.h.o ${headers}_without_exceptions.dir/Headers.h.o)
  target_compile_options(${NAME} PRIVATE $<$<CONFIG:Release>:-O1>)
  # PROPERTIES above cannot carry a list; CTest reads this file after the one with the tests.
  set(labels ${CMAKE_CURRENT_BINARY_DIR}/${NAME}_labels.cmake)
  file(CONFIGURE OUTPUT ${labels} @ONLY CONTENT
    "set_tests_properties(\${@NAME@_TESTS} PROPERTIES LABELS \"unit;@folder@;@ARG_LABELS@\")\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels})
endfunction()
