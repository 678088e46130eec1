# SPDX-License-Identifier: BSD-3-Clause
# Installs the build tree BINARY_DIR into an empty PREFIX.
file(REMOVE_RECURSE ${PREFIX})
execute_process(
  COMMAND ${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${PREFIX} --config "${CONFIG}"
  OUTPUT_QUIET
  COMMAND_ERROR_IS_FATAL ANY)
