# SPDX-License-Identifier: BSD-3-Clause
# How Eigen aligns and allocates matrices under the flags of this build, for lib/hesscope/core/eigen.h.in.
include(CheckCXXSourceCompiles)

# Checked each time, because flags may have changed.
function(hesscope_eigen_alignment out)
  set(CMAKE_REQUIRED_LIBRARIES Eigen3::Eigen)
  set(CMAKE_REQUIRED_QUIET ON)
  foreach(bytes IN ITEMS 16 32 64 0)
    unset(HESSCOPE_EIGEN_ALIGNS_BY_${bytes} CACHE)
    check_cxx_source_compiles("
      #include <Eigen/Core>
      static_assert(EIGEN_DEFAULT_ALIGN_BYTES == ${bytes}, \"\");
      int main() {}" HESSCOPE_EIGEN_ALIGNS_BY_${bytes})
    if(HESSCOPE_EIGEN_ALIGNS_BY_${bytes})
      set(${out} ${bytes} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "cannot find out how Eigen aligns matrices: does a program that includes Eigen/Core compile?")
endfunction()

# 1 if Eigen leaves their alignment to malloc, 0 if it aligns them itself.
function(hesscope_eigen_malloc out)
  set(CMAKE_REQUIRED_LIBRARIES Eigen3::Eigen)
  set(CMAKE_REQUIRED_QUIET ON)
  unset(HESSCOPE_EIGEN_TRUSTS_MALLOC CACHE)
  check_cxx_source_compiles("
    #include <Eigen/Core>
    static_assert(EIGEN_MALLOC_ALREADY_ALIGNED == 1, \"\");
    int main() {}" HESSCOPE_EIGEN_TRUSTS_MALLOC)
  if(HESSCOPE_EIGEN_TRUSTS_MALLOC)
    set(${out} 1 PARENT_SCOPE)
  else()
    set(${out} 0 PARENT_SCOPE)
  endif()
endfunction()
