# What every target is compiled with.

option(PLIM_BUILD_TESTS "Build the tests" ON)
option(PLIM_BUILD_BENCHMARKS "Build the benchmarks" ON)
set(PLIM_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them: address,undefined or thread")
option(PLIM_SANITIZE_COMPILER "Put the sanitizers also into the libraries that lower MLIR" ON)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

# Where things are installed. Debian has a folder for the libraries of each architecture, which CMake knows
# only of the prefix /usr; packages for that are made from the same build.
if(EXISTS /etc/debian_version AND CMAKE_LIBRARY_ARCHITECTURE)
  set(CMAKE_INSTALL_LIBDIR lib/${CMAKE_LIBRARY_ARCHITECTURE} CACHE PATH "Libraries, under the prefix")
endif()
include(GNUInstallDirs)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  # As its manual asks for precompiled headers.
  set(PLIM_PRECOMPILER_LAUNCHER /usr/bin/env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  # Paths are relative, so that build folders beside each other share what they compile alike.
  set(CMAKE_CXX_COMPILER_LAUNCHER /usr/bin/env CCACHE_SLOPPINESS=pch_defines,time_macros
                                  CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CCACHE})
endif()

# Compiles Headers.h of this folder to be read by `-include-pch`. An option by hand where CMake would write absolute paths, for
# which ccache has no match in another build folder; without the time of the file for the same. The result itself names the
# file it was made of, which clang looks for: with a relative path ccache would hand it to other checkouts, where that file is
# another's or gone.
function(plim_precompile_headers target)
  add_library(${target} OBJECT Headers.h)
  set_source_files_properties(Headers.h PROPERTIES LANGUAGE CXX)
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${PLIM_PRECOMPILER_LAUNCHER}")
  target_compile_options(${target} PRIVATE -x c++-header -fpch-instantiate-templates "SHELL:-Xclang -fno-pch-timestamp")
endfunction()

add_compile_options(-Wall -Wextra -Werror -Wno-unused-parameter)
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wthread-safety>)
add_link_options(-fuse-ld=lld)

if(PLIM_SANITIZE)
  add_compile_options(-fsanitize=${PLIM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(NOT PLIM_SANITIZE_COMPILER)
    # For a quick look: compiling the tests takes longer than running them. With the names of what is inlined in full,
    # which the list of what is suppressed knows.
    add_compile_options(-O1 -gline-tables-only -fdebug-info-for-profiling)
  endif()
  # LLVM's and MLIR's shared libraries are not instrumented: types cross the border both ways.
  add_compile_options(-fno-sanitize=vptr)
  # For the same reason the test preset turns off the poisoning that LLVM's allocators do in headers:
  # their other half, in the library, does not undo it.
  # Calls of generated code: its functions carry no type in front of them.
  add_compile_options(-fno-sanitize=function)
  add_link_options(-fsanitize=${PLIM_SANITIZE})
endif()
