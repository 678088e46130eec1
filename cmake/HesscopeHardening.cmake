# SPDX-License-Identifier: BSD-3-Clause
# Flags by which a damaged stack or buffer ends the program instead of obeying whoever damaged it, as a target that is
# linked only inside the build tree: consumers of an installed hesscope choose for themselves. Not for kernels, which
# read no files. Buffers are checked only with optimisation, which the C library needs for it; sanitizers, in builds
# of type Debug, check more.
add_library(hesscope_hardening INTERFACE)
if(HESSCOPE_HARDENING)
  target_compile_options(hesscope_hardening INTERFACE
    -fstack-protector-strong
    "$<$<NOT:$<CONFIG:Debug>>:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>")
  target_link_options(hesscope_hardening INTERFACE LINKER:-z,relro LINKER:-z,now)
endif()
