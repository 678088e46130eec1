# SPDX-License-Identifier: BSD-3-Clause
# Makes the pages of the C++ interface of SOURCE in an empty OUTPUT; a warning of doxygen is an error.
file(REMOVE_RECURSE ${OUTPUT})
file(MAKE_DIRECTORY ${OUTPUT})
file(READ ${SOURCE}/docs/doxygen/Doxyfile settings)
file(WRITE ${OUTPUT}/Doxyfile "${settings}\nOUTPUT_DIRECTORY = ${OUTPUT}\n")
execute_process(
  COMMAND ${DOXYGEN} ${OUTPUT}/Doxyfile
  WORKING_DIRECTORY ${SOURCE}
  COMMAND_ERROR_IS_FATAL ANY)
foreach(page IN ITEMS index.html classhesscope_1_1Objective.html)
  if(NOT EXISTS ${OUTPUT}/${page})
    message(FATAL_ERROR "doxygen made no ${page} in ${OUTPUT}")
  endif()
endforeach()
