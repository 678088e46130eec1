// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hesscope/hdf5/internal/hdf5_driver.h>
#include <hesscope/hdf5/internal/recording_driver.h>

namespace hesscope::io {
namespace recording {
namespace {

/// Stored in an access list; HDF5 copies it bytewise.
struct DriverInfo {
  int* first_error = nullptr;
};

/// Metadata that could not be written to disk. HDF5 may want to read them again before it can close
/// the file, and must then find what it wrote.
struct LostWrite {
  haddr_t address = 0;
  std::vector<char> bytes;
};

struct RecordedFile : DriverFile {
  int descriptor = -1;
  haddr_t end_of_file = 0;
  int* first_error = nullptr;
  std::vector<LostWrite> lost;  // in order

  void record(int error) {
    if (*first_error == 0) *first_error = error;
  }
};

RecordedFile& self(H5FD_t* file) { return *static_cast<RecordedFile*>(file); }

const RecordedFile& self(const H5FD_t* file) { return *static_cast<const RecordedFile*>(file); }

H5FD_t* open_file(const char* name, unsigned flags, hid_t access, haddr_t) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
  if (info == nullptr) return nullptr;
  int mode = (flags & H5F_ACC_RDWR) != 0 ? O_RDWR : O_RDONLY;
  if ((flags & H5F_ACC_TRUNC) != 0) mode |= O_TRUNC;
  if ((flags & H5F_ACC_CREAT) != 0) mode |= O_CREAT;
  if ((flags & H5F_ACC_EXCL) != 0) mode |= O_EXCL;
  const int descriptor = ::open(name, mode | O_CLOEXEC, 0666);

  struct stat status {};

  if (descriptor < 0 || ::fstat(descriptor, &status) != 0) {
    *info->first_error = errno;
    if (descriptor >= 0) ::close(descriptor);
    return nullptr;
  }
  auto* file = new (std::nothrow) RecordedFile();
  if (file == nullptr) {
    ::close(descriptor);
    return nullptr;
  }
  file->descriptor = descriptor;
  file->end_of_file = static_cast<haddr_t>(status.st_size);
  file->first_error = info->first_error;
  return file;
}

herr_t close_file(H5FD_t* base) {
  RecordedFile& file = self(base);
  if (::close(file.descriptor) != 0) file.record(errno);
  delete &file;
  return 0;
}

/// As in HDF5's default driver, so that the file has the same layout.
herr_t query(const H5FD_t*, unsigned long* flags) {
  if (flags != nullptr) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
  }
  return 0;
}

haddr_t get_end_of_file(const H5FD_t* file, H5FD_mem_t) { return self(file).end_of_file; }

/// Copies the overlap of `lost` to the `size` bytes of `buffer`, which start at `address`.
void overlay(const LostWrite& lost, haddr_t address, std::size_t size, char* buffer) {
  const haddr_t begin = std::max(lost.address, address);
  const haddr_t end = std::min(lost.address + lost.bytes.size(), address + size);
  if (begin >= end) return;
  std::memcpy(buffer + (begin - address), lost.bytes.data() + (begin - lost.address), end - begin);
}

/// Reads zeros beyond the end of the file.
herr_t read(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, void* buffer) {
  const RecordedFile& file = self(base);
  auto* out = static_cast<char*>(buffer);
  for (std::size_t done = 0; done < size;) {
    const ssize_t count =
        ::pread(file.descriptor, out + done, size - done, static_cast<off_t>(address + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) {
      std::memset(out + done, 0, size - done);
      break;
    }
    done += static_cast<std::size_t>(count);
  }
  for (const LostWrite& lost : file.lost) overlay(lost, address, size, out);
  return 0;
}

/// @returns 0 or the errno of the write that failed.
int write_all(int descriptor, const char* data, std::size_t size, haddr_t address) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t count =
        ::pwrite(descriptor, data + done, size - done, static_cast<off_t>(address + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    done += static_cast<std::size_t>(count);
  }
  return 0;
}

herr_t write(
    H5FD_t* base, H5FD_mem_t kind, hid_t, haddr_t address, std::size_t size, const void* buffer) {
  RecordedFile& file = self(base);
  const auto* data = static_cast<const char*>(buffer);
  file.end_of_file = std::max(file.end_of_file, address + size);
  if (*file.first_error == 0) {
    const int error = write_all(file.descriptor, data, size, address);
    if (error == 0) return 0;
    file.record(error);
  }
  if (kind == H5FD_MEM_DRAW) return 0;  // numbers: HDF5 does not need them, and there can be many
  try {
    file.lost.push_back({address, std::vector<char>(data, data + size)});
  } catch (...) {
    return -1;
  }
  return 0;
}

herr_t truncate(H5FD_t* base, hid_t, hbool_t) {
  RecordedFile& file = self(base);
  if (file.end_of_allocation == file.end_of_file) return 0;
  file.end_of_file = file.end_of_allocation;
  if (*file.first_error == 0 &&
      ::ftruncate(file.descriptor, static_cast<off_t>(file.end_of_allocation)) != 0) {
    file.record(errno);
  }
  return 0;
}

H5FD_class_t driver_class() {
  H5FD_class_t driver = driver_class_of("hesscope_recording", 511, sizeof(DriverInfo));
  driver.open = open_file;
  driver.close = close_file;
  driver.query = query;
  driver.get_eof = get_end_of_file;
  driver.read = read;
  driver.write = write;
  driver.truncate = truncate;
  return driver;
}

}  // namespace
}  // namespace recording

bool use_recording_driver(hid_t access, int& first_error) {
  const recording::DriverInfo info{&first_error};
  static RegisteredDriver driver(recording::driver_class());
  return driver.use(access, &info);
}

}  // namespace hesscope::io
