# SPDX-License-Identifier: BSD-3-Clause
# Warnings as a target, linked only inside the build tree. -Wsign-conversion is left out: it fights
# Eigen's signed Index.
add_library(hesscope_warnings INTERFACE)
target_compile_options(hesscope_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wdouble-promotion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wcast-align -Wno-sign-conversion
  $<$<BOOL:${HESSCOPE_WERROR}>:-Werror>)
