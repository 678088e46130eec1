# SPDX-License-Identifier: BSD-3-Clause
# Finds toml++ and uses it as headers: if it is packaged as a compiled library (Debian), consumers of an installed
# hesscope would otherwise have to link it. Defines the target TomlHeaders::TomlHeaders.
find_path(TOML_HEADERS_INCLUDE_DIR toml++/toml.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TomlHeaders REQUIRED_VARS TOML_HEADERS_INCLUDE_DIR)
mark_as_advanced(TOML_HEADERS_INCLUDE_DIR)
if(TomlHeaders_FOUND AND NOT TARGET TomlHeaders::TomlHeaders)
  add_library(TomlHeaders::TomlHeaders INTERFACE IMPORTED)
  target_include_directories(TomlHeaders::TomlHeaders INTERFACE ${TOML_HEADERS_INCLUDE_DIR})
  target_compile_definitions(TomlHeaders::TomlHeaders INTERFACE TOML_HEADER_ONLY=1)
endif()
