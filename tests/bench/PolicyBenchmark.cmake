# Runs `plimsoll-bench policies` on one of our workloads, on a file, and on what it must refuse.

# bench(STATUS PATTERN argument...)
function(bench STATUS PATTERN)
  execute_process(COMMAND ${BENCH} policies --seconds 0.05 ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL STATUS OR NOT output MATCHES "${PATTERN}")
    message(FATAL_ERROR "status ${status}, not ${STATUS}, or not '${PATTERN}':\n${output}")
  endif()
endfunction()

set(json ${FOLDER}/policies.json)
bench(0 "scratch of 4 KiB, 1 thread\n +policy.*\n  heap .*scratch of 4 KiB, 2 threads\n"
  --filter "of 4 KiB" --threads 1,2 --json ${json} --svg ${FOLDER}/policies.svg)
file(READ ${json} text)
string(JSON name GET "${text}" benchmarks 8 name)
string(JSON allocations GET "${text}" benchmarks 8 allocations)
string(JSON bytes GET "${text}" benchmarks 8 heap_bytes)
# One for each of 64 elements.
if(NOT name STREQUAL "scratch of 4 KiB/heap/threads:2" OR NOT allocations EQUAL 64
   OR NOT bytes GREATER 4095)
  message(FATAL_ERROR "${name}: ${allocations} allocations, ${bytes} bytes")
endif()
string(JSON allocations GET "${text}" benchmarks 0 allocations)
string(JSON stack GET "${text}" benchmarks 0 stack_bytes)
if(NOT allocations EQUAL 0 OR NOT stack GREATER 4095)
  message(FATAL_ERROR "auto: ${allocations} allocations, ${stack} bytes of stack")
endif()
file(READ ${FOLDER}/policies.svg text)
if(NOT text MATCHES "^<svg.*fixed:1024.*</svg>\n$")
  message(FATAL_ERROR "no picture")
endif()

set(module ${FOLDER}/module.mlir)
file(WRITE ${module} "func.func @twice(%x: tensor<?xf32>, %y: tensor<3xf32>) -> tensor<?xf32> {
  %r = arith.addf %x, %x : tensor<?xf32>
  return %r : tensor<?xf32>
}
")
bench(0 "module.mlir, 1 thread\n.*\n  stack .*\n  auto " ${module} --input 5xf32=1
  --policy stack,auto)
# A module from standard input.
execute_process(COMMAND ${BENCH} policies - --seconds 0.05 --input 5xf32=1 --policy stack
  INPUT_FILE ${module} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0 OR NOT output MATCHES "^<stdin>, 1 thread\n")
  message(FATAL_ERROR "status ${status}:\n${output}")
endif()
bench(1 "argument #0 is .xf32: give it" ${module})
bench(2 "unknown allocation policy" ${module} --input 5xf32=1 --policy fastest)
bench(1 "no workload has 'nothing' in its name" --filter nothing)
bench(1 "no/such.mlir" /no/such.mlir)
bench(1 "cannot write '/no/such/folder" ${module} --input 5xf32=1 --svg /no/such/folder/x.svg)
bench(2 "seconds" --seconds 0)
