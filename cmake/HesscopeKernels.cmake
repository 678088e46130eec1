# SPDX-License-Identifier: BSD-3-Clause
# Kernels compiled once for each instruction set, chosen at run time (lib/hesscope/simd).
#
# A kernel source puts everything that it defines into namespace hesscope::HESSCOPE_ISA and has no other external
# symbols: an inline function of a common header (std::vector's, Eigen's) compiled here with AVX-512 could be the copy
# that the linker keeps for the whole program.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  set(HESSCOPE_X86_KERNELS TRUE)
  set(HESSCOPE_KERNEL_SETS baseline avx2)
  if(HESSCOPE_AVX512)
    list(APPEND HESSCOPE_KERNEL_SETS avx512)
  endif()
else()
  set(HESSCOPE_KERNEL_SETS baseline)
endif()

# hesscope_kernels(NAME SOURCES... [LIBRARIES ...]): adds the sources to hesscope, one object library for
# each set.
function(hesscope_kernels name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES")
  set(lanes_baseline 2)
  set(lanes_avx2 4)
  set(lanes_avx512 8)
  # These passes of -O3 make versions of loops (by strides, by loop-invariant conditions, by halves): half as much
  # code again, and as much more to compile, without any gain in speed.
  set(one_version
      $<$<CXX_COMPILER_ID:GNU>:-fno-version-loops-for-strides;-fno-unswitch-loops;-fno-split-loops;-fno-split-paths>)
  set(fast $<$<CONFIG:Release>:-O3> ${one_version})
  # On processors older than AVX2 the last tenth of speed does not matter: -O3 takes half as long again to compile.
  # Nor do sanitizers find more there than in the AVX2 kernels, which are the same code with wider lanes.
  if(NOT HESSCOPE_X86_KERNELS)
    set(flags_baseline ${fast})
  elseif(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    set(flags_baseline -fno-sanitize=all -g0)
  endif()
  set(flags_avx2 ${fast} -mavx2 -mfma)
  set(flags_avx512 ${fast} -mavx512f -mavx512dq -mavx512vl -mavx512bw -mavx2 -mfma -mprefer-vector-width=512)
  # They are not sources of hesscope itself, although they are in its folders (HesscopeFolders.cmake).
  set_source_files_properties(${arg_UNPARSED_ARGUMENTS} TARGET_DIRECTORY hesscope PROPERTIES HEADER_FILE_ONLY ON)
  foreach(set IN LISTS HESSCOPE_KERNEL_SETS)
    set(target hesscope_${name}_${set})
    add_library(${target} OBJECT ${arg_UNPARSED_ARGUMENTS})
    target_compile_features(${target} PRIVATE cxx_std_20)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
    target_compile_definitions(${target} PRIVATE
      HESSCOPE_ISA=${set} HESSCOPE_LANES=${lanes_${set}})
    # Contraction: a kernel's products and sums may be fused; its results depend on its instruction set anyway. Nobody
    # reads errno, for which roots would be computed one at a time.
    target_compile_options(${target} PRIVATE ${flags_${set}} -ffp-contract=fast -fno-math-errno)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/lib ${PROJECT_BINARY_DIR}/generated)
    target_link_libraries(${target} PRIVATE ${arg_LIBRARIES} $<BUILD_INTERFACE:hesscope_warnings>)
    target_sources(hesscope PRIVATE $<TARGET_OBJECTS:${target}>)
    set_property(GLOBAL APPEND PROPERTY HESSCOPE_KERNEL_TARGETS ${target})
  endforeach()
endfunction()
