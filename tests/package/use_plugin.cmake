# SPDX-License-Identifier: BSD-3-Clause
# Builds the plug-in in SOURCE against the hesscope installed in PREFIX and analyzes with it by the
# installed program, checked by PYTHON.
file(REMOVE_RECURSE ${BUILD})
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -G ${GENERATOR}
    -D CMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}
    -D CMAKE_C_COMPILER=${C_COMPILER}
    -D CMAKE_CXX_COMPILER=${CXX_COMPILER}
    -D CMAKE_CXX_FLAGS=${CXX_FLAGS}
    -D CMAKE_BUILD_TYPE=${CONFIG}
    -D CMAKE_PREFIX_PATH=${PREFIX}
    -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --config "${CONFIG}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND ${PYTHON} -B ${SOURCE}/check.py ${PREFIX}/bin/hesscope ${BUILD}
  COMMAND_ERROR_IS_FATAL ANY)
