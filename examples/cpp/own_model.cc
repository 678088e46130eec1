// SPDX-License-Identifier: BSD-3-Clause
//
// A model of one's own as a kind of problem files: the forward pass of one sample, recorded as a
// graph, which runs in vector registers and on threads.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

#include <hesscope/analysis/analysis.h>
#include <hesscope/models/model.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/models/tensor_shapes.h>
#include <hesscope/tensors/checkpoint_file.h>

// [model]
// (w' x - y)^2 + decay |w|^2, its parameters sized by the checkpoint.
hesscope::Model build_ridge(const hesscope::ModelSources& sources,
                            const hesscope::TensorShapes& checkpoint) {
  const auto& shape = checkpoint.at("weight", 1, "(inputs)");
  hesscope::ModelBuilder b("ridge");
  const hesscope::Var w = b.parameter("weight", shape);
  const hesscope::Var x = b.array("inputs", shape);  // of each sample
  const hesscope::Var y = b.array("target", {});
  const hesscope::Var penalty = sources.settings.real("decay") * sum(square(w));
  return b.finish(square(matmul_tn(w, x) - y) + penalty);
}

hesscope::ModelKind ridge() {
  return {.name = "ridge",
          .keys = {{.name = "decay",
                    .type = hesscope::SettingKey::Type::kReal,
                    .meaning = "factor of |w|^2",
                    .fallback = hesscope::SettingValue(0.0)}},
          .build = build_ridge};
}

// [model]

int main() {
  namespace io = hesscope::io;
  io::write_checkpoint(
      "step-0.h5", {{{"weight", {2}, std::vector<double>{1.0, -1.0}}}}, io::Existing::kReplace);
  io::write_checkpoint("data.h5",
                       {{{"inputs", {2, 2}, std::vector<double>{1.0, 2.0, 3.0, 4.0}},
                         {"target", {2}, std::vector<double>{0.0, 1.0}}}},
                       io::Existing::kReplace);
  std::ofstream("ridge.toml")
      << "[model]\nkind = \"ridge\"\ndecay = 0.5\n[data]\nfile = \"data.h5\"\n";

  // [run]
  hesscope::register_model_kind(ridge());

  hesscope::AnalysisRequest request;
  request.checkpoints = {{"step-0.h5", 0}};
  request.problem = "ridge.toml";  // [model] kind = "ridge", decay = 0.5
  request.output = "ridge.h5";
  request.overwrite = hesscope::io::Overwrite::kOwnKind;
  request.only = {"hessian"};
  const hesscope::AnalysisResult result = hesscope::run_analysis(request);
  // [run]

  // H = X'X + 2 decay, of which the trace is (1 + 4 + 9 + 16) + 2.
  const double trace = result.checkpoints.at(0).numbers.at(0).value;
  std::cout << "trace " << trace << '\n';
  return trace == 32.0 ? 0 : 1;
}
