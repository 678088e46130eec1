# SPDX-License-Identifier: BSD-3-Clause
# Configures and builds the project SOURCE in an empty BUILD against the hesscope installed in PREFIX, and runs each
# of its programs, own_*, which check what they print. It runs them twice, as a user who changes something would.
# Those that read files find them in the folder DATA.
include(${CMAKE_CURRENT_LIST_DIR}/configure.cmake)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "configuring ${SOURCE} failed: ${status}")
endif()
execute_process(
  COMMAND ${CMAKE_COMMAND} --build ${BUILD} --config "${CONFIG}"
  COMMAND_ERROR_IS_FATAL ANY)
file(GLOB sources ${SOURCE}/own_*.cc)
if(NOT sources)
  message(FATAL_ERROR "${SOURCE} has no examples")
endif()
foreach(source IN LISTS sources)
  cmake_path(GET source STEM example)
  foreach(run IN ITEMS first second)
    execute_process(
      COMMAND ${BUILD}/${example} ${DATA}
      WORKING_DIRECTORY ${BUILD}
      COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endforeach()
