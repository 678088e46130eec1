# SPDX-License-Identifier: BSD-3-Clause
# Builds the plug-in in SOURCE against the hesscope installed in PREFIX and uses it with the installed program; PYTHON
# checks the result.
include(${CMAKE_CURRENT_LIST_DIR}/configure.cmake)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "configuring ${SOURCE} failed: ${status}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --config "${CONFIG}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND ${PYTHON} -B ${SOURCE}/check.py ${PREFIX}/bin/hesscope ${BUILD}
  COMMAND_ERROR_IS_FATAL ANY)
