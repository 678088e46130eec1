# SPDX-License-Identifier: BSD-3-Clause
# hesscope_embed(TARGET SYMBOL FILES...): puts the bytes of the files, one after another, into the target between
# SYMBOL_begin and SYMBOL_end, `extern "C" const char[]`. The assembler does this as fast as copying, whereas a
# compiler would parse an array of millions of numbers.
function(hesscope_embed target symbol)
  set(incbins "")
  foreach(file IN LISTS ARGN)
    string(APPEND incbins "        .incbin \"${file}\"\n")
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded/${symbol}.S)
  file(CONFIGURE OUTPUT ${source} CONTENT
"        .section .rodata
        .balign 16
        .globl ${symbol}_begin
        .hidden ${symbol}_begin
        .globl ${symbol}_end
        .hidden ${symbol}_end
${symbol}_begin:
@incbins@${symbol}_end:
        .section .note.GNU-stack, \"\", %progbits
" @ONLY)
  target_sources(${target} PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${ARGN}" SKIP_PRECOMPILE_HEADERS ON)
endfunction()
