# SPDX-License-Identifier: BSD-3-Clause
# Two components: `development`, and `program`, the default.
include(CMakePackageConfigHelpers)
set(hesscope_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hesscope)

install(TARGETS hesscope hesscope_analyzers
  EXPORT hesscopeTargets
  ARCHIVE COMPONENT development
  LIBRARY COMPONENT program NAMELINK_COMPONENT development
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT hesscopeTargets NAMESPACE hesscope:: DESTINATION ${hesscope_cmake_dir} COMPONENT development)

if(TARGET hesscope_mpi) # a component of its own: those who do not ask for it need no MPI
  install(TARGETS hesscope_mpi
    EXPORT hesscopeMpiTargets
    ARCHIVE COMPONENT development
    LIBRARY COMPONENT program NAMELINK_COMPONENT development
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
  install(EXPORT hesscopeMpiTargets NAMESPACE hesscope:: DESTINATION ${hesscope_cmake_dir} COMPONENT development)
endif()

configure_package_config_file(
  cmake/hesscopeConfig.cmake.in ${PROJECT_BINARY_DIR}/hesscopeConfig.cmake
  INSTALL_DESTINATION ${hesscope_cmake_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/hesscopeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion) # no promise across minor versions before 1.0
install(FILES
  ${PROJECT_BINARY_DIR}/hesscopeConfig.cmake
  ${PROJECT_BINARY_DIR}/hesscopeConfigVersion.cmake
  cmake/FindLAPACKE.cmake
  DESTINATION ${hesscope_cmake_dir} COMPONENT development)

include(HesscopePkgConfig)

install(FILES share/hesscope/hesscope.py DESTINATION ${CMAKE_INSTALL_DATADIR}/hesscope)
install(DIRECTORY share/hesscope/hesscope_torch DESTINATION ${CMAKE_INSTALL_DATADIR}/hesscope
  FILES_MATCHING PATTERN "*.py")
if(TARGET hesscope_cli)
  install(TARGETS hesscope_cli)
  if(TARGET hesscope_mpi_cli)
    install(TARGETS hesscope_mpi_cli)
  endif()
  # What the README's commands use, at the paths that they name.
  install(DIRECTORY data DESTINATION ${CMAKE_INSTALL_DATADIR}/hesscope)
endif()
# The documents, and what they link to, at the same relative places as here.
install(FILES LICENSE README.md ARCHITECTURE.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES benchmarks/peers/peers.svg DESTINATION ${CMAKE_INSTALL_DOCDIR}/benchmarks/peers)
set(hesscope_links ${PROJECT_BINARY_DIR}/generated/links)
file(RELATIVE_PATH hesscope_to_share ${CMAKE_INSTALL_FULL_DOCDIR} ${CMAKE_INSTALL_FULL_DATADIR}/hesscope)
file(MAKE_DIRECTORY ${hesscope_links}/share)
file(CREATE_LINK ../${hesscope_to_share} ${hesscope_links}/share/hesscope SYMBOLIC)
if(TARGET hesscope_cli)
  file(CREATE_LINK ${hesscope_to_share}/data ${hesscope_links}/data SYMBOLIC)
endif()
install(DIRECTORY ${hesscope_links}/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(PROJECT_IS_TOP_LEVEL)
  include(HesscopePackage)
endif()
