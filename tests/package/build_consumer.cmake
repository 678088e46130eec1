# SPDX-License-Identifier: BSD-3-Clause
# Configures and builds the project SOURCE in an empty BUILD against the hesscope installed in PREFIX, and
# runs its program `consumer`; all must succeed. With REFUSAL set, configuring must fail instead, with that
# text in its message.
include(${CMAKE_CURRENT_LIST_DIR}/configure.cmake)

if(DEFINED REFUSAL)
  string(REGEX REPLACE "[ \n]+" " " errors "${errors}") # CMake breaks messages into lines
  if(status EQUAL 0)
    message(FATAL_ERROR "configuring ${SOURCE} succeeded, expected a refusal with '${REFUSAL}'")
  endif()
  string(FIND "${errors}" "${REFUSAL}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "configuring ${SOURCE} failed without saying '${REFUSAL}'")
  endif()
  return()
endif()
if(NOT status EQUAL 0)
  message(FATAL_ERROR "configuring ${SOURCE} failed: ${status}")
endif()

# The package that was found must be the one that was just installed.
load_cache(${BUILD} READ_WITH_PREFIX consumer_ hesscope_DIR)
cmake_path(IS_PREFIX PREFIX "${consumer_hesscope_DIR}" NORMALIZE is_installed)
if(NOT is_installed)
  message(FATAL_ERROR "found hesscope in ${consumer_hesscope_DIR}, expected it below ${PREFIX}")
endif()

execute_process(
  COMMAND ${CMAKE_COMMAND} --build ${BUILD} --config "${CONFIG}"
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${BUILD}/consumer COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${BUILD}/consumer_of_analyzers ${BUILD} COMMAND_ERROR_IS_FATAL ANY)

# The installed program accepts what the library wrote.
set(hesscope ${PREFIX}/bin/hesscope)
if(EXISTS ${hesscope})
  set(result ${BUILD}/curvature.h5)
  execute_process(COMMAND ${hesscope} inspect ${result} OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
  foreach(expected IN ITEMS spectrum condition lambda_max)
    if(NOT said MATCHES "${expected}")
      message(FATAL_ERROR "hesscope inspect ${result} does not say '${expected}':\n${said}")
    endif()
  endforeach()
  foreach(figure IN ITEMS spectrum condition)
    execute_process(
      COMMAND ${hesscope} plot ${result} --figure ${figure} -o ${BUILD}/${figure}.svg
      COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  execute_process(
    COMMAND ${hesscope} export ${result} --format csv -o ${BUILD}/curvature.csv
    COMMAND_ERROR_IS_FATAL ANY)
  file(STRINGS ${BUILD}/curvature.csv lines)
  list(LENGTH lines num_lines)
  if(NOT num_lines EQUAL 3) # names, start, end
    message(FATAL_ERROR "${BUILD}/curvature.csv has ${num_lines} lines, expected 3")
  endif()
endif()
