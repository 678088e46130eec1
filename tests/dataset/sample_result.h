// SPDX-License-Identifier: BSD-3-Clause
//
// The result file that tests of this folder write and read, with each type, dimension and
// attribute.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/core/constants.h>
#include <hesscope/dataset/result_file.h>

namespace hesscope::test {

/// 2 x 3 x 4, different in every direction: 100 k + 10 i + j + 1/2.
inline std::vector<double> matrix_slice(int k) {
  std::vector<double> values;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) values.push_back(100 * k + 10 * i + j + 0.5);
  }
  if (k == 1) values.back() = kNaN;
  return values;
}

/// Beyond 4 KiB in all, so it goes through the filters.
inline std::vector<double> ramp_slice(int k) {
  std::vector<double> values;
  for (int i = 0; i < 3000; ++i) values.push_back(k + i / 1024.0);
  return values;
}

inline Variable spec(const std::string& name,
                     VariableType type,
                     std::vector<std::string> dimensions) {
  return {.name = name,
          .type = type,
          .dimensions = std::move(dimensions),
          .long_name = name,
          .definition = ""};
}

template <typename T>
std::span<const T> span(const std::vector<T>& values) {
  return values;
}

/// The file that foreign_readers.py expects.
inline void fill_sample(io::ResultFile& file) {
  file.set_attribute("", {"hesscope_schema_version", "1.0.0"});
  file.set_attribute("", {"title", "to be replaced"});
  file.set_attribute("", {"title", "sample"});
  file.set_attribute("", {"seed", std::int64_t{7}});
  file.set_attribute("", {"complete", std::int8_t{1}});
  file.set_attribute("", {"tolerance", 0.125});
  file.set_attribute("", {"blank", ""});
  file.set_attribute("", {"place", "Z\u00fcrich"});
  file.set_attribute("", {"problem", std::string(100'000, 'x')});
  file.set_attribute("hessian", {"rounding", std::vector<double>{1.5, -2.5}});
  file.set_attribute("hessian", {"codes", std::vector<std::int8_t>{0, 1, -1}});

  file.define_dimension("", "checkpoint", 2);
  file.define_dimension("", "parameter", 3);
  file.define_dimension("", "parameter_column", 4);
  file.define_dimension("", "none", 0);
  file.define_dimension("hessian", "long", 3000);
  file.define_dimension("landscape", "alpha", 3);

  // Before its coordinate variable: the order of definitions is free.
  Variable status = spec("loss_status", VariableType::kInt8, {"checkpoint", "alpha"});
  status.flag_meanings = {"ok", "not_computed", "non_finite"};
  file.define_variable("landscape", status);
  file.define_variable("landscape", spec("alpha", VariableType::kDouble, {"alpha"}));
  file.define_variable("landscape", spec("label", VariableType::kText, {"checkpoint", "alpha"}));
  file.define_variable("", spec("checkpoint_file", VariableType::kText, {"checkpoint"}));
  file.define_variable("", spec("step", VariableType::kInt64, {"checkpoint"}));
  Variable loss = spec("loss", VariableType::kDouble, {"checkpoint"});
  loss.definition = "mean of (f - y)^2";
  loss.references = {"A. Author (1999), A title", "B. Author & C. Author (2001), Another"};
  loss.ancillary_variables = "scalar";
  file.define_variable("", loss);
  file.define_variable("", spec("scalar", VariableType::kDouble, {}));
  file.define_variable("", spec("empty", VariableType::kDouble, {"none"}));
  Variable matrix =
      spec("matrix", VariableType::kDouble, {"checkpoint", "parameter", "parameter_column"});
  matrix.coordinates = {"place"};
  file.define_variable("hessian", matrix);
  // Coordinates of the group alone: one is named as a dimension of the root.
  file.define_variable("hessian", spec("place", VariableType::kInt64, {"checkpoint"}));
  file.define_variable("hessian", spec("parameter", VariableType::kText, {"parameter"}));
  file.define_variable("hessian", spec("ramp", VariableType::kDouble, {"checkpoint", "long"}));
  file.define_variable("hessian", spec("unwritten", VariableType::kInt64, {"checkpoint"}));

  file.write("", "step", span<std::int64_t>({0, 250}));
  file.write("hessian", "place", span<std::int64_t>({10, 20}));
  file.write("hessian", "parameter", span<std::string>({"a", "b", "c"}));
  file.set_variable_attribute("hessian", "matrix", {"note", "later"});
  file.write("", "checkpoint_file", span<std::string>({"step-0.npz", "Pfad/sch\u00f6n.npz"}));
  file.write_slice("", "loss", 0, span<double>({0.25}));
  file.write("", "scalar", span<double>({2.5}));
  file.write("", "empty", std::span<const double>());
  for (int k : {1, 0}) {
    const auto index = static_cast<std::uint64_t>(k);
    file.write_slice("hessian", "matrix", index, span(matrix_slice(k)));
    file.write_slice("hessian", "ramp", index, span(ramp_slice(k)));
  }
  file.write("landscape", "alpha", span<double>({-1, 0, 1}));
  file.write_slice("landscape", "loss_status", 0, span<std::int8_t>({0, 1, 2}));
  file.write_slice("landscape", "label", 0, span<std::string>({"a", "", "\u03b1\u03b2"}));
}

inline void write_sample(const std::filesystem::path& path) {
  io::ResultFile file(path);
  fill_sample(file);
  file.commit();
}

/// The message of the error of type E that `action` throws; "no error" without one.
template <typename E, typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

inline std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

}  // namespace hesscope::test
