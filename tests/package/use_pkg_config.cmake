# SPDX-License-Identifier: BSD-3-Clause
# Compiles the consumer's programs with only the output of pkg-config for the hesscope installed in PREFIX, and runs
# them.
file(REMOVE_RECURSE ${BUILD})
file(MAKE_DIRECTORY ${BUILD})
file(GLOB_RECURSE pc ${PREFIX}/hesscope.pc)
cmake_path(GET pc PARENT_PATH folder)
set(ENV{PKG_CONFIG_PATH} ${folder})
separate_arguments(flags UNIX_COMMAND "${CXX_FLAGS}")

# build(PROGRAM SOURCE MODULE)
function(build program source module)
  foreach(what IN ITEMS cflags libs)
    execute_process(COMMAND ${PKG_CONFIG} --${what} ${module}
      OUTPUT_VARIABLE ${what} OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(${what} UNIX_COMMAND "${${what}}")
  endforeach()
  set(cflags_of_${program} ${cflags} PARENT_SCOPE)
  execute_process(
    COMMAND ${CXX_COMPILER} -std=c++20 -O1 ${flags} ${cflags} ${SOURCE}/${source} -o ${BUILD}/${program} ${libs}
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

build(consumer main.cc hesscope)
execute_process(COMMAND ${BUILD}/consumer COMMAND_ERROR_IS_FATAL ANY)
build(consumer_of_analyzers analyze.cc hesscope-analyzers)
execute_process(COMMAND ${BUILD}/consumer_of_analyzers ${BUILD} COMMAND_ERROR_IS_FATAL ANY)

# Flags that change how Eigen aligns matrices are refused, with a clear message.
file(GLOB_RECURSE eigen ${PREFIX}/eigen.h)
file(STRINGS ${eigen} alignment REGEX "^#define HESSCOPE_EIGEN_ALIGN_BYTES")
cmake_host_system_information(RESULT platform QUERY OS_PLATFORM)
if(platform STREQUAL "x86_64" AND alignment MATCHES "BYTES 16 ")
  execute_process(
    COMMAND ${CXX_COMPILER} -std=c++20 -mavx2 -fsyntax-only ${flags} ${cflags_of_consumer} ${SOURCE}/main.cc
    RESULT_VARIABLE result ERROR_VARIABLE errors)
  if(result EQUAL 0 OR NOT errors MATCHES "compile it without -march=native")
    message(FATAL_ERROR "with -mavx2 a consumer is not refused with what to do:\n${errors}")
  endif()
endif()

# So is GCC's AddressSanitizer, under which Eigen allocates them in another way, unless a definition prevents that.
file(STRINGS ${eigen} is_own REGEX "EIGEN_MALLOC_ALREADY_ALIGNED == 0")
execute_process(COMMAND ${CXX_COMPILER} -fsanitize=address -dM -E -x c++ /dev/null
  OUTPUT_VARIABLE macros ERROR_QUIET)
if(NOT is_own AND macros MATCHES "__SANITIZE_ADDRESS__")
  execute_process(
    COMMAND ${CXX_COMPILER} -std=c++20 -fsanitize=address -fsyntax-only ${flags} ${cflags_of_consumer}
      ${SOURCE}/main.cc
    RESULT_VARIABLE result ERROR_VARIABLE errors)
  if(result EQUAL 0 OR NOT errors MATCHES "-DEIGEN_MALLOC_ALREADY_ALIGNED=1")
    message(FATAL_ERROR "with -fsanitize=address a consumer is not refused with what to do:\n${errors}")
  endif()
  execute_process(
    COMMAND ${CXX_COMPILER} -std=c++20 -fsanitize=address -DEIGEN_MALLOC_ALREADY_ALIGNED=1 -fsyntax-only ${flags}
      ${cflags_of_consumer} ${SOURCE}/main.cc
    COMMAND_ERROR_IS_FATAL ANY)
endif()

# So are flags that assume that there is no NaN, and those that change the layout of matrices.
set(refused -ffast-math -DEIGEN_DEFAULT_TO_ROW_MAJOR -DEIGEN_DEFAULT_DENSE_INDEX_TYPE=int)
set(told "compiled with -ffast-math" "without EIGEN_DEFAULT_TO_ROW_MAJOR" "and EIGEN_DEFAULT_DENSE_INDEX_TYPE")
foreach(flag words IN ZIP_LISTS refused told)
  execute_process(
    COMMAND ${CXX_COMPILER} -std=c++20 ${flag} -fsyntax-only ${flags} ${cflags_of_consumer} ${SOURCE}/main.cc
    RESULT_VARIABLE result ERROR_VARIABLE errors)
  if(result EQUAL 0 OR NOT errors MATCHES "${words}")
    message(FATAL_ERROR "with ${flag} a consumer is not refused with what to do:\n${errors}")
  endif()
endforeach()

execute_process(COMMAND ${PKG_CONFIG} --modversion hesscope
  OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(NOT version STREQUAL VERSION)
  message(FATAL_ERROR "pkg-config says that hesscope is ${version}, expected ${VERSION}")
endif()
