// SPDX-License-Identifier: BSD-3-Clause
//
// Asymmetric on purpose: h5py and zipfile write what Keras would, hesscope reads.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/tensors/tensor_file.h>

#include "support/files.h"
#include "tensors/reader_fixtures.h"

namespace {

using hesscope::io::ElementType;
using hesscope::io::open_tensor_file;
using hesscope::io::TensorFile;
using hesscope::io::TensorInfo;
using hesscope::test::expect_refused;
using hesscope::test::PythonFiles;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class Keras : public ::testing::Test {
 protected:
  static std::vector<std::string> names(const TensorFile& file) {
    std::vector<std::string> out;
    for (const TensorInfo& tensor : file.tensors()) out.push_back(tensor.name);
    return out;
  }

  static void expect_kernel(const TensorFile& file, const std::string& name, double offset = 0.25) {
    const TensorInfo* const tensor = file.find(name);
    ASSERT_NE(tensor, nullptr) << name;
    EXPECT_THAT(tensor->shape, ElementsAre(2, 3));
    EXPECT_THAT(file.read(name),
                ElementsAre(offset, offset + 1, offset + 2, offset + 3, offset + 4, offset + 5));
  }

  static void expect_weights(const TensorFile& file) {
    EXPECT_THAT(names(file),
                UnorderedElementsAre("layers/dense/vars/0",
                                     "layers/dense/vars/1",
                                     "layers/dense_1/vars/0",
                                     "layers/dense_1/vars/1",
                                     "optimizer/vars/0"));
    expect_kernel(file, "layers/dense/vars/0");
    expect_kernel(file, "layers/dense_1/vars/0", 10.25);
    EXPECT_THAT(file.read("layers/dense/vars/1"), ElementsAre(1.5, -2, 0.5));
    EXPECT_THAT(file.read("optimizer/vars/0"), ElementsAre(7));
  }

  PythonFiles files_{"keras", "make_keras_fixtures.py"};
};

TEST_F(Keras, ReadsWeightsOfKeras3) {
  const TensorFile file = open_tensor_file(files_ / "m.weights.h5");
  EXPECT_EQ(file.format(), "hdf5");
  expect_weights(file);
}

TEST_F(Keras, ReadsTheWeightsInAModel) {
  const TensorFile stored = open_tensor_file(files_ / "m.keras");
  EXPECT_EQ(stored.format(), "keras");
  expect_weights(stored);
  expect_weights(open_tensor_file(files_ / "deflated.keras"));
}

TEST_F(Keras, ReadsBfloat16StoredAsOpaqueBytes) {
  const TensorFile file = open_tensor_file(files_ / "bfloat16.weights.h5");
  EXPECT_EQ(file.find("layers/dense/vars/0")->type, ElementType::kBFloat16);
  expect_kernel(file, "layers/dense/vars/0");
  expect_kernel(file, "layers/dense/vars/1");
  expect_refused(files_ / "opaque.h5", {"'w'", "opaque bytes"});
}

TEST_F(Keras, ReadsTheFormerFormatWeightsAndWholeModels) {
  const TensorFile weights = open_tensor_file(files_ / "legacy.h5");
  EXPECT_THAT(names(weights),
              UnorderedElementsAre("dense/dense/kernel:0",
                                   "dense/dense/bias:0",
                                   "dense_1/dense_1/kernel:0",
                                   "dense_1/dense_1/bias:0"));
  expect_kernel(weights, "dense_1/dense_1/kernel:0", 10.25);
  const TensorFile whole = open_tensor_file(files_ / "whole.h5");
  expect_kernel(whole, "optimizer_weights/adam/m:0");
  EXPECT_EQ(names(whole.part("model_weights")), names(weights));
  expect_kernel(whole.part("model_weights"), "dense/dense/kernel:0");
}

TEST_F(Keras, ReadsSeveralFilesByTheirIndex) {
  const TensorFile file = open_tensor_file(files_ / "s.weights.json");
  EXPECT_THAT(names(file),
              ElementsAre("layers/dense/vars/0", "layers/dense/vars/1", "layers/dense_1/vars/0"));
  expect_kernel(file, "layers/dense_1/vars/0", 10.25);
}

TEST_F(Keras, RefusesModelsWithoutReadableWeights) {
  expect_refused(files_ / "no-weights.keras", {"has no member 'model.weights.h5'"});
  expect_refused(files_ / "pickled.keras", {"'model.weights.npz'", "save_weights"});
  expect_refused(files_ / "cut.keras", {"member 'model.weights.h5'", "HDF5"});
  expect_refused(files_ / "external.keras", {"'stolen'", "external storage"});
}

TEST_F(Keras, RefusesADamagedArchive) {
  std::string bytes = hesscope::test::read_bytes(files_ / "m.keras");
  const std::size_t data = bytes.find("\x89HDF");
  ASSERT_NE(data, std::string::npos);
  bytes[data + 1000] = static_cast<char>(bytes[data + 1000] ^ 1);
  hesscope::test::write_bytes(files_ / "damaged.keras", bytes);
  expect_refused(files_ / "damaged.keras", {"'model.weights.h5'", "CRC"});
}

}  // namespace
