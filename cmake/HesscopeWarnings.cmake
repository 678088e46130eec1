# SPDX-License-Identifier: BSD-3-Clause
# Warnings as a target, linked only inside the build tree. -Wsign-conversion is left out because it conflicts with
# Eigen's signed Index.
set(shadow -Wshadow)
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(shadow) # Clang takes a constant of another source of the batch, whose namespace is unnamed, for shadowed.
endif()
add_library(hesscope_warnings INTERFACE)
target_compile_options(hesscope_warnings INTERFACE
  -Wall -Wextra -Wpedantic ${shadow} -Wconversion -Wdouble-promotion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wcast-align -Wno-sign-conversion
  $<$<BOOL:${HESSCOPE_WERROR}>:-Werror>)
