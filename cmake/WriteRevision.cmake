# SPDX-License-Identifier: BSD-3-Clause
# Run at build time: writes the source revision into OUTPUT, a header, if it has changed.
# usage: cmake -D SOURCE=DIR -D OUTPUT=FILE -P WriteRevision.cmake
cmake_minimum_required(VERSION 3.25)
find_package(Git QUIET)
set(revision unknown)
if(GIT_FOUND AND EXISTS ${SOURCE}/.git)
  execute_process(
    COMMAND ${GIT_EXECUTABLE} describe --always --dirty --abbrev=12
    WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE described RESULT_VARIABLE status
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(status EQUAL 0)
    set(revision ${described})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define HESSCOPE_REVISION \"@revision@\"\n" @ONLY)
