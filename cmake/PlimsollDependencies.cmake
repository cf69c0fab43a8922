# The libraries of docs/design, found once. LLVM and MLIR are linked as shared libraries.

find_package(MLIR 22.1 CONFIG REQUIRED HINTS /usr/lib/llvm-22)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

find_package(TBB CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
find_path(VULKAN_INCLUDE_DIR vulkan/vulkan.h REQUIRED)
# Layout of graphs for the page of a report, which it becomes a part of with its licences and those of what it has in it.
find_file(DAGRE_SCRIPT nodejs/dagre/dist/dagre.min.js PATHS /usr/share REQUIRED)
set(DAGRE_LICENCES "")
foreach(package node-dagre-layout node-graphlibrary node-lodash)
  list(APPEND DAGRE_LICENCES /usr/share/doc/${package}/copyright)
endforeach()
set(DAGRE_LICENCES ${DAGRE_LICENCES} CACHE STRING "Files with the licences of what DAGRE_SCRIPT consists of")

# Headers of LLVM and MLIR are system headers: their warnings are not ours.
add_library(plim_llvm INTERFACE)
target_include_directories(plim_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(plim_llvm INTERFACE ${LLVM_DEFINITIONS_LIST})
target_compile_options(plim_llvm INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
target_link_libraries(plim_llvm INTERFACE LLVM)

add_library(plim_mlir INTERFACE)
target_include_directories(plim_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS})
# A library for others takes MLIR from its archives (PLIM_STATIC_MLIR): libMLIR.so exports all its symbols
# without versions, and a process can have but one of it. Everything of ours shares that.
set(static_mlir "")
foreach(kind DIALECT CONVERSION EXTENSION TRANSLATION)
  get_property(libraries GLOBAL PROPERTY MLIR_${kind}_LIBS)
  list(APPEND static_mlir ${libraries})
endforeach()
list(FILTER static_mlir EXCLUDE REGEX "Test") # those want libMLIR.so
target_link_libraries(plim_mlir INTERFACE plim_llvm
  "$<IF:$<BOOL:$<TARGET_PROPERTY:PLIM_STATIC_MLIR>>,${static_mlir},MLIR>")
