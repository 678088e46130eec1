# SPDX-License-Identifier: BSD-3-Clause
# Finds <ceres/jet.h>, the one header of Ceres Solver that hesscope uses. find_package(Ceres) would
# pull in SuiteSparse, glog and gflags for a header that needs none of them.
# Defines the target CeresJet::CeresJet.
find_path(CERES_JET_INCLUDE_DIR ceres/jet.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CeresJet REQUIRED_VARS CERES_JET_INCLUDE_DIR)
mark_as_advanced(CERES_JET_INCLUDE_DIR)
if(CeresJet_FOUND AND NOT TARGET CeresJet::CeresJet)
  add_library(CeresJet::CeresJet INTERFACE IMPORTED)
  target_include_directories(CeresJet::CeresJet INTERFACE ${CERES_JET_INCLUDE_DIR})
endif()
