// SPDX-License-Identifier: BSD-3-Clause
//
// Bookkeeping of a result file being written: its groups, dimensions and variables, and checks
// whether requests fit them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/dataset/internal/netcdf_layout.h>
#include <hesscope/dataset/result_file.h>
#include <hesscope/hdf5/internal/hdf5_handle.h>

namespace hesscope::io {

/// "double", "int64", ...

/// "/loss", "/spectrum/eigenvalues".
std::string path_of(const std::string& group, const std::string& name);

struct StoredDimension {
  std::string group;
  std::string name;
  hsize_t size = 0;
};

struct StoredVariable {
  std::string path;
  VariableType type = VariableType::kDouble;
  std::vector<std::size_t> dimensions;  // positions in ResultCatalog::dimensions()
  std::vector<hsize_t> shape;
  bool is_coordinate = false;
  Hid dataset;
};

/// The position of a dimension is its netCDF id. All members that throw, throw OutputError.
class ResultCatalog {
 public:
  const std::vector<StoredDimension>& dimensions() const { return dimensions_; }

  std::vector<StoredVariable>& variables() { return variables_; }  ///< in order of definition

  bool has_variable(const std::string& path) const { return variable_at_.contains(path); }

  /// Throws if a group, dimension or variable has this path: in HDF5 a dimension is a dataset, and
  /// all of them share one namespace.
  void require_free(const std::string& path, const netcdf::Place& where) const;

  void add_group(const std::string& name) { groups_.insert(name); }

  void add(StoredDimension dimension);
  void add(StoredVariable variable);

  /// The variable requested by `spec`, without its dataset; throws if it does not fit.
  StoredVariable plan(const std::string& group,
                      const Variable& spec,
                      const netcdf::Place& where) const;

  const StoredVariable& find_variable(const std::string& group,
                                      const std::string& name,
                                      const std::filesystem::path& file) const;

 private:
  std::size_t find_dimension(const std::string& group,
                             const std::string& name,
                             const netcdf::Place& where) const;

  std::set<std::string> groups_;
  std::vector<StoredDimension> dimensions_;
  std::vector<StoredVariable> variables_;
  std::map<std::string, std::size_t> dimension_at_;  // by path
  std::map<std::string, std::size_t> variable_at_;   // by path
};

}  // namespace hesscope::io
