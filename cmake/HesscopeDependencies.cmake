# SPDX-License-Identifier: BSD-3-Clause
# The dependencies of the library. Each library in the second group reappears in hesscopeConfig.cmake.in. Header-only
# libraries that no public header includes are linked with BUILD_INTERFACE: consumers of an installed hesscope need
# none of them.
find_package(TomlHeaders REQUIRED)
find_package(CeresJet REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)

find_package(Eigen3 3.4 CONFIG REQUIRED)
find_package(TBB CONFIG REQUIRED)
find_package(fmt CONFIG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(HDF5 REQUIRED COMPONENTS C HL)
find_package(LAPACKE REQUIRED)
find_package(Protobuf 3.21 REQUIRED)
