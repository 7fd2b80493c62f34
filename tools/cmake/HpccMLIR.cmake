# SPDX-License-Identifier: Apache-2.0
# The one place that names MLIR and LLVM; everything above links HpccDialects.
if(NOT MLIR_DIR)
  set(MLIR_DIR /usr/lib/llvm-22/lib/cmake/mlir)
endif()
find_package(MLIR REQUIRED CONFIG)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR) # for mlir_tablegen; HandleLLVMOptions would turn exceptions off
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND ${LLVM_DEFINITIONS})

add_library(HpccMLIR INTERFACE)
target_include_directories(HpccMLIR SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_options(HpccMLIR INTERFACE ${LLVM_DEFINITIONS_LIST})
target_link_libraries(HpccMLIR INTERFACE MLIR LLVM)
include_directories(SYSTEM ${MLIR_INCLUDE_DIRS})

function(hpcc_tablegen td name)
  # hpcc_tablegen(<file.td> <name> <flags...>): each flag "suffix: generator args"
  set(LLVM_TARGET_DEFINITIONS ${td})
  foreach(spec ${ARGN})
    string(REPLACE ": " ";" parts "${spec}")
    list(GET parts 0 suffix)
    list(GET parts 1 generator)
    separate_arguments(generator)
    mlir_tablegen(${name}${suffix}.inc ${generator} EXTRA_INCLUDES ${CMAKE_SOURCE_DIR})
  endforeach()
  set(TABLEGEN_OUTPUT ${TABLEGEN_OUTPUT} PARENT_SCOPE)
endfunction()
