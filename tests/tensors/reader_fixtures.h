// SPDX-License-Identifier: BSD-3-Clause
//
// Files written by NumPy and h5py for the reader tests, and the values that are in them.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/tensors/tensor_file.h>

#include "support/files.h"

namespace hesscope::test {

/// A folder with the files that a script writes; `kind` is one of those that it says it knows.
class PythonFiles {
 public:
  explicit PythonFiles(const std::string& kind,
                       const std::string& script_name = "make_npz_fixtures.py") {
    const std::string script = (fixtures().parent_path() / "tensors" / script_name).string();
    const std::string command =
        fmt::format("{} '{}' {} '{}'", HESSCOPE_TEST_PYTHON, script, kind, folder_.path().string());
    if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
  }

  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

 private:
  ScratchFolder folder_;
};

/// grid() of make_npz_fixtures.py, row-major: 100 i + 10 j + k + 1/4 for three indices.
inline std::vector<double> grid(const std::vector<std::int64_t>& shape, double offset = 0.25) {
  std::vector<double> values = {offset};
  double stride = 1;
  for (std::size_t axis = 1; axis < shape.size(); ++axis) stride *= 10;
  for (const std::int64_t extent : shape) {
    std::vector<double> next;
    for (const double base : values) {
      for (std::int64_t i = 0; i < extent; ++i)
        next.push_back(base + stride * static_cast<double>(i));
    }
    values = std::move(next);
    stride /= 10;
  }
  return values;
}

/// Every tensor of the file, in order: what a damaged file must not change silently.
inline std::vector<std::pair<std::string, std::vector<double>>> all_values(
    const io::TensorFile& file) {
  std::vector<std::pair<std::string, std::vector<double>>> all;
  for (const io::TensorInfo& tensor : file.tensors()) {
    all.emplace_back(tensor.name + shape_text(tensor.shape), file.read(tensor.name));
  }
  return all;
}

/// Checks that opening the file and reading all of it is refused with a message naming the file and
/// containing each of `parts`.
inline void expect_refused(const std::filesystem::path& path,
                           std::initializer_list<std::string> parts,
                           const io::ReadLimits& limits = {}) {
  try {
    all_values(io::open_tensor_file(path, limits));
    ADD_FAILURE() << path << " was read";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_THAT(message, ::testing::HasSubstr(path.string()));
    for (const std::string& part : parts) EXPECT_THAT(message, ::testing::HasSubstr(part));
  }
}

/// Checks that what is unreadable in the file are tensors of these names, in this order, for
/// reasons that contain the texts; and that reading them is refused with these.
inline void expect_unreadable(const io::TensorFile& file,
                              const std::vector<std::pair<std::string, std::string>>& expected) {
  ASSERT_EQ(file.unreadable().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::string& name = expected[i].first;
    const std::string& reason = expected[i].second;
    EXPECT_EQ(file.unreadable()[i].name, name);
    EXPECT_THAT(file.unreadable()[i].reason, ::testing::HasSubstr(reason));
    EXPECT_EQ(file.find(name), nullptr);
    EXPECT_THAT(
        [&] { file.read(name); },
        ::testing::ThrowsMessage<InputError>(::testing::AllOf(
            ::testing::HasSubstr("tensor '" + name + "': its "), ::testing::HasSubstr(reason))));
  }
}

/// Checks the tensors of numbers() in make_npz_fixtures.py: every type that is read.
inline void expect_numbers(const io::TensorFile& file) {
  using io::ElementType;
  using ::testing::ElementsAre;
  using ::testing::ElementsAreArray;
  const auto expect = [&](const std::string& name,
                          ElementType type,
                          const std::vector<std::int64_t>& shape,
                          const std::vector<double>& values) {
    SCOPED_TRACE(name);
    const io::TensorInfo* const tensor = file.find(name);
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(tensor->type, type);
    EXPECT_EQ(tensor->shape, shape);
    EXPECT_THAT(file.read(name), ElementsAreArray(values));
  };
  const std::vector<double> integers = {-10, -5, 0, 5, 10, 15};
  const std::vector<double> naturals = {0, 5, 10, 15, 20, 25};
  for (const std::string order : {"little.", "big."}) {
    expect(order + "f2", ElementType::kFloat16, {2, 3}, grid({2, 3}));
    expect(order + "f4", ElementType::kFloat32, {2, 3}, grid({2, 3}));
    expect(order + "f8", ElementType::kFloat64, {2, 3}, grid({2, 3}));
    expect(order + "i2", ElementType::kInt16, {2, 3}, integers);
    expect(order + "i4", ElementType::kInt32, {2, 3}, integers);
    expect(order + "i8", ElementType::kInt64, {2, 3}, integers);
    expect(order + "u2", ElementType::kUInt16, {2, 3}, naturals);
    expect(order + "u4", ElementType::kUInt32, {2, 3}, naturals);
    expect(order + "u8", ElementType::kUInt64, {2, 3}, naturals);
  }
  expect("byte.i1", ElementType::kInt8, {2, 3}, integers);
  expect("byte.u1", ElementType::kUInt8, {2, 3}, naturals);
  expect("bool", ElementType::kBool, {2, 3}, {1, 0, 0, 1, 1, 0});
  expect("scalar", ElementType::kFloat64, {}, {-2.5});
  expect("vector", ElementType::kFloat64, {3}, grid({3}));
  expect("empty", ElementType::kFloat64, {0, 3}, {});
  expect("cube", ElementType::kFloat64, {2, 4, 3}, grid({2, 4, 3}));
  expect("poids.été.λ", ElementType::kFloat64, {2, 2}, grid({2, 2}));

  const double infinity = kInfinity;
  const std::vector<double> special = file.read("special");
  EXPECT_THAT(special,
              ElementsAre(::testing::IsNan(),
                          infinity,
                          -infinity,
                          -0.0,
                          5e-324,
                          std::numeric_limits<double>::max()));
  EXPECT_TRUE(std::signbit(special.at(3)));
  const std::vector<double> half = file.read("half.special");
  EXPECT_THAT(
      half, ElementsAre(::testing::IsNan(), infinity, -infinity, -0.0, 0x1p-24, 65504.0, 0x1p-14));
  EXPECT_TRUE(std::signbit(half.at(3)));
}

}  // namespace hesscope::test
