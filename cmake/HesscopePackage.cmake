# SPDX-License-Identifier: BSD-3-Clause
# `cpack -G DEB` makes two Debian packages of a build: hesscope, the program with its data, and libhesscope-dev, the
# library. dpkg-shlibdeps finds what the program links.
include(HesscopeCopyright)
set(HESSCOPE_MAINTAINER "The hesscope authors <maintainers@hesscope.invalid>" CACHE STRING
  "Who made the package: NAME <ADDRESS>")
mark_as_advanced(HESSCOPE_MAINTAINER)

set(package_files ${PROJECT_BINARY_DIR}/generated/package)
hesscope_write_copyright(${package_files}/copyright)
hesscope_write_changelog(${package_files}/changelog "${HESSCOPE_MAINTAINER}")
file(ARCHIVE_CREATE OUTPUT ${package_files}/changelog.gz PATHS ${package_files}/changelog
  FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9 MTIME "1970-01-01")
install(FILES ${package_files}/copyright ${package_files}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Each Debian package has its own copy.
install(FILES ${package_files}/copyright ${package_files}/changelog.gz
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/libhesscope-dev COMPONENT development EXCLUDE_FROM_ALL)

set(CPACK_PACKAGE_NAME hesscope)
set(CPACK_PACKAGE_VENDOR "The hesscope authors")
set(CPACK_PACKAGE_CONTACT ${HESSCOPE_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_GENERATOR DEB)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${HESSCOPE_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME hesscope)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "librsvg2-2, fonts-dejavu-core | fonts-liberation") # for PDF and PNG
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "python3-h5py, python3-xarray, hdf5-tools, libhesscope-dev")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
"hesscope reads checkpoints of PyTorch, Keras, NumPy and others and computes the full Hessian of the loss by
automatic differentiation. It stores eigenvalues with a proof, condition numbers, sharpness, gradient noise
and landscapes in HDF5 that xarray, h5py, MATLAB and Julia open.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libhesscope-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libeigen3-dev (>= 3.4), libfmt-dev, libhdf5-dev, liblapacke-dev, libopenblas-dev, libprotobuf-dev, libssl-dev, libtbb-dev, zlib1g-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
"The C++20 library behind the program hesscope: derivatives of any callable, objectives from models and
graphs, spectra with proof, and files. With a CMake package and for pkg-config.")

include(CPack)
