# SPDX-License-Identifier: BSD-3-Clause
# Finds LAPACKE and the LAPACK and BLAS behind it. Defines the target LAPACKE::LAPACKE and LAPACKE_BLAS_IS_OPENBLAS,
# which is true if the BLAS is OpenBLAS (hesscope then fixes its number of threads, so that results do not depend on
# it).
find_path(LAPACKE_INCLUDE_DIR lapacke.h)
find_library(LAPACKE_LIBRARY lapacke)
find_library(LAPACKE_OPENBLAS_LIBRARY openblas)
find_path(LAPACKE_OPENBLAS_INCLUDE_DIR openblas_config.h)
if(LAPACKE_OPENBLAS_LIBRARY AND LAPACKE_OPENBLAS_INCLUDE_DIR)
  set(LAPACKE_BLAS_IS_OPENBLAS TRUE)
  set(lapacke_backend ${LAPACKE_OPENBLAS_LIBRARY})
else()
  set(LAPACKE_BLAS_IS_OPENBLAS FALSE)
  find_package(LAPACK)
  set(lapacke_backend LAPACK::LAPACK)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LAPACKE
  REQUIRED_VARS LAPACKE_LIBRARY LAPACKE_INCLUDE_DIR lapacke_backend)
mark_as_advanced(LAPACKE_INCLUDE_DIR LAPACKE_LIBRARY LAPACKE_OPENBLAS_LIBRARY
  LAPACKE_OPENBLAS_INCLUDE_DIR)
if(LAPACKE_FOUND AND NOT TARGET LAPACKE::LAPACKE)
  add_library(LAPACKE::LAPACKE INTERFACE IMPORTED)
  target_include_directories(LAPACKE::LAPACKE INTERFACE ${LAPACKE_INCLUDE_DIR})
  target_link_libraries(LAPACKE::LAPACKE INTERFACE ${LAPACKE_LIBRARY} ${lapacke_backend})
endif()
