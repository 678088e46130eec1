# SPDX-License-Identifier: BSD-3-Clause
# Configures the project SOURCE in an empty BUILD against the hesscope installed in PREFIX. Sets `status` to CMake's
# exit code and `errors` to its messages.
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
  RESULT_VARIABLE status
  ERROR_VARIABLE errors
  ECHO_ERROR_VARIABLE)
