// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <limits>

#include <sys/types.h>

#include <hesscope/hdf5/internal/hdf5_driver.h>

namespace hesscope::io {
namespace {

haddr_t get_end_of_allocation(const H5FD_t* file, H5FD_mem_t) {
  return static_cast<const DriverFile*>(file)->end_of_allocation;
}

herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  static_cast<DriverFile*>(file)->end_of_allocation = address;
  return 0;
}

}  // namespace

H5FD_class_t driver_class_of(const char* name, [[maybe_unused]] int value, std::size_t info_size) {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 14, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(value);
#endif
  driver.name = name;
  driver.maxaddr = static_cast<haddr_t>(std::numeric_limits<off_t>::max());
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = info_size;
  driver.get_eoa = get_end_of_allocation;
  driver.set_eoa = set_end_of_allocation;
  constexpr H5FD_mem_t kSpaces[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(kSpaces), std::end(kSpaces), std::begin(driver.fl_map));
  return driver;
}

// Registers once; again if someone has called H5close() in between.
bool RegisteredDriver::use(hid_t access, const void* info) {
  const std::lock_guard lock(mutex_);
  if (id_ < 0 || H5Iget_type(id_) != H5I_VFL) id_ = H5FDregister(&driver_);
  return id_ >= 0 && H5Pset_driver(access, id_, info) >= 0;
}

}  // namespace hesscope::io
