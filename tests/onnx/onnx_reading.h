// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/onnx/onnx_file.h>

#include "support/files.h"
#include "support/onnx_bytes.h"
#include "support/refusal.h"

namespace hesscope::test::onnx {

/// "model.onnx" in a folder of its own.
class WrittenModel {
 public:
  explicit WrittenModel(const std::string& bytes) { write_bytes(path(), bytes); }

  explicit WrittenModel(const ModelText& text) : WrittenModel(model(text)) {}

  const ScratchFolder& folder() const { return folder_; }

  std::filesystem::path path() const { return folder_ / "model.onnx"; }

  hesscope::onnx::OnnxFile read(const hesscope::onnx::OnnxLimits& limits = {}) const {
    return hesscope::onnx::read_onnx_file(path(), limits);
  }

 private:
  ScratchFolder folder_;
};

template <typename Model>
hesscope::onnx::OnnxFile read(const Model& model, const hesscope::onnx::OnnxLimits& limits = {}) {
  return WrittenModel(model).read(limits);
}

/// That the model is refused with a message that names the file and contains `message`.
template <typename Model>
void expect_refused(const Model& model,
                    const std::string& message,
                    const hesscope::onnx::OnnxLimits& limits = {}) {
  const WrittenModel written(model);
  expect_refusal<InputError>([&] { written.read(limits); }, written.path().string() + ": ");
  expect_refusal<InputError>([&] { written.read(limits); }, message);
}

}  // namespace hesscope::test::onnx
