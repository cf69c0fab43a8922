# The libraries of docs/design, found once.

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

# LLVM and MLIR are linked as shared libraries, but from their archives into what works in processes of others
# (PLIM_STATIC_LLVM, docs/design/c-interface.md). As files: MLIR's archives, as targets, bring LLVM's shared library along.
function(plim_archives RESULT)
  set(files "")
  foreach(library IN LISTS ARGN)
    if(TARGET ${library})
      get_target_property(file ${library} LOCATION)
      if(file MATCHES "\\.a$" AND EXISTS ${file}) # Polly's are in a package of their own
        list(APPEND files ${file})
      endif()
    endif()
  endforeach()
  set(${RESULT} "${files}" PARENT_SCOPE)
endfunction()
plim_archives(llvm_archives ${LLVM_AVAILABLE_LIBS})
get_property(mlir_libraries GLOBAL PROPERTY MLIR_ALL_LIBS)
plim_archives(mlir_archives ${mlir_libraries})
find_package(ZLIB REQUIRED)
find_package(zstd REQUIRED)

# Headers of LLVM and MLIR are system headers: their warnings are not ours.
add_library(plim_llvm INTERFACE)
target_include_directories(plim_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(plim_llvm INTERFACE ${LLVM_DEFINITIONS_LIST})
target_compile_options(plim_llvm INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
target_link_libraries(plim_llvm INTERFACE
  "$<IF:$<BOOL:$<TARGET_PROPERTY:PLIM_STATIC_LLVM>>,${llvm_archives};ZLIB::ZLIB;zstd::libzstd_shared,LLVM>")

add_library(plim_mlir INTERFACE)
target_include_directories(plim_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS})
target_link_libraries(plim_mlir INTERFACE
  "$<IF:$<BOOL:$<TARGET_PROPERTY:PLIM_STATIC_LLVM>>,${mlir_archives},MLIR>" plim_llvm)
