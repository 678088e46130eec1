# SPDX-License-Identifier: BSD-3-Clause
# hesscope.pc and hesscope-analyzers.pc, which may be moved with the rest of the installed tree.
set(hesscope_pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${hesscope_pc_dir}
  OUTPUT_VARIABLE hesscope_pc_to_prefix)

# What the library links. HDF5 and LAPACKE by their files, because the names of their modules differ between systems.
set(hesscope_pc_requires fmt zlib libcrypto tbb protobuf-lite)
set(hesscope_pc_libs $<TARGET_FILE:hdf5::hdf5_hl> $<TARGET_FILE:hdf5::hdf5> ${LAPACKE_LIBRARY})
if(LAPACKE_BLAS_IS_OPENBLAS)
  list(APPEND hesscope_pc_libs ${LAPACKE_OPENBLAS_LIBRARY})
else()
  list(APPEND hesscope_pc_libs ${LAPACK_LIBRARIES})
endif()
list(JOIN hesscope_pc_requires " " hesscope_pc_requires)
list(JOIN hesscope_pc_libs " " hesscope_pc_libs)

# Programs that link a shared hesscope do not need them.
get_target_property(hesscope_library_type hesscope TYPE)
if(NOT hesscope_library_type STREQUAL "STATIC_LIBRARY")
  foreach(what IN ITEMS requires libs)
    set(hesscope_pc_${what}_private "${hesscope_pc_${what}}")
    set(hesscope_pc_${what} "")
  endforeach()
endif()

foreach(name IN ITEMS hesscope hesscope-analyzers)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/generated/${name}.pc.in @ONLY)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/${name}.pc INPUT ${PROJECT_BINARY_DIR}/generated/${name}.pc.in)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${hesscope_pc_dir} COMPONENT development)
endforeach()
