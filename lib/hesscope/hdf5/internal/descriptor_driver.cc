// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <string_view>

#include <sys/file.h>
#include <sys/types.h>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/hdf5/internal/descriptor_driver.h>
#include <hesscope/hdf5/internal/hdf5_driver.h>

namespace hesscope::io {
namespace descriptor {
namespace {

/// Stored in an access list; HDF5 copies it bytewise.
struct DriverInfo {
  const InputFile* file = nullptr;
};

struct OpenFile : DriverFile {
  const InputFile* file = nullptr;
};

OpenFile& self(H5FD_t* file) { return *static_cast<OpenFile*>(file); }

const OpenFile& self(const H5FD_t* file) { return *static_cast<const OpenFile*>(file); }

H5FD_t* open_file(const char*, unsigned flags, hid_t access, haddr_t) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
  if (info == nullptr || (flags & H5F_ACC_RDWR) != 0) return nullptr;
  auto* file = new (std::nothrow) OpenFile();
  if (file != nullptr) file->file = info->file;
  return file;
}

herr_t close_file(H5FD_t* base) {
  delete &self(base);
  return 0;
}

herr_t query(const H5FD_t*, unsigned long* flags) {
  if (flags != nullptr) {
    *flags = H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE;
  }
  return 0;
}

haddr_t get_end_of_file(const H5FD_t* file, H5FD_mem_t) { return self(file).file->size(); }

/// Reads zeros beyond the end of the file, like HDF5's default driver.
herr_t read(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, void* buffer) {
  const InputFile& file = *self(base).file;
  const std::span out(static_cast<std::byte*>(buffer), size);
  const std::size_t num_there =
      address < file.size() ? std::min<std::uint64_t>(size, file.size() - address) : 0;
  try {
    if (num_there > 0) file.read_at(address, out.first(num_there));
  } catch (const std::exception&) {
    return -1;
  }
  std::memset(out.data() + num_there, 0, size - num_there);
  return 0;
}

/// HDF5 does not accept a driver without it.
herr_t write(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*) { return -1; }

herr_t lock(H5FD_t* base, hbool_t) {
  const bool is_locked = ::flock(self(base).file->descriptor(), LOCK_SH | LOCK_NB) == 0;
  // Any other error comes from a file system without locks (some network ones).
  if (is_locked || errno != EWOULDBLOCK) return 0;
  H5Epush2(H5E_DEFAULT,
           __FILE__,
           __func__,
           __LINE__,
           H5E_ERR_CLS,
           H5E_VFL,
           H5E_CANTLOCKFILE,
           "unable to lock file: another program is writing to it");
  return -1;
}

herr_t unlock(H5FD_t* base) {
  ::flock(self(base).file->descriptor(), LOCK_UN);
  return 0;
}

// The same variable that HDF5 reads.
bool is_locking_switched_off() {
  const char* const setting = std::getenv("HDF5_USE_FILE_LOCKING");
  return setting != nullptr &&
         (std::string_view(setting) == "FALSE" || std::string_view(setting) == "0");
}

H5FD_class_t driver_class() {
  H5FD_class_t driver = driver_class_of("hesscope_descriptor", 510, sizeof(DriverInfo));
  driver.open = open_file;
  driver.close = close_file;
  driver.query = query;
  driver.get_eof = get_end_of_file;
  driver.read = read;
  driver.write = write;
  driver.lock = lock;
  driver.unlock = unlock;
  return driver;
}

}  // namespace
}  // namespace descriptor

bool use_descriptor_driver(hid_t access, const InputFile& file) {
  const descriptor::DriverInfo info{&file};
  static RegisteredDriver driver(descriptor::driver_class());
  return driver.use(access, &info);
}

void require_no_writer(const InputFile& file) {
  if (descriptor::is_locking_switched_off()) return;
  if (::flock(file.descriptor(), LOCK_SH | LOCK_NB) == 0) {
    ::flock(file.descriptor(), LOCK_UN);
  } else if (errno == EWOULDBLOCK) {
    throw InputError(fmt::format("{}: another program has it open for writing; close it there",
                                 file.path().string()));
  }
}

}  // namespace hesscope::io
