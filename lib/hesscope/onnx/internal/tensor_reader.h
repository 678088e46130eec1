// SPDX-License-Identifier: BSD-3-Clause
//
// Tensors of an ONNX file: converts stored elements to doubles and integers, wherever they are
// stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <hesscope_onnx/onnx.pb.h>

#include <hesscope/onnx/onnx_file.h>

namespace hesscope::onnx {

class TensorReader {
 public:
  TensorReader(std::shared_ptr<const io::InputFile> model, const OnnxLimits& limits);

  /// @param where  "model.onnx: initializer 'W'".
  /// @throws InputError "<where>: ...": beyond a limit, data that do not fit the shape or the type,
  ///         external data that are not in a file next to the model.
  Tensor read(const std::string& where, const hesscope_onnx::TensorProto& stored);

  /// The model, and the files with external data read so far, in the order of their names.
  std::vector<std::shared_ptr<const io::InputFile>> files() const;

 private:
  struct Elements;  // of one tensor, as stored

  std::vector<std::byte> external_bytes(const std::string& where,
                                        const hesscope_onnx::TensorProto& stored,
                                        std::uint64_t num_bytes);
  const io::InputFile& external_file(const std::string& where, const std::string& location);

  std::shared_ptr<const io::InputFile> model_;
  OnnxLimits limits_;
  std::uint64_t num_bytes_ = 0;  // of all tensors read so far, as float64
  std::map<std::string, std::shared_ptr<const io::InputFile>> external_;
};

}  // namespace hesscope::onnx
